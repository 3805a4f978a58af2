const f = () => f() + 1;
return f();
//> error: stack_overflow
