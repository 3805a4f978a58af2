```javascript
export default [1, 2, 3].length;
```
//> value: 3
