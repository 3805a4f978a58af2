declare const VERSION: string;
declare function helper(x: number): void;
return typeof VERSION;
//> value: "undefined"
