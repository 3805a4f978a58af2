console.log("%s is %d years and %i days, %f high: %j %%", "Ann", "42", 3.9, "1.5", { a: [1] });
return null;
//> value: null
//> stdout: "Ann is 42 years and 3 days, 1.5 high: {\"a\":[1]} %"
