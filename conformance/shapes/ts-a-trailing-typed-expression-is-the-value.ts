const total: number = [1, 2, 3].reduce((a: number, b: number) => a + b);
(total as unknown as number) satisfies number
//> value: 6
