const data: { a?: { b?: number[] } } = { a: { b: [7] } };
return [data.a!.b![0], data?.a?.b?.[0]!, (data.a as any)?.c?.d];
//> value: [7,7,null]
