// What the changed places of QuickJS need: see build.sh.

static uint8_t *isolith_jump; // where the loop that is being stopped jumped from

// What this run may not look at, and what happens when it does: see ambient.c.

enum { BANNED_TIME = 1, BANNED_RANDOM = 2 };
static uint32_t isolith_banned;
static JSValue isolith_violation(JSContext *ctx, uint32_t banned, const char *what);

// What is in the image is never counted: see seal.c.

static uintptr_t isolith_image_end; // nothing is in the image while it is being made
static int isolith_uncounted;

static inline int *isolith_count(const void *p, int *own) {
    if ((uintptr_t)p >= isolith_image_end) return own;
    // Whatever is added or taken here is forgotten: far from zero, and never 1, which would mean "not shared".
    isolith_uncounted = 1 << 29;
    return &isolith_uncounted;
}
