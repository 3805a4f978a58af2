// UTF-8 in both directions, as the Encoding Standard has it.

// Writes a string as UTF-8; lone surrogates become replacement characters.
static void put_text(Bytes *out, JSString *s) {
    if (!s->is_wide_char) {
        const uint8_t *p = str8(s);
        for (uint32_t i = 0; i < s->len;) {
            uint32_t run = i;
            while (run < s->len && p[run] < 0x80) run++;
            if (run > i) { bytes_add(out, p + i, run - i); i = run; continue; }
            uint8_t u[4];
            bytes_add(out, u, put_utf8(u, p[i++]));
        }
        return;
    }
    const uint16_t *p = str16(s);
    for (uint32_t i = 0; i < s->len; i++) {
        uint32_t c = p[i];
        if (is_surrogate(c)) {
            if (is_hi_surrogate(c) && i + 1 < s->len && is_lo_surrogate(p[i + 1])) c = from_surrogate(c, p[++i]);
            else c = 0xfffd;
        }
        uint8_t u[4];
        bytes_add(out, u, put_utf8(u, c));
    }
}

static JSValue native_utf8_encode(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    JSValue text = JS_ToString(c, argv[0]);
    if (JS_IsException(text)) return text;
    Bytes out = { .max = SIZE_MAX };
    put_text(&out, JS_VALUE_GET_STRING(text));
    JSValue bytes = out.failed ? JS_ThrowOutOfMemory(c) : JS_NewUint8ArrayCopy(c, out.at, out.len);
    free(out.at);
    JS_FreeValue(c, text);
    return bytes;
}

// Reads one character at `*p`; -1 for a malformed sequence, of which the longest valid prefix is then consumed.
static int32_t take_utf8(const uint8_t **p, const uint8_t *end) {
    uint32_t c = *(*p)++, need, low = 0x80, high = 0xbf;
    if (c < 0x80) return c;
    if (c >= 0xc2 && c <= 0xdf) { need = 1; c &= 0x1f; }
    else if (c >= 0xe0 && c <= 0xef) { need = 2; if (c == 0xe0) low = 0xa0; if (c == 0xed) high = 0x9f; c &= 0xf; }
    else if (c >= 0xf0 && c <= 0xf4) { need = 3; if (c == 0xf0) low = 0x90; if (c == 0xf4) high = 0x8f; c &= 7; }
    else return -1;
    for (; need; need--, low = 0x80, high = 0xbf) {
        if (*p >= end || **p < low || **p > high) return -1;
        c = c << 6 | (*(*p)++ & 63);
    }
    return c;
}

// utf8Decode(bytes, fatal, skipMark): the mark is one of byte order, which bodies do not count as theirs
static JSValue native_utf8_decode(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    size_t n;
    const uint8_t *from = JS_GetUint8Array(c, &n, argv[0]);
    if (!from && n) return JS_EXCEPTION;
    bool fatal = JS_ToBool(c, argv[1]);
    if (n >= 3 && JS_ToBool(c, argv[2]) && !memcmp(from, "\xef\xbb\xbf", 3)) { from += 3; n -= 3; }
    size_t ascii = 0;
    while (ascii < n && from[ascii] < 0x80) ascii++;
    if (ascii == n) return js_new_string8_len(c, (const char *)from, n);
    uint16_t *wide = malloc(n * sizeof(uint16_t));
    if (!wide) return JS_ThrowOutOfMemory(c);
    uint32_t len = 0;
    bool narrow = true;
    for (const uint8_t *p = from, *end = from + n; p < end;) {
        int32_t ch = take_utf8(&p, end);
        if (ch < 0) {
            if (fatal) { free(wide); return JS_ThrowTypeError(c, "The encoded data was not valid for encoding utf-8"); }
            ch = 0xfffd;
        }
        if (ch > 0xff) narrow = false;
        if (ch >= 0x10000) { wide[len++] = get_hi_surrogate(ch); wide[len++] = get_lo_surrogate(ch); }
        else wide[len++] = ch;
    }
    JSValue text;
    if (narrow) {
        uint8_t *tight = (uint8_t *)wide;
        for (uint32_t i = 0; i < len; i++) tight[i] = wide[i];
        text = js_new_string8_len(c, (char *)tight, len);
    } else {
        text = js_new_string16_len(c, wide, len);
    }
    free(wide);
    return text;
}
