throw { name: "Custom", message: "m" };
//> error: thrown Custom
//> message: "m"
