// Properties and their attributes.

function verifyProperty(object, name, expected) {
  var actual = Object.getOwnPropertyDescriptor(object, name);
  assert.notSameValue(actual, undefined, "descriptor of " + String(name));
  for (var key in expected) assert.sameValue(actual[key], expected[key], String(name) + " " + key);
}
