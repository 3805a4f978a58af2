return new Date(86400000);
//> value: "1970-01-02T00:00:00.000Z"
