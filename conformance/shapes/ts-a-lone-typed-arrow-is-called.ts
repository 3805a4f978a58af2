//! input = { name = "Ann", age = 30 }
async ({ name, age }: { name: string; age: number }): Promise<string> => `${name} is ${age}`
//> value: "Ann is 30"
