const fixed = 1;
try { fixed = 2; } catch (error) { return [error.name, fixed]; }
//> value: ["TypeError",1]
