// Values on their way in: JSON text, already checked by the host, into values.
//
// Rows of equal records are the common case: an object whose keys come in the order of the object before it is made
// from that object's shape in one piece, without looking up a single property.

#define KEY_CACHE 256
#define KEY_CACHE_BYTES 32

typedef struct { uint8_t text[KEY_CACHE_BYTES]; uint8_t len; JSAtom atom; } CachedKey;

typedef struct {
    JSContext *ctx;
    const uint8_t *at, *end;
    JSValue *values;              // what is being collected, innermost last
    uint32_t count, cap;
    JSShape *last;                // of the object finished last
    CachedKey *keys;              // lives for one document
} Decoder;

static JSValue decode(Decoder *d);

static inline bool hold(Decoder *d, JSValue v) {
    if (unlikely(d->count == d->cap)) {
        uint32_t cap = d->cap ? d->cap * 2 : 64;
        JSValue *values = realloc(d->values, cap * sizeof(JSValue));
        if (!values) { JS_FreeValue(d->ctx, v); JS_ThrowOutOfMemory(d->ctx); return false; }
        d->values = values;
        d->cap = cap;
    }
    d->values[d->count++] = v;
    return true;
}
static void drop_to(Decoder *d, uint32_t base) {
    while (d->count > base) JS_FreeValue(d->ctx, d->values[--d->count]);
}

static inline void skip_space(Decoder *d) {
    while (d->at < d->end && (*d->at == ' ' || *d->at == '\n' || *d->at == '\t' || *d->at == '\r')) d->at++;
}
static inline bool eat(Decoder *d, uint8_t c) {
    skip_space(d);
    if (d->at < d->end && *d->at == c) { d->at++; return true; }
    return false;
}
static JSValue malformed(Decoder *d) { return JS_ThrowSyntaxError(d->ctx, "malformed JSON from the host"); }

static uint32_t hex4(const uint8_t *p) {
    uint32_t v = 0;
    for (int i = 0; i < 4; i++) v = v << 4 | (uint32_t)from_hex(p[i]);
    return v;
}

// A string with escapes or beyond ASCII: decoded to UTF-16, which also keeps lone surrogates.
static JSValue decode_rich_string(Decoder *d, const uint8_t *from, const uint8_t *to) {
    uint16_t *wide = malloc((to - from + 1) * sizeof(uint16_t));
    if (!wide) return JS_ThrowOutOfMemory(d->ctx);
    uint32_t n = 0, all = 0;
    for (const uint8_t *p = from; p < to;) {
        uint32_t c = *p++;
        if (c == '\\') {
            c = *p++;
            switch (c) {
            case 'b': c = 8; break;
            case 'f': c = 12; break;
            case 'n': c = 10; break;
            case 'r': c = 13; break;
            case 't': c = 9; break;
            case 'u': if (to - p < 4) { free(wide); return malformed(d); } c = hex4(p); p += 4; break;
            }
        } else if (c >= 0x80) {
            int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : 1;
            if (to - p < more) { free(wide); return malformed(d); }
            c &= 0x3f >> more;
            while (more--) c = c << 6 | (*p++ & 63);
            if (c >= 0x10000) {
                wide[n++] = get_hi_surrogate(c);
                all |= 0x100;
                c = get_lo_surrogate(c);
            }
        }
        wide[n++] = c;
        all |= c;
    }
    JSValue v;
    if (all < 0x100) {
        uint8_t *narrow = (uint8_t *)wide;
        for (uint32_t i = 0; i < n; i++) narrow[i] = wide[i];
        v = js_new_string8_len(d->ctx, (char *)narrow, n);
    } else {
        v = js_new_string16_len(d->ctx, wide, n);
    }
    free(wide);
    return v;
}

// Finds the end of the string that starts after the quote; `*plain` is true for printable ASCII without escapes.
static const uint8_t *string_end(Decoder *d, bool *plain) {
    const uint8_t *p = d->at;
    *plain = true;
    p += plain_run(p, d->end - p);
    while (p < d->end && *p != '"') {
        if (*p == '\\') { *plain = false; p++; }
        else if (*p >= 0x80) *plain = false;
        p++;
    }
    return p < d->end ? p : NULL;
}

static JSValue decode_string(Decoder *d) {
    bool plain;
    const uint8_t *from = d->at, *to = string_end(d, &plain);
    if (!to) return malformed(d);
    d->at = to + 1;
    if (!plain) return decode_rich_string(d, from, to);
    size_t n = to - from;
    if (n > 16 || n < 2) return js_new_string8_len(d->ctx, (const char *)from, n); // one character comes from a table
    JSString *s = js_alloc_string(d->ctx, n, 0);
    if (!s) return JS_EXCEPTION;
    copy_short(str8(s), from, n);
    str8(s)[n] = 0;
    return JS_MKPTR(JS_TAG_STRING, s);
}

