console.log({ name: "a rather long name here", address: { street: "Long Street 123", city: "Somewhere" }, tags: ["one", "two", "three"] });
return null;
//> value: null
//> stdout: "{\n  name: 'a rather long name here',\n  address: { street: 'Long Street 123', city: 'Somewhere' },\n  tags: [ 'one', 'two', 'three' ]\n}"
