// Two things that the changed places of QuickJS need: see build.sh.

static uint8_t *isolith_jump; // where the loop that is being stopped jumped from

// What is in the image is never counted: see seal.c.

static uintptr_t isolith_image_end; // nothing is in the image while it is being made
static int isolith_uncounted;

static inline int *isolith_count(const void *p, int *own) {
    if ((uintptr_t)p >= isolith_image_end) return own;
    // Whatever is added or taken here is forgotten: far from zero, and never 1, which would mean "not shared".
    isolith_uncounted = 1 << 29;
    return &isolith_uncounted;
}
