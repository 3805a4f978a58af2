// One run: how it starts, goes on and ends, and the functions the host calls.

#define NAME_BYTES_MAX 256
#define TEXT_BYTES_MAX (16u << 10)

static JSValue run = JS_UNDEFINED;       // the promise of the run in progress
static JSValue completion = JS_UNDEFINED; // a script's value, known before its jobs are done
static uint32_t form;
static JSValue hook_configure = JS_UNDEFINED;

// --- how a run ends ---------------------------------------------------------------------------------------------------

static int end_with(uint32_t end, const uint8_t *data, size_t len) {
    host_end(end, data, len);
    return ENDED;
}

// Adds one text after its length, cut to `max` characters, or NO_DATA when it is not a string. Takes `text`.
static void add_text(Bytes *out, JSValue text, uint32_t max) {
    uint32_t len = NO_DATA;
    size_t at = out->len;
    bytes_add(out, &len, 4);
    JSValue flat = JS_IsString(text) ? JS_ToString(ctx, text) : JS_UNDEFINED;
    if (JS_IsString(flat)) {
        JSString *s = JS_VALUE_GET_STRING(flat);
        JSValue cut = s->len > max ? js_sub_string(ctx, s, 0, max) : js_dup(flat);
        if (JS_IsString(cut)) put_text(out, JS_VALUE_GET_STRING(cut));
        JS_FreeValue(ctx, cut);
        len = out->len - at - 4;
        if (!out->failed) memcpy(out->at + at, &len, 4);
    }
    if (JS_HasException(ctx)) JS_FreeValue(ctx, JS_GetException(ctx));
    JS_FreeValue(ctx, flat);
    JS_FreeValue(ctx, text);
}

// Reads a property for a report. The program's own getters may run, and fail; then there is nothing to report.
static JSValue look(JSValueConst object, const char *name) {
    JSValue v = JS_GetPropertyStr(ctx, object, name);
    if (JS_IsException(v)) { JS_FreeValue(ctx, JS_GetException(ctx)); return JS_UNDEFINED; }
    return v;
}

static JSValue describe(JSValueConst e) {
    if (JS_IsSymbol(e)) {
        JSValue d = JS_GetPropertyStr(ctx, e, "description");
        if (JS_IsString(d)) return d;
        JS_FreeValue(ctx, d);
        return js_new_string8(ctx, "Symbol()");
    }
    if (!JS_IsObject(e)) return JS_ToString(ctx, e);
    Bytes out = { .max = TEXT_BYTES_MAX };
    JSValue text = encode_value(ctx, &out, e) == ENCODED ? JS_NewStringLen(ctx, (char *)out.at, out.len) : js_new_string8(ctx, "an object was thrown");
    if (JS_HasException(ctx)) JS_FreeValue(ctx, JS_GetException(ctx));
    free(out.at);
    return text;
}

// The report of something thrown: name, message, stack, code; takes `e`.
static int end_failed(uint32_t end, JSValue e) {
    if (interrupted) end = END_INTERRUPTED;
    else if (JS_IsObject(e) && JS_IsObject(overflow) && JS_VALUE_GET_PTR(e) == JS_VALUE_GET_PTR(overflow)) end = END_STACK;
    isolith_interrupt = 0; // reading the error may run a little code of the program; the host's hard stop stays armed
    Bytes out = { .max = 8 * TEXT_BYTES_MAX };
    JSValue name = JS_UNDEFINED, message = JS_UNDEFINED, stack = JS_UNDEFINED, code = JS_UNDEFINED;
    if (JS_IsObject(e)) {
        name = look(e, "name");
        message = look(e, "message");
        stack = look(e, "stack");
        code = look(e, "code");
    }
    if (!JS_IsString(message)) { JS_FreeValue(ctx, message); message = describe(e); }
    add_text(&out, name, NAME_BYTES_MAX);
    add_text(&out, message, TEXT_BYTES_MAX);
    add_text(&out, stack, TEXT_BYTES_MAX);
    add_text(&out, code, NAME_BYTES_MAX);
    JS_FreeValue(ctx, e);
    int status = end_with(end, out.at, out.len);
    free(out.at);
    return status;
}

static int end_threw(void) { return end_failed(END_THROWN, JS_GetException(ctx)); }

static int end_value(JSValueConst v) {
    Bytes out = { .max = value_max };
    int r = encode_value(ctx, &out, v), status;
    if (r == ENCODED) status = end_with(END_VALUE, out.at, out.len);
    else if (r == ENCODED_NOTHING) status = end_with(END_UNDEFINED, NULL, 0);
    else if (r == ENCODE_TOO_LARGE) status = end_with(END_VALUE_TOO_LARGE, NULL, 0);
    else status = end_threw();
    free(out.at);
    return status;
}

// --- how it goes on -----------------------------------------------------------------------------------------------------

