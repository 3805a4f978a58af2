// Host calls: numbered in the order made, each a promise until its reply comes.

typedef struct {
    uint32_t id;
    bool used;
    JSValue promise;
    JSValue make; // what turns the reply into the promise's value, where the prelude says so
} Slot;

static Slot *slots;              // open addressing by id; ids only grow
static uint32_t slot_cap, outstanding, next_call;

static JSValue hook_make_body = JS_UNDEFINED, hook_make_error = JS_UNDEFINED;

static Slot *slot_for(uint32_t id, bool used) {
    for (uint32_t i = 0; i < slot_cap; i++) {
        Slot *s = &slots[(id + i) & (slot_cap - 1)];
        if (used ? s->used && s->id == id : !s->used) return s;
        // Slots are reused as they fall free, so a gap does not end a search; tables are small and mostly hit at once.
    }
    return NULL;
}

static bool slots_grow(void) {
    uint32_t old_cap = slot_cap;
    Slot *old = slots, *grown = calloc(old_cap ? old_cap * 2 : 16, sizeof(Slot));
    if (!grown) return false;
    slots = grown;
    slot_cap = old_cap ? old_cap * 2 : 16;
    for (uint32_t i = 0; i < old_cap; i++) if (old[i].used) *slot_for(old[i].id, false) = old[i];
    free(old);
    return true;
}

// A promise without the two functions that would settle it: only the host's reply does.
static JSValue new_promise(JSContext *c) {
    JSValue promise = js_create_from_ctor(c, JS_UNDEFINED, JS_CLASS_PROMISE);
    if (JS_IsException(promise)) return promise;
    JSPromiseData *s = js_mallocz(c, sizeof *s);
    if (!s) { JS_FreeValue(c, promise); return JS_EXCEPTION; }
    s->promise_state = JS_PROMISE_PENDING;
    init_list_head(&s->promise_reactions[0]);
    init_list_head(&s->promise_reactions[1]);
    s->promise_result = JS_UNDEFINED;
    JS_SetOpaqueInternal(promise, s);
    return promise;
}

// What the function that resolves a promise would do, once. The program may have given `then` to what the value inherits from.
static void settle_promise(JSValueConst promise, JSValueConst v, bool ok) {
    if (ok && JS_IsObject(v)) {
        JSValue then = JS_GetProperty(ctx, v, JS_ATOM_then);
        if (JS_IsException(then)) {
            JSValue error = JS_GetException(ctx);
            fulfill_or_reject_promise(ctx, promise, error, true);
            JS_FreeValue(ctx, error);
            return;
        }
        if (JS_IsFunction(ctx, then)) {
            JSValueConst args[3] = { promise, v, then };
            JS_EnqueueJob(ctx, js_promise_resolve_thenable_job, 3, args);
            JS_FreeValue(ctx, then);
            return;
        }
        JS_FreeValue(ctx, then);
    }
    fulfill_or_reject_promise(ctx, promise, v, !ok);
}

// Makes a call and gives the promise of its reply.
static JSValue make_call(JSContext *c, uint32_t kind, const char *name, size_t name_len, const uint8_t *data, uint32_t len, JSValueConst make) {
    if (outstanding * 2 >= slot_cap && !slots_grow()) return JS_ThrowOutOfMemory(c);
    JSValue promise = new_promise(c);
    if (JS_IsException(promise)) return promise;
    uint32_t id = next_call++;
    *slot_for(id, false) = (Slot){ id, true, js_dup(promise), js_dup(make) };
    outstanding++;
    host_call(id, kind, name, name_len, data, len);
    return promise;
}

// call(name, args) -> Promise
static JSValue native_call(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val;
    Bytes out = { .max = payload_max };
    int r = argc > 1 ? encode_value(c, &out, argv[1]) : ENCODED_NOTHING;
    JSValue promise = JS_EXCEPTION;
    if (r == ENCODE_TOO_LARGE) JS_ThrowRangeError(c, "the arguments are larger than %u bytes, the limit of one call", payload_max);
    if (r == ENCODED || r == ENCODED_NOTHING) {
        size_t n;
        const char *name = JS_ToCStringLen(c, &n, argv[0]);
        if (name) {
            promise = make_call(c, CALL_TOOL, name, n, out.at, r == ENCODED ? out.len : NO_DATA, JS_UNDEFINED);
            JS_FreeCString(c, name);
        }
    }
    free(out.at);
    return promise;
}

// ask(call, bytes, make) -> Promise. Everything that is not a tool: the call as JSON after its length, then the bytes as they
// are. `make` turns the reply, and the bytes beside it, into the promise's value: no other promise is needed for that.
static JSValue native_ask(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    Bytes out = { .max = payload_max };
    uint32_t json_len = 0;
    bytes_add(&out, &json_len, 4);
    int r = encode_value(c, &out, argv[0]);
    if (r == ENCODED) {
        json_len = out.len - 4;
        // Looked at only now: writing the call may have run the program's code, and that may have taken the bytes away.
        size_t n = 0;
        const uint8_t *bytes = JS_IsUndefined(argv[1]) ? NULL : JS_GetUint8Array(c, &n, argv[1]);
        if (n) bytes_add(&out, bytes, n);
        else if (!JS_IsUndefined(argv[1]) && JS_HasException(c)) r = ENCODE_THREW;
        if (out.over) r = ENCODE_TOO_LARGE;
        else if (out.failed) { JS_ThrowOutOfMemory(c); r = ENCODE_THREW; }
    }
    JSValue promise = JS_EXCEPTION;
    if (r == ENCODE_TOO_LARGE) JS_ThrowRangeError(c, "the arguments are larger than %u bytes, the limit of one call", payload_max);
    else if (r == ENCODED_NOTHING) JS_ThrowTypeError(c, "there is nothing to ask");
    else if (r == ENCODED) {
        memcpy(out.at, &json_len, 4);
        promise = make_call(c, CALL_ASK, "", 0, out.at, out.len, argv[2]);
    }
    free(out.at);
    return promise;
}

