```js
const a = 40;
return a + 2;
```
//> value: 42
