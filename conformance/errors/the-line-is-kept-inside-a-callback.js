return [1, 2, 3].map(n => {
  if (n === 2) {
    throw new Error("two");
  }
  return n;
});
//> error: thrown Error
//> line: 3
