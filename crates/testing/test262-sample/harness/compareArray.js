// Arrays, element by element.

assert.compareArray = function (actual, expected, message) {
  assert.sameValue(actual.length, expected.length, (message || "array") + " length");
  for (var i = 0; i < expected.length; i++) assert.sameValue(actual[i], expected[i], (message || "array") + "[" + i + "]");
};
