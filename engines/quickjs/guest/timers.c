// Timers: a heap ordered by deadline, then by age. The host only ever holds one wake-up call, for the earliest.

#define TIMERS_MAX 10000
#define TIMER_LEAST_US 1000.0          // as on every platform, 0 means 1 ms
#define TIMER_MOST_US 2147483647000.0  // and longer than 2^31 ms means at once; see native_set_timer

typedef struct { double due_us, period_us; uint32_t id; JSValue fn, args; } Timer;

static Timer *timers;
static uint32_t timer_count, timer_cap, next_timer = 1;
static uint32_t sleep_call = UINT32_MAX; // the wake-up call the host holds
static double sleep_until;

static bool timer_before(const Timer *a, const Timer *b) {
    return a->due_us != b->due_us ? a->due_us < b->due_us : a->id < b->id;
}

static void timer_up(uint32_t i) {
    for (; i && timer_before(&timers[i], &timers[(i - 1) / 2]); i = (i - 1) / 2) {
        Timer t = timers[i]; timers[i] = timers[(i - 1) / 2]; timers[(i - 1) / 2] = t;
    }
}
static void timer_down(uint32_t i) {
    for (;;) {
        uint32_t least = i;
        for (uint32_t k = 2 * i + 1; k <= 2 * i + 2; k++)
            if (k < timer_count && timer_before(&timers[k], &timers[least])) least = k;
        if (least == i) return;
        Timer t = timers[i]; timers[i] = timers[least]; timers[least] = t;
        i = least;
    }
}
static Timer timer_take(uint32_t i) {
    Timer t = timers[i];
    timers[i] = timers[--timer_count];
    if (i < timer_count) { timer_up(i); timer_down(i); }
    return t;
}
static bool timer_add(Timer t) {
    if (timer_count == timer_cap) {
        uint32_t cap = timer_cap ? timer_cap * 2 : 8;
        Timer *grown = realloc(timers, cap * sizeof(Timer));
        if (!grown) return false;
        timers = grown;
        timer_cap = cap;
    }
    timers[timer_count] = t;
    timer_up(timer_count++);
    return true;
}

// setTimer(fn, delayMs, repeat, args) -> id
static JSValue native_set_timer(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    double ms;
    if (JS_ToFloat64(c, &ms, argv[1])) return JS_EXCEPTION;
    if (timer_count >= TIMERS_MAX) return JS_ThrowRangeError(c, "more than %d timers", TIMERS_MAX);
    double us = trunc(ms) * 1000;
    if (!(us >= TIMER_LEAST_US) || us > TIMER_MOST_US) us = TIMER_LEAST_US;
    Timer t = { now_us + us, JS_ToBool(c, argv[2]) ? us : 0, next_timer++, js_dup(argv[0]), js_dup(argv[3]) };
    if (!timer_add(t)) {
        JS_FreeValue(c, t.fn);
        JS_FreeValue(c, t.args);
        return JS_ThrowOutOfMemory(c);
    }
    return js_int32(t.id);
}

// clearTimer(id)
static JSValue native_clear_timer(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    if (!JS_IsNumber(argv[0])) return JS_UNDEFINED;
    double id;
    if (JS_ToFloat64(c, &id, argv[0])) return JS_EXCEPTION;
    for (uint32_t i = 0; i < timer_count; i++) {
        if (timers[i].id == id) {
            Timer t = timer_take(i);
            JS_FreeValue(c, t.fn);
            JS_FreeValue(c, t.args);
            break;
        }
    }
    return JS_UNDEFINED;
}

// Runs the earliest timer that is due: 1 it ran, 0 none is due, -1 it threw.
static int timer_fire(void) {
    if (!timer_count || timers[0].due_us > now_us) return 0;
    Timer t = timer_take(0);
    JSValueConst argv[16];
    JSValue held[16];
    int argc = 0;
    int64_t n = 0;
    if (JS_IsObject(t.args)) js_get_length64(ctx, &n, t.args);
    for (; argc < n && argc < 16; argc++) argv[argc] = held[argc] = JS_GetPropertyInt64(ctx, t.args, argc);
    JSValue fn = js_dup(t.fn);
    if (t.period_us) {
        t.due_us = now_us + t.period_us;
        timer_add(t); // there is room: it was just taken out
    } else {
        JS_FreeValue(ctx, t.fn);
        JS_FreeValue(ctx, t.args);
    }
    JSValue r = JS_Call(ctx, fn, JS_UNDEFINED, argc, argv);
    for (int i = 0; i < argc; i++) JS_FreeValue(ctx, held[i]);
    JS_FreeValue(ctx, fn);
    if (JS_IsException(r)) return -1;
    JS_FreeValue(ctx, r);
    return 1;
}

// Before giving control back: asks the host for the wake-up the earliest timer needs, unless it holds that one already.
static void timers_ask(void) {
    if (!timer_count || (sleep_call != UINT32_MAX && sleep_until <= timers[0].due_us)) return;
    sleep_until = timers[0].due_us;
    sleep_call = next_call++;
    host_call(sleep_call, CALL_SLEEP, "", 0, (uint8_t *)&sleep_until, sizeof sleep_until);
}
