```js
async () => {
  return "from a fence";
}
```
//> value: "from a fence"
