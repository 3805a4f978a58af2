console.log(new Date(0), [new Date(86400000)], new Date(NaN));
return null;
//> value: null
//> stdout: "1970-01-01T00:00:00.000Z [ 1970-01-02T00:00:00.000Z ] Invalid Date"
