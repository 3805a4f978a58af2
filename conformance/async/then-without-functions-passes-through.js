return Promise.resolve(7).then().then(null, null).catch(() => 0);
//> value: 7
