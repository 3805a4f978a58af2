// What tests check with.

function assert(condition, message) {
  if (condition !== true) throw new Test262Error(message || "expected true but got " + String(condition));
}

assert.same = function (a, b) {
  return a === b ? a !== 0 || 1 / a === 1 / b : a !== a && b !== b;
};

assert.sameValue = function (actual, expected, message) {
  if (assert.same(actual, expected)) return;
  throw new Test262Error((message ? message + ": " : "") + "expected " + String(expected) + " but got " + String(actual));
};

assert.notSameValue = function (actual, unexpected, message) {
  if (!assert.same(actual, unexpected)) return;
  throw new Test262Error((message ? message + ": " : "") + "did not expect " + String(unexpected));
};

assert.throws = function (Expected, work, message) {
  try {
    work();
  } catch (error) {
    if (error.constructor === Expected) return;
    throw new Test262Error((message ? message + ": " : "") + "expected " + Expected.name + " but got " + error.constructor.name);
  }
  throw new Test262Error((message ? message + ": " : "") + "expected " + Expected.name + " but nothing was thrown");
};
