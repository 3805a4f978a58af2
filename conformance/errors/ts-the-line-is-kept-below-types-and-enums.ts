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
//> message: "color 1"
//> line: 15
