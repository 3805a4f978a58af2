// All randomness of a run: ChaCha20 over the seed the host gave. Nothing else in the guest is random.

static uint32_t chacha_state[16];
static uint8_t chacha_block[64];
static uint32_t chacha_used = 64;

#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define QUARTER(a, b, c, d) \
    a += b; d = ROTL(d ^ a, 16); c += d; b = ROTL(b ^ c, 12); a += b; d = ROTL(d ^ a, 8); c += d; b = ROTL(b ^ c, 7)

static void chacha_next(void) {
    uint32_t x[16];
    memcpy(x, chacha_state, sizeof x);
    for (int i = 0; i < 10; i++) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int i = 0; i < 16; i++) x[i] += chacha_state[i];
    memcpy(chacha_block, x, sizeof x);
    chacha_used = 0;
    if (!++chacha_state[12]) chacha_state[13]++;
}

static void random_fill(uint8_t *to, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (chacha_used == sizeof chacha_block) chacha_next();
        to[i] = chacha_block[chacha_used++];
    }
}

static void random_seed(const uint8_t seed[32]) {
    static const uint32_t constants[4] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };
    memcpy(chacha_state, constants, 16);
    memcpy(chacha_state + 4, seed, 32);
    memset(chacha_state + 12, 0, 16);
    chacha_used = sizeof chacha_block;
    // `Math.random` has a small generator of its own; it starts from bytes of the seed that `crypto` never shows.
    memcpy(&ctx->random_state, seed, 8);
    ctx->random_state ^= 0x9e3779b97f4a7c15ull;
    if (!ctx->random_state) ctx->random_state = 1;
}
