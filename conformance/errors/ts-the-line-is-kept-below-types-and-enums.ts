interface A {
  a: string;
}

enum Color {
  Red,
  Green,
}

type Long = {
  b: number;
};

const color: Color = Color.Green;
throw new RangeError(`color ${color}`);
//> error: thrown RangeError
//> line: 15
