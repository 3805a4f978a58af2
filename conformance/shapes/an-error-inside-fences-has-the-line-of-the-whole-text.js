```js
const list = [1];

null.missing;
```
//> error: thrown TypeError
//> line: 4
