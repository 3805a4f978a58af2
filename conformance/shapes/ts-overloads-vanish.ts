function format(value: string): string;
function format(value: number, digits: number): string;
function format(value: string | number, digits?: number): string { return typeof value === "number" ? value.toFixed(digits) : value; }
return [format("a"), format(1.25, 1)];
//> value: ["a","1.3"]
