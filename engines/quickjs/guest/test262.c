// `$262` and `print`, for the language's own test suite. Installed only when the host starts the engine for that.

static JSValue make_262(JSContext *c);

static JSValue t262_print(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    JSValueConst args[2] = { js_int32(0), argc ? argv[0] : JS_UNDEFINED };
    return native_output(c, this_val, 2, args);
}
static JSValue t262_detach(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    JS_DetachArrayBuffer(c, argv[0]);
    return JS_NULL;
}
static JSValue t262_eval_script(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    size_t n;
    const char *text = JS_ToCStringLen(c, &n, argv[0]);
    if (!text) return JS_EXCEPTION;
    JSValue r = JS_Eval(c, text, n, "<evalScript>", JS_EVAL_TYPE_GLOBAL);
    JS_FreeCString(c, text);
    return r;
}
static JSValue t262_gc(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc; (void)argv;
    JS_RunGC(JS_GetRuntime(c));
    return JS_UNDEFINED;
}
static JSValue t262_create_realm(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc; (void)argv;
    JSContext *realm = JS_NewContext(JS_GetRuntime(c));
    if (!realm) return JS_ThrowOutOfMemory(c);
    return make_262(realm); // the realm lives as long as the isolate
}
static JSValue t262_html_dda(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)c; (void)this_val; (void)argc; (void)argv;
    return JS_NULL;
}

static JSValue make_262(JSContext *c) {
    static const JSCFunctionListEntry list[] = {
        JS_CFUNC_DEF("detachArrayBuffer", 1, t262_detach),
        JS_CFUNC_DEF("evalScript", 1, t262_eval_script),
        JS_CFUNC_DEF("gc", 0, t262_gc),
        JS_CFUNC_DEF("createRealm", 0, t262_create_realm),
    };
    JSValue o = JS_NewObject(c), global = JS_GetGlobalObject(c);
    JS_SetPropertyFunctionList(c, o, list, countof(list));
    JSValue dda = JS_NewCFunction(c, t262_html_dda, "IsHTMLDDA", 0);
    JS_SetIsHTMLDDA(c, dda);
    JS_SetPropertyStr(c, o, "IsHTMLDDA", dda);
    JS_SetPropertyStr(c, o, "global", js_dup(global));
    JS_DefinePropertyValueStr(c, global, "$262", js_dup(o), JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_DefinePropertyValueStr(c, global, "print", JS_NewCFunction(c, t262_print, "print", 1), JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_FreeValue(c, global);
    return o;
}
