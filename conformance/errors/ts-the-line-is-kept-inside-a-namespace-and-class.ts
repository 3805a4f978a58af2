namespace Tools {
  export class Parser<T extends object> {
    constructor(private readonly text: string) {}

    parse(): T {
      const value: unknown = null;
      return (value as { missing: { deep: T } }).missing.deep;
    }
  }
}

return new Tools.Parser<{ a: 1 }>("x").parse();
//> error: thrown TypeError
//> line: 7
