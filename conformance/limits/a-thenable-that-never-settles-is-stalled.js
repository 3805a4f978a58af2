return { then() {} };
//> error: stalled