// get(url, request, make) -> Promise, or undefined when the URL is one for a parser. A request with nothing but a URL is most of
// them, and it goes as what it is: the guest's number for it, then the URL.
static JSValue native_get(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    uint32_t request;
    if (JS_ToUint32(c, &request, argv[1])) return JS_EXCEPTION;
    JSValue text = JS_ToString(c, argv[0]);
    if (JS_IsException(text)) return text;
    JSString *s = JS_VALUE_GET_STRING(text);
    JSValue promise = JS_UNDEFINED;
    if (!s->is_wide_char && s->len < payload_max - 4 && url_plain(str8(s), s->len)) {
        Bytes out = { .max = payload_max };
        bytes_add(&out, &request, 4);
        bytes_add(&out, str8(s), s->len);
        promise = out.failed ? JS_ThrowOutOfMemory(c) : make_call(c, CALL_GET, "", 0, out.at, out.len, argv[2]);
        free(out.at);
    }
    JS_FreeValue(c, text);
    return promise;
}

// payloadMax() -> how many bytes one call may send
static JSValue native_payload_max(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)c; (void)this_val; (void)argc; (void)argv;
    return js_int64(payload_max);
}

// readBody(id, mostBytes) -> Promise<Uint8Array>
static JSValue native_read_body(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    uint32_t ask[2];
    if (JS_ToUint32(c, &ask[0], argv[0]) || JS_ToUint32(c, &ask[1], argv[1])) return JS_EXCEPTION;
    return make_call(c, CALL_READ_BODY, "", 0, (uint8_t *)ask, sizeof ask, JS_UNDEFINED);
}

// A failure comes as three texts, each after its length: name, message, code.
static JSValue reply_error(const uint8_t *data, size_t len) {
    JSValue part[3] = { JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED };
    size_t at = 0;
    for (int i = 0; i < 3 && at + 4 <= len; i++) {
        uint32_t n = read_u32(data + at);
        at += 4;
        if (n == NO_DATA) continue;
        if (n > len - at) break;
        part[i] = JS_NewStringLen(ctx, (const char *)data + at, n);
        at += n;
    }
    JSValue e = JS_Call(ctx, hook_make_error, JS_UNDEFINED, 3, vc(part));
    for (int i = 0; i < 3; i++) JS_FreeValue(ctx, part[i]);
    return e;
}

static JSValue reply_value(uint32_t kind, const uint8_t *data, size_t len) {
    switch (kind) {
    case REPLY_VALUE: return decode_value(ctx, data, len);
    case REPLY_RESPONSE: return JS_NewStringLen(ctx, (const char *)data + 8, read_u32(data)); // few look at more than the status
    case REPLY_BYTES: return JS_NewUint8ArrayCopy(ctx, data, len);
    case REPLY_FAILED: return reply_error(data, len);
    case REPLY_BODY: {
        double length = read_f64(data + 8);
        JSValue args[2] = { js_int64(read_u32(data)), length < 0 ? JS_NULL : js_float64(length) };
        return JS_Call(ctx, hook_make_body, JS_UNDEFINED, 2, vc(args));
    }
    default: return JS_UNDEFINED;
    }
}

// What the prelude makes of a reply. That of a response with its body beside it is the text of its head, the body and the status:
// the length of the text, the status, the text and the body.
static JSValue make_value(JSValueConst make, JSValue reply, uint32_t kind, const uint8_t *data, size_t len) {
    JSValue args[3] = { reply, JS_UNDEFINED, JS_UNDEFINED };
    if (kind == REPLY_RESPONSE) {
        size_t at = 8 + read_u32(data);
        args[1] = JS_NewUint8ArrayCopy(ctx, data + at, len - at);
        args[2] = js_int32(read_u32(data + 4));
    }
    JSValue v = JS_IsException(args[1]) ? args[1] : JS_Call(ctx, make, JS_UNDEFINED, 3, vc(args));
    JS_FreeValue(ctx, reply);
    JS_FreeValue(ctx, args[1]);
    return v;
}

// Settles the promise of call `id`; false when it broke the run. An unknown id is a timer's: see timers.c.
static bool settle(Slot *s, uint32_t kind, const uint8_t *data, size_t len) {
    Slot slot = *s;
    s->used = false;
    outstanding--;
    JSValue v = reply_value(kind, data, len);
    bool ok = kind != REPLY_FAILED;
    if (ok && !JS_IsException(v) && !JS_IsUndefined(slot.make)) v = make_value(slot.make, v, kind, data, len);
    if (JS_IsException(v)) {
        if (interrupted) return false;
        v = JS_GetException(ctx);
        ok = false;
    }
    settle_promise(slot.promise, v, ok);
    JS_FreeValue(ctx, v);
    JS_FreeValue(ctx, slot.promise);
    JS_FreeValue(ctx, slot.make);
    return true;
}
