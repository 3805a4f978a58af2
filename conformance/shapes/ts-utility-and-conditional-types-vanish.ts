type Keys<T> = { readonly [K in keyof T as `get${Capitalize<string & K>}`]?: T[K] extends infer U ? U : never };
type Fn = new (...args: any[]) => unknown;
let map: Partial<Record<keyof { a: 1 }, bigint>> & { [key: string]: unknown } = { a: undefined, b: 2 };
return map;
//> value: {"b":2}
