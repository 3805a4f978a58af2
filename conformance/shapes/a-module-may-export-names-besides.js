export const version = 3;
export function helper() { return version * 2; }
export default helper();
//> value: 6
