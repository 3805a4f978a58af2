return Promise.any([Promise.reject(1), Promise.resolve(2), Promise.resolve(3)]);
//> value: 2
