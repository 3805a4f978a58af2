```
return "plain";
```
//> value: "plain"
