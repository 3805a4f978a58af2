await new Promise(() => {});
//> error: stalled
