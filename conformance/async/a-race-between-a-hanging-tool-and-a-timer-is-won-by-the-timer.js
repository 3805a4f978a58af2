//! tools = ["hang"]
const late = new Promise(resolve => setTimeout(resolve, 20, "timer"));
return Promise.race([tools.hang(), late]);
//> value: "timer"
