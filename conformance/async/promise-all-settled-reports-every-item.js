return Promise.allSettled([1, Promise.reject("no"), Promise.resolve("yes")]);
//> value: [{"status":"fulfilled","value":1},{"status":"rejected","reason":"no"},{"status":"fulfilled","value":"yes"}]
