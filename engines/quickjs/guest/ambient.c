// Time and chance, when a run may not look at them. QuickJS's own functions and the prelude's natives both end up here, so
// there is no original to get hold of: every way to a `Date` of now runs through the one constructor.

static JSValue isolith_violation(JSContext *c, uint32_t banned, const char *what) {
    bool time = banned == BANNED_TIME;
    char message[160];
    snprintf(message, sizeof message, "%s is not allowed: %s is banned for this run", what, time ? "time" : "randomness");
    JSValue part[3] = { JS_NewString(c, "SandboxViolation"), JS_NewString(c, message), JS_NewString(c, time ? "time.banned" : "random.banned") };
    JSValue e = JS_Call(c, hook_make_error, JS_UNDEFINED, 3, vc(part));
    for (int i = 0; i < 3; i++) JS_FreeValue(c, part[i]);
    return JS_IsException(e) ? e : JS_Throw(c, e);
}

// What a native gives when it may not look: a violation if the program asked, otherwise `nothing`.
static JSValue look_in_vain(JSContext *c, uint32_t banned, JSValueConst what, JSValue nothing) {
    if (!JS_IsString(what)) return nothing;
    const char *text = JS_ToCString(c, what);
    if (!text) return JS_EXCEPTION;
    JSValue r = isolith_violation(c, banned, text);
    JS_FreeCString(c, text);
    return r;
}
