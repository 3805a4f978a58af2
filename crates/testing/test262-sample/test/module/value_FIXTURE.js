export let value = 1;
export function next() { value++; }
