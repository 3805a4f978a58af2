try { null.x; } catch (error) { return String(error.stack).includes("passwd"); }
//# sourceURL=../../../../etc/passwd
//> value: false
