const parts = [1, 2];
export default { total: parts.length };
//> value: {"total":2}
