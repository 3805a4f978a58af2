const n: number = "not a number" as any;
const m: string = 5;
return [typeof n, m];
//> value: ["string",5]
