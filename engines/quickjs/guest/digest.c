// SHA-1 and SHA-2, and HMAC over them, for `crypto.subtle`. FIPS 180-4 and RFC 2104.

typedef struct {
    int bits;              // 1, 256, 384 or 512
    uint32_t w[8];         // chaining value of SHA-1 and SHA-256
    uint64_t q[8];         // chaining value of SHA-384 and SHA-512
    uint8_t block[128];
    uint32_t fill, block_len;
    uint64_t total;
} Sha;

static const uint32_t k256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint64_t k512[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538, 0x59f111f1b605d019,
    0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3,
    0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65, 0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b, 0xa2bfe8a14cf10364, 0xa81a664bbc423001,
    0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb,
    0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c, 0xd186b8c721c0c207,
    0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a,
    0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

static inline uint32_t be32(const uint8_t *p) { return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3]; }
static inline uint64_t be64(const uint8_t *p) { return (uint64_t)be32(p) << 32 | be32(p + 4); }
#define ROR32(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define ROR64(x, n) ((x) >> (n) | (x) << (64 - (n)))

static void sha1_block(Sha *s) {
    uint32_t w[80], a = s->w[0], b = s->w[1], c = s->w[2], d = s->w[3], e = s->w[4];
    for (int i = 0; i < 16; i++) w[i] = be32(s->block + 4 * i);
    for (int i = 16; i < 80; i++) w[i] = ROTL(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (int i = 0; i < 80; i++) {
        uint32_t f = i < 20 ? ((b & c) | (~b & d)) : i < 40 || i >= 60 ? (b ^ c ^ d) : ((b & c) | (b & d) | (c & d));
        uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        uint32_t t = ROTL(a, 5) + f + e + k + w[i];
        e = d; d = c; c = ROTL(b, 30); b = a; a = t;
    }
    s->w[0] += a; s->w[1] += b; s->w[2] += c; s->w[3] += d; s->w[4] += e;
}

static void sha256_block(Sha *s) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++) w[i] = be32(s->block + 4 * i);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (ROR32(a, 7) ^ ROR32(a, 18) ^ a >> 3) + w[i - 7] + (ROR32(b, 17) ^ ROR32(b, 19) ^ b >> 10);
    }
    memcpy(v, s->w, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = v[7] + (ROR32(v[4], 6) ^ ROR32(v[4], 11) ^ ROR32(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k256[i] + w[i];
        uint32_t t2 = (ROR32(v[0], 2) ^ ROR32(v[0], 13) ^ ROR32(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 28);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) s->w[i] += v[i];
}

static void sha512_block(Sha *s) {
    uint64_t w[80], v[8];
    for (int i = 0; i < 16; i++) w[i] = be64(s->block + 8 * i);
    for (int i = 16; i < 80; i++) {
        uint64_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (ROR64(a, 1) ^ ROR64(a, 8) ^ a >> 7) + w[i - 7] + (ROR64(b, 19) ^ ROR64(b, 61) ^ b >> 6);
    }
    memcpy(v, s->q, sizeof v);
    for (int i = 0; i < 80; i++) {
        uint64_t t1 = v[7] + (ROR64(v[4], 14) ^ ROR64(v[4], 18) ^ ROR64(v[4], 41)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k512[i] + w[i];
        uint64_t t2 = (ROR64(v[0], 28) ^ ROR64(v[0], 34) ^ ROR64(v[0], 39)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 56);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) s->q[i] += v[i];
}

static void sha_block(Sha *s) {
    if (s->bits == 1) sha1_block(s);
    else if (s->bits == 256) sha256_block(s);
    else sha512_block(s);
    s->fill = 0;
}

static void sha_init(Sha *s, int bits) {
    static const uint32_t i1[8] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
    static const uint32_t i256[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    static const uint64_t i384[8] = { 0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
                                      0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4 };
    static const uint64_t i512[8] = { 0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                      0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179 };
    memset(s, 0, sizeof *s);
    s->bits = bits;
    s->block_len = bits > 256 ? 128 : 64;
    memcpy(s->w, bits == 1 ? i1 : i256, sizeof s->w);
    memcpy(s->q, bits == 384 ? i384 : i512, sizeof s->q);
}

static void sha_add(Sha *s, const uint8_t *p, size_t n) {
    s->total += n;
    while (n) {
        size_t take = s->block_len - s->fill;
        if (take > n) take = n;
        memcpy(s->block + s->fill, p, take);
        s->fill += take;
        p += take;
        n -= take;
        if (s->fill == s->block_len) sha_block(s);
    }
}

static size_t sha_len(int bits) { return bits == 1 ? 20 : bits / 8; }

static size_t sha_end(Sha *s, uint8_t *out) {
    uint64_t bits = s->total * 8;
    uint32_t tail = s->block_len == 128 ? 16 : 8;
    uint8_t pad = 0x80;
    sha_add(s, &pad, 1);
    pad = 0;
    while (s->fill != s->block_len - tail) sha_add(s, &pad, 1);
    memset(s->block + s->fill, 0, tail);
    for (int i = 0; i < 8; i++) s->block[s->block_len - 1 - i] = bits >> (8 * i);
    sha_block(s);
    size_t n = sha_len(s->bits);
    for (size_t i = 0; i < n; i++)
        out[i] = s->bits > 256 ? s->q[i / 8] >> (56 - 8 * (i % 8)) : s->w[i / 4] >> (24 - 8 * (i % 4));
    return n;
}

static size_t hmac(int bits, const uint8_t *key, size_t key_len, const uint8_t *data, size_t len, uint8_t *out) {
    uint8_t pad[128] = { 0 }, inner[64];
    Sha s;
    sha_init(&s, bits);
    uint32_t block = s.block_len;
    if (key_len > block) { sha_add(&s, key, key_len); sha_end(&s, pad); }
    else memcpy(pad, key, key_len);
    for (uint32_t i = 0; i < block; i++) pad[i] ^= 0x36;
    sha_init(&s, bits);
    sha_add(&s, pad, block);
    sha_add(&s, data, len);
    size_t n = sha_end(&s, inner);
    for (uint32_t i = 0; i < block; i++) pad[i] ^= 0x36 ^ 0x5c;
    sha_init(&s, bits);
    sha_add(&s, pad, block);
    sha_add(&s, inner, n);
    return sha_end(&s, out);
}
