export const name = "above";