// Whether the text after the opening quote is the key `atom`; if so, it is read.
static bool is_key(Decoder *d, JSAtom atom) {
    if (__JS_AtomIsTaggedInt(atom)) return false;
    JSString *s = d->ctx->rt->atom_array[atom];
    uint32_t n = s->len;
    if (s->is_wide_char || (size_t)(d->end - d->at) <= n || d->at[n] != '"') return false;
    const uint8_t *key = str8(s);
    for (uint32_t i = 0; i < n; i++) if (key[i] != d->at[i] || key[i] >= 0x80 || key[i] == '\\') return false;
    d->at += n + 1;
    return true;
}

// The key after its opening quote, as an atom that the caller owns.
static JSAtom decode_key(Decoder *d) {
    bool plain;
    const uint8_t *from = d->at, *to = string_end(d, &plain);
    if (!to) { malformed(d); return JS_ATOM_NULL; }
    size_t n = to - from;
    d->at = to + 1;
    if (!plain) {
        JSValue text = decode_rich_string(d, from, to);
        if (JS_IsException(text)) return JS_ATOM_NULL;
        JSAtom atom = JS_ValueToAtom(d->ctx, text);
        JS_FreeValue(d->ctx, text);
        return atom;
    }
    if (n > KEY_CACHE_BYTES || n == 0 || !d->keys) return JS_NewAtomLen(d->ctx, (const char *)from, n);
    uint32_t h = n;
    for (size_t i = 0; i < n; i++) h = h * 31 + from[i];
    CachedKey *k = &d->keys[h % KEY_CACHE];
    if (k->len == n && !memcmp(k->text, from, n)) return JS_DupAtom(d->ctx, k->atom);
    JSAtom atom = JS_NewAtomLen(d->ctx, (const char *)from, n);
    if (atom == JS_ATOM_NULL) return atom;
    if (k->len) JS_FreeAtom(d->ctx, k->atom);
    memcpy(k->text, from, n);
    k->len = n;
    k->atom = JS_DupAtom(d->ctx, atom);
    return atom;
}

static JSValue decode_number(Decoder *d) {
    const uint8_t *from = d->at, *p = from;
    bool negative = p < d->end && *p == '-';
    if (negative) p++;
    uint64_t m = 0;
    int digits = 0, fraction = 0;
    for (; p < d->end && *p >= '0' && *p <= '9'; p++, digits++) m = m * 10 + (*p - '0');
    if (p < d->end && *p == '.') {
        for (p++; p < d->end && *p >= '0' && *p <= '9'; p++, digits++, fraction++) m = m * 10 + (*p - '0');
    }
    bool exponent = p < d->end && (*p == 'e' || *p == 'E');
    if (!exponent && digits && digits <= 15) {
        d->at = p;
        if (!fraction) {
            if (m == 0 && negative) return js_float64(-0.0);
            return js_int64(negative ? -(int64_t)m : (int64_t)m);
        }
        // Both are exact, so one division rounds correctly.
        static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15 };
        double v = (double)m / tens[fraction];
        return js_float64(negative ? -v : v);
    }
    while (p < d->end && (*p == '+' || *p == '-' || *p == '.' || *p == 'e' || *p == 'E' || (*p >= '0' && *p <= '9'))) p++;
    // js_atod wants a terminated text; what follows a number in JSON (`,`, `]`, `}`, space, the final NUL) ends it as well.
    const char *next;
    JSATODTempMem mem;
    double v = js_atod((const char *)from, &next, 10, 0, &mem);
    if (next == (const char *)from) return malformed(d);
    d->at = p;
    return js_float64(v);
}

static JSValue decode_array(Decoder *d) {
    uint32_t base = d->count;
    if (!eat(d, ']')) {
        do {
            JSValue v = decode(d);
            if (JS_IsException(v) || !hold(d, v)) goto fail;
        } while (eat(d, ','));
        if (!eat(d, ']')) { malformed(d); goto fail; }
    }
    JSValue array = JS_NewArrayFrom(d->ctx, d->count - base, d->values + base);
    d->count = base; // the array owns them now, or they were freed with the attempt
    return array;
fail:
    drop_to(d, base);
    return JS_EXCEPTION;
}

static void remember_shape(Decoder *d, JSValueConst object) {
    JSShape *sh = JS_VALUE_GET_OBJ(object)->shape;
    if (sh == d->last) return;
    js_free_shape_null(d->ctx->rt, d->last);
    d->last = sh->is_hashed && !sh->deleted_prop_count ? js_dup_shape(sh) : NULL;
}

