// A growing run of bytes, and the order in which the two sides read numbers.

typedef struct {
    uint8_t *at;
    size_t len, cap;
    size_t max;    // growing past this sets `over`
    bool over, failed;
} Bytes;

static bool bytes_grow(Bytes *b, size_t more) {
    if (b->failed || b->over) return false;
    if (more > b->max - b->len) { b->over = true; return false; }
    size_t cap = b->cap ? b->cap * 2 : 256;
    if (cap < b->len + more) cap = b->len + more;
    uint8_t *at = realloc(b->at, cap);
    if (!at) { b->failed = true; return false; }
    b->at = at;
    b->cap = cap;
    return true;
}
static inline bool bytes_room(Bytes *b, size_t more) { return b->cap - b->len >= more || bytes_grow(b, more); }
static inline void bytes_put(Bytes *b, uint8_t c) {
    if (bytes_room(b, 1)) b->at[b->len++] = c;
}
static inline void bytes_add(Bytes *b, const void *p, size_t n) {
    if (bytes_room(b, n)) { memcpy(b->at + b->len, p, n); b->len += n; }
}

static inline uint32_t read_u32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static inline double read_f64(const uint8_t *p) { double v; memcpy(&v, p, 8); return v; }
