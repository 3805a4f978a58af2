// Promises that were rejected while nobody listened: said on stderr once nothing is ready to run, as everywhere else. It
// changes nothing about how the run ends.

#define UNHANDLED_MAX 64  // kept at one time; of a flood the first are enough
#define REPORTED_MAX 20   // lines of one run

static JSValue unhandled[UNHANDLED_MAX];
static uint32_t unhandled_count, reported_count;
static JSValue hook_report_rejection = JS_UNDEFINED;

static void on_rejection(JSContext *c, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque) {
    (void)reason; (void)opaque;
    if (!is_handled) {
        if (unhandled_count < UNHANDLED_MAX && reported_count < REPORTED_MAX) unhandled[unhandled_count++] = js_dup(promise);
        return;
    }
    for (uint32_t i = unhandled_count; i-- > 0;) {
        if (JS_VALUE_GET_PTR(unhandled[i]) != JS_VALUE_GET_PTR(promise)) continue;
        JSValue was = unhandled[i];
        memmove(unhandled + i, unhandled + i + 1, (--unhandled_count - i) * sizeof *unhandled);
        JS_FreeValue(c, was);
        return;
    }
}

// Says what nobody has handled, `run` apart: that one is how the run ends. False when it was stopped on the way.
static bool report_rejections(JSValueConst run) {
    while (unhandled_count) {
        JSValue promise = unhandled[0];
        memmove(unhandled, unhandled + 1, --unhandled_count * sizeof *unhandled);
        bool own = JS_IsObject(run) && JS_VALUE_GET_PTR(run) == JS_VALUE_GET_PTR(promise);
        if (!own && reported_count < REPORTED_MAX) {
            reported_count++;
            JSValue reason = JS_PromiseResult(ctx, promise);
            JSValue r = JS_Call(ctx, hook_report_rejection, JS_UNDEFINED, 1, vc(&reason));
            JS_FreeValue(ctx, reason);
            if (JS_IsException(r)) {
                if (interrupted) { JS_FreeValue(ctx, promise); return false; }
                JS_FreeValue(ctx, JS_GetException(ctx)); // showing it ran the program's code, and that threw
            }
            JS_FreeValue(ctx, r);
        }
        JS_FreeValue(ctx, promise);
    }
    return true;
}
