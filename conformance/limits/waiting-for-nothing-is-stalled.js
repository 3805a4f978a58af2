await new Promise(() => {});
return "never";
//> error: stalled
