return { list: [{ toJSON: key => `at ${key}` }] };
//> value: {"list":["at 0"]}
