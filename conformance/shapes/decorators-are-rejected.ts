function log(target: unknown, context: unknown) {}
@log
class Service {}
return 1;
//> any: error syntax,unsupported
