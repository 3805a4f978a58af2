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
// Copies a short text without a call: two overlapping words cover every length up to 16.
static inline void copy_short(uint8_t *to, const uint8_t *from, size_t n) {
    if (n > 16) { memcpy(to, from, n); return; }
    uint64_t a, b;
    uint32_t c, d;
    if (n >= 8) { __builtin_memcpy(&a, from, 8); __builtin_memcpy(&b, from + n - 8, 8); __builtin_memcpy(to, &a, 8); __builtin_memcpy(to + n - 8, &b, 8); }
    else if (n >= 4) { __builtin_memcpy(&c, from, 4); __builtin_memcpy(&d, from + n - 4, 4); __builtin_memcpy(to, &c, 4); __builtin_memcpy(to + n - 4, &d, 4); }
    else for (size_t i = 0; i < n; i++) to[i] = from[i];
}

static inline bool bytes_room(Bytes *b, size_t more) { return b->cap - b->len >= more || bytes_grow(b, more); }
static inline void bytes_put(Bytes *b, uint8_t c) {
    if (bytes_room(b, 1)) b->at[b->len++] = c;
}
static inline void bytes_add(Bytes *b, const void *p, size_t n) {
    if (bytes_room(b, n)) { copy_short(b->at + b->len, p, n); b->len += n; }
}

// A bit for each of the 16 bytes at `p` that a JSON string cannot hold as it is: a quote, a backslash, a control or
// anything beyond ASCII.
static inline uint32_t odd_bytes(const uint8_t *p) {
    v128_t v = wasm_v128_load(p);
    v128_t quote = wasm_i8x16_eq(v, wasm_i8x16_splat('"')), back = wasm_i8x16_eq(v, wasm_i8x16_splat('\\'));
    v128_t other = wasm_i8x16_lt(v, wasm_i8x16_splat(' ')); // signed: beyond ASCII is below zero
    return wasm_i8x16_bitmask(wasm_v128_or(wasm_v128_or(quote, back), other));
}

// How many of the `n` bytes at `p` come before the first odd one.
static inline size_t plain_run(const uint8_t *p, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint32_t mask = odd_bytes(p + i);
        if (mask) return i + __builtin_ctz(mask);
    }
    if (i < n && (uintptr_t)p + i + 16 <= __builtin_wasm_memory_size(0) << 16) {
        // The rest in one piece: what is read beyond the end is memory of ours, and not looked at.
        uint32_t mask = odd_bytes(p + i) & ((1u << (n - i)) - 1);
        return mask ? i + __builtin_ctz(mask) : n;
    }
    while (i < n && p[i] >= ' ' && p[i] < 0x80 && p[i] != '"' && p[i] != '\\') i++;
    return i;
}

static inline uint32_t read_u32(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }
static inline double read_f64(const uint8_t *p) { double v; memcpy(&v, p, 8); return v; }
