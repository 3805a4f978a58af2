const seen = [];
try {
  try { throw new Error("first"); } finally { seen.push("finally"); }
} catch (error) { seen.push(error.message); }
return seen;
//> value: ["finally","first"]
