// UTF-8 in both directions, as the Encoding Standard has it.

static JSValue native_utf8_encode(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    JSValue text = JS_ToString(c, argv[0]);
    if (JS_IsException(text)) return text;
    JSString *s = JS_VALUE_GET_STRING(text);
    uint32_t n = s->len;
    uint8_t *out = malloc((size_t)n * (s->is_wide_char ? 3 : 2) + 1);
    if (!out) { JS_FreeValue(c, text); return JS_ThrowOutOfMemory(c); }
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t ch = s->is_wide_char ? str16(s)[i] : str8(s)[i];
        if (is_surrogate(ch)) {
            if (is_hi_surrogate(ch) && i + 1 < n && is_lo_surrogate(str16(s)[i + 1])) ch = from_surrogate(ch, str16(s)[++i]);
            else ch = 0xfffd;
        }
        at += put_utf8(out + at, ch);
    }
    JSValue bytes = JS_NewUint8ArrayCopy(c, out, at);
    free(out);
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

// utf8Decode(bytes, fatal)
static JSValue native_utf8_decode(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    size_t n;
    const uint8_t *from = JS_GetUint8Array(c, &n, argv[0]);
    if (!from && n) return JS_EXCEPTION;
    bool fatal = JS_ToBool(c, argv[1]);
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
