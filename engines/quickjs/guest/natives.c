// What the prelude builds on. The object holding these is passed to it once and reachable from nowhere else.

static JSValue native_output(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    int32_t stream;
    if (JS_ToInt32(c, &stream, argv[0])) return JS_EXCEPTION;
    JSValue text = JS_ToString(c, argv[1]);
    if (JS_IsException(text)) return text;
    Bytes out = { .max = SIZE_MAX };
    put_text(&out, JS_VALUE_GET_STRING(text));
    JS_FreeValue(c, text);
    if (!out.failed) host_output(stream, (char *)out.at, out.len);
    free(out.at);
    return out.failed ? JS_ThrowOutOfMemory(c) : JS_UNDEFINED;
}

// now(what), startedAt(what), randomFill(bytes, what): `what` is what the program called, and throws when it may not look.
// Without it the prelude looks for its own ends: then the time is 0 and nothing is filled in.

static JSValue native_now(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    if (isolith_banned & BANNED_TIME) return look_in_vain(c, BANNED_TIME, argv[0], js_int32(0));
    return js_float64(isolith_look_at_clock() / 1000);
}
static JSValue native_started_at(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    if (isolith_banned & BANNED_TIME) return look_in_vain(c, BANNED_TIME, argv[0], js_int32(0));
    return js_float64(started_us / 1000);
}

static JSValue native_random_fill(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    size_t n;
    if (isolith_banned & BANNED_RANDOM) return look_in_vain(c, BANNED_RANDOM, argv[1], JS_FALSE);
    uint8_t *to = JS_GetUint8Array(c, &n, argv[0]);
    if (!to && n) return JS_EXCEPTION;
    random_fill(to, n);
    return JS_TRUE;
}

static int sha_bits(JSContext *c, JSValueConst name) {
    static const struct { const char *name; int bits; } known[] = { { "SHA-1", 1 }, { "SHA-256", 256 }, { "SHA-384", 384 }, { "SHA-512", 512 } };
    const char *text = JS_ToCString(c, name);
    if (!text) return 0;
    int bits = 0;
    for (int i = 0; i < 4; i++) if (!strcmp(text, known[i].name)) bits = known[i].bits;
    JS_FreeCString(c, text);
    if (!bits) JS_ThrowTypeError(c, "unknown digest");
    return bits;
}

static JSValue native_digest(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    size_t n;
    uint8_t out[64];
    int bits = sha_bits(c, argv[0]);
    const uint8_t *data = bits ? JS_GetUint8Array(c, &n, argv[1]) : NULL;
    if (!bits || (!data && n)) return JS_EXCEPTION;
    Sha s;
    sha_init(&s, bits);
    sha_add(&s, data, n);
    return JS_NewUint8ArrayCopy(c, out, sha_end(&s, out));
}

static JSValue native_hmac(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    size_t key_len, n;
    uint8_t out[64];
    int bits = sha_bits(c, argv[0]);
    if (!bits) return JS_EXCEPTION;
    const uint8_t *key = JS_GetUint8Array(c, &key_len, argv[1]);
    if (!key && key_len) return JS_EXCEPTION;
    const uint8_t *data = JS_GetUint8Array(c, &n, argv[2]);
    if (!data && n) return JS_EXCEPTION;
    return JS_NewUint8ArrayCopy(c, out, hmac(bits, key, key_len, data, n, out));
}

static JSValue native_promise_state(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    int state = JS_PromiseState(c, argv[0]);
    if (state < 0) return JS_UNDEFINED;
    JSValue pair[2] = { js_int32(state), state == JS_PROMISE_PENDING ? JS_UNDEFINED : JS_PromiseResult(c, argv[0]) };
    return JS_NewArrayFrom(c, 2, pair);
}

static JSValue native_proxy_target(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)c; (void)this_val; (void)argc;
    if (!JS_IsObject(argv[0]) || JS_VALUE_GET_OBJ(argv[0])->class_id != JS_CLASS_PROXY) return JS_UNDEFINED;
    JSProxyData *data = JS_VALUE_GET_OBJ(argv[0])->u.proxy_data;
    return data->is_revoked ? JS_NULL : js_dup(data->target);
}

static JSValue make_natives(void) {
    static const JSCFunctionListEntry list[] = {
        JS_CFUNC_DEF("output", 2, native_output),
        JS_CFUNC_DEF("tool", 2, native_tool),
        JS_CFUNC_DEF("ask", 3, native_ask),
        JS_CFUNC_DEF("payloadMax", 0, native_payload_max),
        JS_CFUNC_DEF("spaceName", 1, native_space_name),
        JS_CFUNC_DEF("findSpace", 1, native_find_space),
        JS_CFUNC_DEF("readBody", 2, native_read_body),
        JS_CFUNC_DEF("setTimer", 4, native_set_timer),
        JS_CFUNC_DEF("clearTimer", 1, native_clear_timer),
        JS_CFUNC_DEF("now", 1, native_now),
        JS_CFUNC_DEF("startedAt", 1, native_started_at),
        JS_CFUNC_DEF("randomFill", 2, native_random_fill),
        JS_CFUNC_DEF("utf8Encode", 1, native_utf8_encode),
        JS_CFUNC_DEF("utf8Decode", 3, native_utf8_decode),
        JS_CFUNC_DEF("plainUrl", 1, native_plain_url),
        JS_CFUNC_DEF("get", 3, native_get),
        JS_CFUNC_DEF("digest", 2, native_digest),
        JS_CFUNC_DEF("hmac", 3, native_hmac),
        JS_CFUNC_DEF("promiseState", 1, native_promise_state),
        JS_CFUNC_DEF("proxyTarget", 1, native_proxy_target),
    };
    JSValue o = JS_NewObject(ctx);
    JS_SetPropertyFunctionList(ctx, o, list, countof(list));
    return o;
}
