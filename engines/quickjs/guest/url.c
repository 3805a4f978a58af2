// URLs that are written as a parser would write them: most are, and need none.

enum { URL_HOST = 1, URL_PATH = 2, URL_QUERY = 4 };

// What an ASCII character may be part of without being changed. A backslash is a slash, and `#` ends what is sent.
static inline int url_unit(uint8_t c) {
    if (c <= ' ' || c >= 0x7f || c == '"' || c == '#' || c == '<' || c == '>') return 0;
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.') return URL_HOST | URL_PATH | URL_QUERY;
    if (c == '\'') return URL_PATH;
    if (c == '?' || c == '^' || c == '`' || c == '{' || c == '}' || c == '\\') return URL_QUERY;
    return URL_PATH | URL_QUERY;
}

static inline bool is_digit8(uint8_t c) { return c >= '0' && c <= '9'; }

// A decimal number as it would be written: no zero in front, at most `most`. Says where it ends, or NULL.
static const uint8_t *url_number(const uint8_t *p, const uint8_t *end, uint32_t most, uint32_t *number) {
    const uint8_t *from = p;
    for (*number = 0; p < end && is_digit8(*p); p++) {
        *number = *number * 10 + (*p - '0');
        if (*number > most) return NULL;
    }
    return p == from || (*from == '0' && p - from > 1) ? NULL : p;
}

// Whether a host is one in its one form: a name in lower case that no mapping touches, or an IPv4 address.
static bool url_host_is_plain(const uint8_t *p, const uint8_t *end) {
    const uint8_t *label = p; // the last one
    for (const uint8_t *at = p; at < end; at++) {
        if (!(url_unit(*at) & URL_HOST)) return false;
        if (*at == '.') label = at + 1;
        if (*at == '-' && at - p >= 3 && !memcmp(at - 3, "xn-", 3)) return false;
    }
    if (label == end) return false;
    if (!is_digit8(*label)) return true;
    for (int part = 0; part < 4; part++) { // what ends in a number is an address, or nothing
        uint32_t number;
        p = url_number(p, end, 255, &number);
        if (!p || (part < 3 ? p == end || *p++ != '.' : p != end)) return false;
    }
    return true;
}

// Where the path of a plain URL begins, or 0: `http(s)://host[:port]/path[?query]`, in which a parser changes nothing.
static uint32_t url_plain(const uint8_t *text, uint32_t len) {
    const uint8_t *p = text, *end = text + len;
    if (len < 10 || memcmp(p, "http", 4)) return 0;
    bool secure = p[4] == 's';
    p += 4 + secure;
    if (memcmp(p, "://", 3)) return 0;
    const uint8_t *host = p += 3;
    while (p < end && *p != ':' && *p != '/') p++;
    if (p == end || !url_host_is_plain(host, p)) return 0;
    if (*p == ':') {
        uint32_t port;
        p = url_number(p + 1, end, 65535, &port);
        if (!p || p == end || port == (secure ? 443 : 80)) return 0;
    }
    if (*p != '/') return 0;
    uint32_t path = p - text;
    for (; p < end && *p != '?'; p++) {
        if (!(url_unit(*p) & URL_PATH)) return 0;
        // A segment that may be `.` or `..`, in whatever spelling.
        if (*p == '/' && end - p > 1 && (p[1] == '.' || (end - p > 3 && p[1] == '%' && p[2] == '2' && (p[3] | 32) == 'e'))) return 0;
    }
    if (p < end) for (p++; p < end; p++) if (!(url_unit(*p) & URL_QUERY)) return 0;
    return path;
}

// plainUrl(text) -> where its path begins, or 0
static JSValue native_plain_url(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    JSValue text = JS_ToString(c, argv[0]);
    if (JS_IsException(text)) return text;
    JSString *s = JS_VALUE_GET_STRING(text);
    uint32_t path = s->is_wide_char ? 0 : url_plain(str8(s), s->len);
    JS_FreeValue(c, text);
    return js_int64(path);
}