// Runs every ready job; false when one failed with nobody to catch it.
static bool run_jobs(void) {
    JSContext *c;
    int r;
    for (;;) {
        while ((r = JS_ExecutePendingJob(rt, &c)) > 0) {}
        if (r < 0 || likely(!unhandled_count)) return r == 0;
        if (!report_rejections(run)) return false; // and showing them may have made new jobs
    }
}

// Says where the run stands now that nothing is ready.
static int standing(void) {
    bool waits = outstanding || timer_count;
    if (form == FORM_SCRIPT) {
        if (!waits) return end_value(completion);
    } else {
        switch (JS_PromiseState(ctx, run)) {
        case JS_PROMISE_FULFILLED: {
            JSValue v = form == FORM_MODULE ? JS_UNDEFINED : JS_PromiseResult(ctx, run);
            int status = end_value(v);
            JS_FreeValue(ctx, v);
            return status;
        }
        case JS_PROMISE_REJECTED:
            return end_failed(END_THROWN, JS_PromiseResult(ctx, run));
        default:
            if (!waits) return end_with(END_STALLED, NULL, 0);
        }
    }
    timers_ask();
    return PENDING;
}

static bool has_ended(void) { return form != FORM_SCRIPT && JS_PromiseState(ctx, run) != JS_PROMISE_PENDING; }

// --- exports ------------------------------------------------------------------------------------------------------------

extern size_t malloc_usable_size(void *);
static void *g_calloc(void *o, size_t n, size_t s) { (void)o; return calloc(n, s); }
static void *g_malloc(void *o, size_t s) { (void)o; return malloc(s); }
static void g_free(void *o, void *p) { (void)o; free(p); }
static void *g_realloc(void *o, void *p, size_t s) { (void)o; return realloc(p, s); }
static size_t g_usable(const void *p) { return malloc_usable_size((void *)p); }

// Where the host writes what it brings: here, without asking, when it is smaller than this; else where `reserve` says.
uint8_t isolith_inbox[16 << 10] __attribute__((aligned(8)));
static uint8_t *inbox = isolith_inbox;
static uint32_t inbox_cap = sizeof isolith_inbox;

// Makes room for `n` bytes and a final 0; gives the place, or 0 when memory is out.
EXPORT("reserve") uint8_t *g_reserve(uint32_t n) {
    if (n >= inbox_cap) {
        if (inbox != isolith_inbox) free(inbox);
        inbox = malloc((size_t)n + 8);
        inbox_cap = inbox ? n + 8 : 0;
        if (!inbox) { inbox = isolith_inbox; inbox_cap = sizeof isolith_inbox; return NULL; }
    }
    return inbox;
}

// Large messages are let go once read, so that a waiting isolate does not hold them.
static void inbox_release(void) {
    if (inbox == isolith_inbox) return;
    free(inbox);
    inbox = isolith_inbox;
    inbox_cap = sizeof isolith_inbox;
}

// At image time: makes the runtime. `prelude` then runs the source the host wrote into the inbox, which must evaluate to a
// function of the natives that gives the hooks.
EXPORT("init") void g_init(void) {
    static const JSMallocFunctions mf = { g_calloc, g_malloc, g_free, g_realloc, g_usable };
    rt = JS_NewRuntime2(&mf, NULL);
    if (!rt) __builtin_trap();
    JS_SetInterruptHandler(rt, on_interrupt, NULL);
    JS_SetModuleLoaderFunc(rt, NULL, load_module, NULL);
    JS_SetHostPromiseRejectionTracker(rt, on_rejection, NULL);
    ctx = JS_NewContext(rt);
    if (!ctx || JS_AddIntrinsicDOMException(ctx)) __builtin_trap();
}

static JSValue take_hook(JSValueConst hooks, const char *name) {
    JSValue f = JS_GetPropertyStr(ctx, hooks, name);
    if (!JS_IsFunction(ctx, f)) __builtin_trap();
    return f;
}

EXPORT("prelude") int g_prelude(uint32_t len) {
    inbox[len] = 0;
    JS_UpdateStackTop(rt);
    JSValue make = JS_Eval(ctx, (char *)inbox, len, "isolith:prelude", JS_EVAL_TYPE_GLOBAL);
    if (JS_IsException(make)) return end_threw();
    JSValue natives = make_natives();
    JSValue hooks = JS_Call(ctx, make, JS_UNDEFINED, 1, vc(&natives));
    JS_FreeValue(ctx, natives);
    JS_FreeValue(ctx, make);
    if (JS_IsException(hooks)) return end_threw();
    hook_configure = take_hook(hooks, "configure");
    hook_make_body = take_hook(hooks, "makeBody");
    hook_make_error = take_hook(hooks, "makeError");
    hook_report_rejection = take_hook(hooks, "reportRejection");
    grants_prepare(hooks);
    JS_FreeValue(ctx, hooks);
    inbox_release();
    JS_RunGC(rt);
    JS_SetGCThreshold(rt, rt->malloc_state.malloc_size + GC_THRESHOLD_BYTES);
    seal_image();
    return PENDING;
}

