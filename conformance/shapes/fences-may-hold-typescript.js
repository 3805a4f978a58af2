```typescript
interface Row { n: number }
const rows: Row[] = [{ n: 1 }, { n: 2 }];
return rows.reduce((sum: number, row) => sum + row.n, 0);
```
//> value: 3
