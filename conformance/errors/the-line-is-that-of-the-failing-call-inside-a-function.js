function deep(value) {
  return value.missing.property;
}

function middle(value) {
  return deep(value);
}

return middle({});
//> error: thrown TypeError
//> line: 2