static JSValue decode_object(Decoder *d) {
    JSContext *c = d->ctx;
    uint32_t base = d->count;
    JSShape *guess = d->last ? js_dup_shape(d->last) : NULL;
    JSValue object = JS_UNDEFINED; // made when the guess fails, or at the end
    if (!eat(d, '}')) {
        do {
            skip_space(d);
            if (d->at >= d->end || *d->at++ != '"') { malformed(d); goto fail; }
            uint32_t i = d->count - base;
            if (JS_IsUndefined(object) && guess && i < (uint32_t)guess->prop_count && is_key(d, get_shape_prop(guess)[i].atom)) {
                JSValue v = eat(d, ':') ? decode(d) : malformed(d);
                if (JS_IsException(v) || !hold(d, v)) goto fail;
                continue;
            }
            JSAtom key = decode_key(d);
            if (key == JS_ATOM_NULL) goto fail;
            JSValue v = eat(d, ':') ? decode(d) : malformed(d);
            if (JS_IsException(v)) { JS_FreeAtom(c, key); goto fail; }
            if (JS_IsUndefined(object)) {
                object = JS_NewObject(c);
                if (JS_IsException(object)) { object = JS_UNDEFINED; JS_FreeAtom(c, key); JS_FreeValue(c, v); goto fail; }
                for (uint32_t k = 0; k < i; k++) {
                    JSValue held = d->values[base + k];
                    d->values[base + k] = JS_UNDEFINED;
                    if (JS_DefinePropertyValue(c, object, get_shape_prop(guess)[k].atom, held, JS_PROP_C_W_E) < 0) {
                        JS_FreeAtom(c, key); JS_FreeValue(c, v); goto fail;
                    }
                }
                d->count = base;
            }
            int ok = JS_DefinePropertyValue(c, object, key, v, JS_PROP_C_W_E);
            JS_FreeAtom(c, key);
            if (ok < 0) goto fail;
        } while (eat(d, ','));
        if (!eat(d, '}')) { malformed(d); goto fail; }
    }
    uint32_t n = d->count - base;
    if (JS_IsUndefined(object) && guess && n && n == (uint32_t)guess->prop_count) {
        JSValue made = JS_NewObjectFromShape(c, js_dup_shape(guess), JS_CLASS_OBJECT, NULL);
        if (JS_IsException(made)) goto fail;
        JSProperty *prop = JS_VALUE_GET_OBJ(made)->prop;
        for (uint32_t k = 0; k < n; k++) prop[k].u.value = d->values[base + k];
        d->count = base;
        object = made;
    } else if (JS_IsUndefined(object)) {
        object = JS_NewObject(c);
        if (JS_IsException(object)) { object = JS_UNDEFINED; goto fail; }
        for (uint32_t k = 0; k < n; k++) {
            JSValue held = d->values[base + k];
            d->values[base + k] = JS_UNDEFINED;
            if (JS_DefinePropertyValue(c, object, get_shape_prop(guess)[k].atom, held, JS_PROP_C_W_E) < 0) goto fail;
        }
        d->count = base;
    }
    js_free_shape_null(c->rt, guess);
    remember_shape(d, object);
    return object;
fail:
    js_free_shape_null(c->rt, guess);
    JS_FreeValue(c, object);
    drop_to(d, base);
    return JS_EXCEPTION;
}

static bool eat_word(Decoder *d, const char *word, size_t n) {
    if ((size_t)(d->end - d->at) < n || memcmp(d->at, word, n)) return false;
    d->at += n;
    return true;
}

static JSValue decode(Decoder *d) {
    skip_space(d);
    if (d->at >= d->end) return malformed(d);
    switch (*d->at) {
    case '{':
    case '[':
        if (js_check_stack_overflow(d->ctx->rt, 0)) return isolith_stack_overflow(d->ctx);
        return *d->at++ == '{' ? decode_object(d) : decode_array(d);
    case '"': d->at++; return decode_string(d);
    case 't': return eat_word(d, "true", 4) ? JS_TRUE : malformed(d);
    case 'f': return eat_word(d, "false", 5) ? JS_FALSE : malformed(d);
    case 'n': return eat_word(d, "null", 4) ? JS_NULL : malformed(d);
    default: return decode_number(d);
    }
}

// `text[len]` must be readable and 0.
static JSValue decode_value(JSContext *c, const uint8_t *text, size_t len) {
    Decoder d = { .ctx = c, .at = text, .end = text + len };
    if (len > 512) d.keys = calloc(KEY_CACHE, sizeof(CachedKey));
    JSValue v = decode(&d);
    if (!JS_IsException(v)) {
        skip_space(&d);
        if (d.at != d.end) { JS_FreeValue(c, v); v = malformed(&d); }
    }
    drop_to(&d, 0);
    js_free_shape_null(c->rt, d.last);
    for (int i = 0; d.keys && i < KEY_CACHE; i++) if (d.keys[i].len) JS_FreeAtom(c, d.keys[i].atom);
    free(d.keys);
    free(d.values);
    return v;
}
