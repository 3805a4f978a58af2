const answer = 42;
export { answer as default };
//> value: 42
