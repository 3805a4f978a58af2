class Odd extends Error {}
Odd.prototype.name = "Odd";
throw new Odd("x");
//> error: thrown Odd
