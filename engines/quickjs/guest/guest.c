// The guest half of the engine: one QuickJS runtime and context per WebAssembly instance, and the narrow door between
// it and the host.
//
// A run never blocks in here. `start` and `turn` run until nothing is left to do and return; PENDING means that host
// calls or timers are outstanding. Between two entries the C stack is empty, so linear memory and one global (the stack
// pointer) are the whole state: copying them out suspends a run.
//
// One translation unit on purpose: the bridge reads QuickJS's own structures, and the compiler sees all of it.
#include "quickjs.c"
#include "libregexp.c"
#include "libunicode.c"
#include "dtoa.c"
#include <wasm_simd128.h>

#define EXPORT(n) __attribute__((export_name(n), used))
#define IMPORT(n) __attribute__((import_module("isolith"), import_name(n)))

// A run that allocates less than this beyond the image never pays for a cycle collection.
#define GC_THRESHOLD_BYTES (1u << 20)

// What the host sees. Numbers are part of the contract with src/protocol.rs.
enum { PENDING = 0, ENDED = 1, BROKEN = 2 };
enum { END_VALUE = 0, END_UNDEFINED = 1, END_THROWN = 2, END_SYNTAX = 3, END_STALLED = 4, END_VALUE_TOO_LARGE = 5,
       END_STACK = 6, END_INTERRUPTED = 7, END_MEMORY = 8 };
enum { FORM_BODY = 0, FORM_SCRIPT = 1, FORM_MODULE = 2 };
enum { CALL_TOOL = 0, CALL_SLEEP = 1, CALL_READ_BODY = 2, CALL_ASK = 3, CALL_GET = 4 };
enum { REPLY_VALUE = 0, REPLY_UNDEFINED = 1, REPLY_BYTES = 2, REPLY_BODY = 3, REPLY_FAILED = 4, REPLY_RESPONSE = 5 };

IMPORT("call") extern void host_call(uint32_t id, uint32_t kind, const char *name, uint32_t name_len, const uint8_t *data,
                                     uint32_t data_len);
IMPORT("output") extern void host_output(uint32_t stream, const char *text, uint32_t len);
IMPORT("end") extern void host_end(uint32_t end, const uint8_t *data, uint32_t len);

#define NO_DATA UINT32_MAX // the length that stands for `undefined`

static JSRuntime *rt;
static JSContext *ctx;

static double now_us;           // the run's time; it stands still while the guest computes
static double started_us;

// But who keeps looking sees it move, so that waiting in a loop ends: a millisecond for every so many looks, which is as
// repeatable as standing still.
#define LOOKS_PER_MS 10000
double isolith_look_at_clock(void) {
    static uint32_t looks;
    if (isolith_banned & BANNED_TIME) return 0; // nobody who may not look gets here; if someone does, it tells nothing
    if (++looks % LOOKS_PER_MS == 0) now_us += 1000;
    return now_us;
}
static uint32_t payload_max = 16 << 20, value_max = 16 << 20;

volatile int32_t isolith_interrupt; // the host writes 1 here to ask for a stop
static bool interrupted;
static int on_interrupt(JSRuntime *r, void *opaque) {
    (void)r; (void)opaque;
    if (isolith_interrupt) interrupted = true;
    return isolith_interrupt;
}

// Known to be the engine's own stack overflow and not a RangeError that the program made up: see `patch` in build.sh.
static JSValue overflow = JS_UNDEFINED;
static JSValue isolith_stack_overflow(JSContext *c) {
    JSValue r = JS_ThrowRangeError(c, "Maximum call stack size exceeded");
    JSValue old = overflow;
    overflow = js_dup(c->rt->current_exception);
    JS_FreeValue(c, old);
    return r;
}

#include "bytes.c"
#include "json_out.c"
#include "json_in.c"
#include "random.c"
#include "digest.c"
#include "url.c"
#include "calls.c"
#include "ambient.c"
#include "rejections.c"
#include "timers.c"
#include "text.c"
#include "grants.c"
#include "natives.c"
#include "modules.c"
#include "test262.c"
#include "seal.c"
#include "run.c"