static int configure(const uint8_t *json, uint32_t len) {
    JSValue config = decode_value(ctx, json, len);
    if (JS_IsException(config)) return end_threw();
    JSValue r = JS_Call(ctx, hook_configure, JS_UNDEFINED, 1, vc(&config));
    JS_FreeValue(ctx, config);
    if (JS_IsException(r)) return end_threw();
    JS_FreeValue(ctx, r);
    return PENDING;
}

static int evaluate(const char *code, uint32_t len, const char *name) {
    // A body stands on the second line of its function: counting from 0 makes its first line 1.
    int first_line = form == FORM_BODY ? 0 : 1;
    int flags = JS_EVAL_FLAG_COMPILE_ONLY | (form == FORM_MODULE ? JS_EVAL_TYPE_MODULE : JS_EVAL_TYPE_GLOBAL);
    JSValue compiled = JS_EvalInternal(ctx, ctx->global_obj, code, len, name, first_line, flags, -1);
    if (JS_IsException(compiled)) return end_failed(END_SYNTAX, JS_GetException(ctx));
    JSValue v = JS_EvalFunction(ctx, compiled);
    if (!JS_IsException(v) && form == FORM_BODY) { // the text is one async function
        JSValue promise = JS_Call(ctx, v, JS_UNDEFINED, 0, NULL);
        JS_FreeValue(ctx, v);
        v = promise;
    }
    if (JS_IsException(v)) return end_threw();
    if (form == FORM_SCRIPT) completion = v;
    else run = v;
    return PENDING;
}

// What `start` finds in the inbox, each text followed by a 0 that its length does not count.
typedef struct {
    double now_us;
    uint8_t seed[32];
    uint32_t form, stack_bytes, payload_max, value_max, test262;
    uint32_t name_len, code_len, config_len, module_count, flags, names_len, tool_count, kv_count, namespace_count;
} StartHeader;

EXPORT("start") int g_start(uint32_t len) {
    StartHeader h;
    memcpy(&h, inbox, sizeof h);
    now_us = started_us = h.now_us;
    random_seed(h.seed);
    form = h.form;
    isolith_banned = h.flags & ((1 << GRANTS_SHIFT) - 1);
    payload_max = h.payload_max;
    value_max = h.value_max;
    JS_SetMaxStackSize(rt, h.stack_bytes);
    JS_UpdateStackTop(rt);
    if (h.test262) JS_FreeValue(ctx, make_262(ctx));
    char *name = (char *)inbox + sizeof h, *code = name + h.name_len + 1, *config = code + h.code_len + 1;
    char *names = config + h.config_len + 1, *at = names + h.names_len;
    if (h.module_count) { // modules are compiled when they are imported, maybe later: they keep the inbox
        sources = calloc(h.module_count, sizeof(Source));
        if (!sources) __builtin_trap();
        for (; source_count < h.module_count; source_count++) {
            Source *s = &sources[source_count];
            memcpy(&s->name_len, at, 4);
            memcpy(&s->code_len, at + 4, 4);
            s->name = at + 8;
            s->code = s->name + s->name_len + 1;
            at = (char *)s->code + s->code_len + 1;
        }
        if (inbox == isolith_inbox) __builtin_trap(); // the host asks for room of its own when there are modules
        inbox = isolith_inbox;
        inbox_cap = sizeof isolith_inbox;
    }
    (void)len;
    if (!grants_publish(h.flags >> GRANTS_SHIFT, names, h.tool_count, h.kv_count, h.namespace_count)) return end_threw();
    int status = h.config_len ? configure((uint8_t *)config, h.config_len) : PENDING;
    if (status == PENDING) status = evaluate(code, h.code_len, name);
    if (!h.module_count) inbox_release();
    if (status != PENDING) return status;
    if (!run_jobs()) return end_threw();
    return standing();
}

// What `turn` finds in the inbox: the time, how many replies, and each as id, kind, length and bytes with a 0 behind,
// padded to 8.
EXPORT("turn") int g_turn(uint32_t len) {
    double host_now_us = read_f64(inbox);
    if (host_now_us > now_us) now_us = host_now_us;
    uint32_t count = read_u32(inbox + 8), at = 16;
    JS_UpdateStackTop(rt);
    for (uint32_t i = 0; i < count; i++) {
        if (at + 12 > len) return BROKEN;
        uint32_t id = read_u32(inbox + at), kind = read_u32(inbox + at + 4), n = read_u32(inbox + at + 8);
        const uint8_t *data = inbox + at + 16;
        at += 16 + ((n + 8) & ~7u);
        Slot *slot = slot_for(id, true);
        if (slot) {
            if (!settle(slot, kind, data, n) || !run_jobs()) return end_threw();
        } else if (id == sleep_call) {
            sleep_call = UINT32_MAX;
            for (int fired; (fired = timer_fire());) {
                if (fired < 0 || !run_jobs()) return end_threw();
                if (has_ended()) break; // what comes after the end does not happen
            }
        } // else the wake-up of a timer that an earlier one has replaced
        if (has_ended()) break;
    }
    inbox_release();
    return standing();
}
