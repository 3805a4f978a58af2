// Modules: a program may import what came along with it, and nothing else.

typedef struct { const char *name, *code; uint32_t name_len, code_len; } Source;

static Source *sources;
static uint32_t source_count;

static JSModuleDef *load_module(JSContext *c, const char *name, void *opaque) {
    (void)opaque;
    size_t n = strlen(name);
    for (uint32_t i = 0; i < source_count; i++) {
        Source *s = &sources[i];
        if (s->name_len != n || memcmp(s->name, name, n)) continue;
        JSValue m = JS_Eval(c, s->code, s->code_len, name, JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
        if (JS_IsException(m)) return NULL;
        JSModuleDef *def = JS_VALUE_GET_PTR(m);
        JS_FreeValue(c, m); // the context keeps its modules
        return def;
    }
    JS_ThrowTypeError(c, "module `%s` is not granted", name);
    return NULL;
}
