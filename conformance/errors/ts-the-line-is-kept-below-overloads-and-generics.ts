function pick<T>(list: T[]): T;
function pick<T>(list: T[], at: number): T;
function pick<T>(
  list: T[],
  at = 0,
): T {
  if (!(at in list)) {
    throw new RangeError("out of range");
  }
  return list[at] as T;
}
return pick<number>([], 3);
//> error: thrown RangeError
//> message: "out of range"
//> line: 8
