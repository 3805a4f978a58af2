// Values on their way out: JSON text in UTF-8, written in one pass into bytes.
//
// Equal to JSON.stringify in what it accepts, runs and writes (lone surrogates are escaped, so the text is always valid
// UTF-8), but it reads shapes and array storage directly where no code of the program can be watching, which makes it an
// order of magnitude faster than going through property keys and an intermediate string.

typedef struct Ancestor { JSObject *object; struct Ancestor *above; } Ancestor;

// What is known of the shape of the object before: records in a row share it. Holding the shape keeps it as it is.
typedef struct {
    JSShape *shape;
    bool is_data;       // its own enumerable string keys are its properties in order, all plain data
    bool no_to_json;    // no `toJSON` in reach; forgotten whenever the program's code runs
    Bytes keys;         // `"key":` of each property, made when the shape is met again
    uint32_t *key_ends; // one for each property; empty for those that are not written
} Known;

typedef struct {
    JSContext *ctx;
    Bytes *out;
    Known known;
} Encoder;

static void forget_keys(Known *k) {
    free(k->key_ends);
    k->key_ends = NULL;
    k->keys.len = 0;
}

static bool encode(Encoder *e, JSValueConst v, Ancestor *above);

static void put_escape(Bytes *b, uint32_t c) {
    static const char hex[] = "0123456789abcdef";
    static const char short_form[14] = { [8] = 'b', [9] = 't', [10] = 'n', [12] = 'f', [13] = 'r' };
    bytes_put(b, '\\');
    if (c == '"' || c == '\\') bytes_put(b, c);
    else if (c < 14 && short_form[c]) bytes_put(b, short_form[c]);
    else {
        uint8_t u[5] = { 'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15], hex[c & 15] };
        bytes_add(b, u, 5);
    }
}

static size_t put_utf8(uint8_t *p, uint32_t c) {
    if (c < 0x80) { p[0] = c; return 1; }
    if (c < 0x800) { p[0] = 0xc0 | c >> 6; p[1] = 0x80 | (c & 63); return 2; }
    if (c < 0x10000) { p[0] = 0xe0 | c >> 12; p[1] = 0x80 | (c >> 6 & 63); p[2] = 0x80 | (c & 63); return 3; }
    p[0] = 0xf0 | c >> 18; p[1] = 0x80 | (c >> 12 & 63); p[2] = 0x80 | (c >> 6 & 63); p[3] = 0x80 | (c & 63);
    return 4;
}

static void put_string(Bytes *b, JSString *s) {
    uint32_t n = s->len;
    bytes_put(b, '"');
    if (!s->is_wide_char) {
        const uint8_t *p = str8(s);
        for (uint32_t i = 0; i < n;) {
            uint32_t run = plain_run(p + i, n - i);
            if (run) { bytes_add(b, p + i, run); i += run; continue; }
            if (p[i] < 0x80) put_escape(b, p[i]);
            else { uint8_t u[4]; bytes_add(b, u, put_utf8(u, p[i])); }
            i++;
        }
    } else {
        const uint16_t *p = str16(s);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t c = p[i];
            if (c < 0x80) {
                if (c < ' ' || c == '"' || c == '\\') put_escape(b, c);
                else bytes_put(b, c);
                continue;
            }
            if (is_surrogate(c)) {
                bool pair = is_hi_surrogate(c) && i + 1 < n && is_lo_surrogate(p[i + 1]);
                if (!pair) { put_escape(b, c); continue; }
                c = from_surrogate(c, p[++i]);
            }
            uint8_t u[4];
            bytes_add(b, u, put_utf8(u, c));
        }
    }
    bytes_put(b, '"');
}

// Most fractions in data have few decimals. m / 10^k with m < 10^15 is the shortest text for its double whenever it gives
// that double back, and one division tells.
static bool put_short_decimal(Bytes *b, double d) {
    static const double tens[] = { 1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6 };
    double a = fabs(d);
    if (!(a < 1e9) || a < 1e-3) return false;
    for (int k = 1; k <= 6; k++) {
        double m = a * tens[k];
        uint64_t r = (uint64_t)(m + 0.5);
        if (r >= 1000000000000000ull) return false;
        if ((double)r / tens[k] != a) continue;
        char digits[24];
        size_t n = u64toa(digits, r), whole = n > (size_t)k ? n - k : 0;
        if (!bytes_room(b, 32)) return true;
        uint8_t *o = b->at + b->len;
        if (d < 0) *o++ = '-';
        if (whole) { memcpy(o, digits, whole); o += whole; } else *o++ = '0';
        *o++ = '.';
        for (size_t z = n; z < (size_t)k; z++) *o++ = '0';
        memcpy(o, digits + whole, n - whole);
        b->len = o + (n - whole) - b->at;
        return true;
    }
    return false;
}

static void put_number(Bytes *b, double d) {
    if (!isfinite(d)) { bytes_add(b, "null", 4); return; }
    if (fabs(d) < 1e15 && d == (double)(int64_t)d) {
        char digits[24];
        bytes_add(b, digits, i64toa(digits, (int64_t)d));
        return;
    }
    if (put_short_decimal(b, d)) return;
    char digits[64];
    JSDTOATempMem mem;
    bytes_add(b, digits, js_dtoa(digits, d, 10, 0, JS_DTOA_FORMAT_FREE, &mem));
}

// True unless it is certain that `o.toJSON` is undefined.
static bool may_have_to_json(Encoder *e, JSObject *o) {
    if (o->shape == e->known.shape && e->known.no_to_json && !o->is_exotic) return false;
    for (JSObject *p = o; p; p = p->shape->proto) {
        // Arrays are exotic for their indices only; anything else exotic (a proxy) may run code.
        if (p->is_exotic && p->class_id != JS_CLASS_ARRAY) return true;
        if (find_own_property1(p, JS_ATOM_toJSON)) return true;
    }
    if (o->shape == e->known.shape && !o->is_exotic) e->known.no_to_json = true;
    return false;
}

static JSValue index_key(JSContext *c, int64_t index) { return JS_ToStringFree(c, js_int64(index)); }

// Applies `toJSON`. Takes `v`, gives what is to be written or an exception. The key is only made when it is needed.
static JSValue to_json(Encoder *e, JSValue v, JSAtom key, int64_t index) {
    if (JS_IsObject(v)) {
        if (!may_have_to_json(e, JS_VALUE_GET_OBJ(v))) return v;
    } else if (!JS_IsBigInt(v)) {
        return v;
    }
    e->known.no_to_json = false;
    JSValue f = JS_GetProperty(e->ctx, v, JS_ATOM_toJSON);
    if (JS_IsException(f)) { JS_FreeValue(e->ctx, v); return f; }
    if (!JS_IsFunction(e->ctx, f)) { JS_FreeValue(e->ctx, f); return v; }
    JSValue name = key != JS_ATOM_NULL ? JS_AtomToString(e->ctx, key) : index_key(e->ctx, index);
    if (JS_IsException(name)) { JS_FreeValue(e->ctx, f); JS_FreeValue(e->ctx, v); return name; }
    JSValue r = JS_CallFree(e->ctx, f, v, 1, vc(&name));
    JS_FreeValue(e->ctx, name);
    JS_FreeValue(e->ctx, v);
    return r;
}

static bool is_nothing(Encoder *e, JSValueConst v) {
    return JS_IsUndefined(v) || JS_IsSymbol(v) || (JS_IsObject(v) && JS_IsFunction(e->ctx, v));
}

// Writes a value that no code of the program can have a part in; false when it is not one.
static inline bool encode_scalar(Encoder *e, JSValueConst v) {
    Bytes *b = e->out;
    switch (JS_VALUE_GET_NORM_TAG(v)) {
    case JS_TAG_STRING: put_string(b, JS_VALUE_GET_STRING(v)); return true;
    case JS_TAG_INT:
        if (bytes_room(b, 16)) b->len += i32toa((char *)b->at + b->len, JS_VALUE_GET_INT(v));
        return true;
    case JS_TAG_FLOAT64: put_number(b, JS_VALUE_GET_FLOAT64(v)); return true;
    case JS_TAG_NULL: bytes_add(b, "null", 4); return true;
    case JS_TAG_BOOL:
        if (JS_VALUE_GET_BOOL(v)) bytes_add(b, "true", 4);
        else bytes_add(b, "false", 5);
        return true;
    default: return false;
    }
}

static inline bool is_scalar(JSValueConst v) {
    int tag = JS_VALUE_GET_NORM_TAG(v);
    return tag == JS_TAG_STRING || tag == JS_TAG_INT || tag == JS_TAG_FLOAT64 || tag == JS_TAG_NULL || tag == JS_TAG_BOOL;
}

static bool encode_array(Encoder *e, JSValueConst v, Ancestor *here) {
    JSContext *c = e->ctx;
    JSObject *p = JS_VALUE_GET_OBJ(v);
    int64_t len;
    if (js_get_length64(c, &len, v)) return false;
    bytes_put(e->out, '[');
    for (int64_t i = 0; i < len; i++) {
        if (i) bytes_put(e->out, ',');
        JSValue x;
        if (likely(p->fast_array && p->class_id == JS_CLASS_ARRAY && i < p->u.array.count)) {
            if (encode_scalar(e, p->u.array.u.values[i])) {
                if (unlikely(e->out->over || e->out->failed)) return false;
                continue;
            }
            x = js_dup(p->u.array.u.values[i]);
        } else {
            e->known.no_to_json = false;
            x = JS_GetPropertyInt64(c, v, i);
        }
        if (!JS_IsException(x)) x = to_json(e, x, JS_ATOM_NULL, i);
        if (JS_IsException(x)) return false;
        bool ok = true;
        if (is_nothing(e, x)) bytes_add(e->out, "null", 4);
        else ok = encode(e, x, here);
        JS_FreeValue(c, x);
        if (!ok || e->out->over || e->out->failed) return false;
    }
    bytes_put(e->out, ']');
    return true;
}

static void put_key(JSContext *c, Bytes *b, JSAtom key) {
    if (likely(!__JS_AtomIsTaggedInt(key))) {
        put_string(b, c->rt->atom_array[key]);
    } else {
        char digits[16];
        bytes_put(b, '"');
        bytes_add(b, digits, u32toa(digits, __JS_AtomToUInt32(key)));
        bytes_put(b, '"');
    }
    bytes_put(b, ':');
}

// Writes one property; `*any` tells whether a comma is due. Takes `x`. `ready` is the key as it is to be written, if known.
static bool encode_property(Encoder *e, JSAtom key, const uint8_t *ready, uint32_t ready_len, JSValue x, bool *any, Ancestor *here) {
    JSContext *c = e->ctx;
    if (!JS_IsException(x)) x = to_json(e, x, key, 0);
    if (JS_IsException(x)) return false;
    if (is_nothing(e, x)) { JS_FreeValue(c, x); return true; }
    if (*any) bytes_put(e->out, ',');
    *any = true;
    if (ready_len) bytes_add(e->out, ready, ready_len);
    else put_key(c, e->out, key);
    bool ok = encode(e, x, here);
    JS_FreeValue(c, x);
    return ok && !e->out->over && !e->out->failed;
}

static bool is_data(JSContext *c, JSShape *sh) {
    JSShapeProperty *prop = get_shape_prop(sh);
    for (int i = 0; i < sh->prop_count; i++, prop++) {
        if (prop->atom == JS_ATOM_NULL) continue; // deleted
        uint32_t index;
        if ((prop->flags & JS_PROP_TMASK) != JS_PROP_NORMAL || __JS_AtomIsTaggedInt(prop->atom)) return false;
        if (c->rt->atom_array[prop->atom]->atom_type == JS_ATOM_TYPE_STRING && JS_AtomIsArrayIndex(c, &index, prop->atom))
            return false;
    }
    return true;
}

static bool is_written(JSContext *c, JSShapeProperty *prop) {
    return prop->atom != JS_ATOM_NULL && prop->flags & JS_PROP_ENUMERABLE
        && c->rt->atom_array[prop->atom]->atom_type == JS_ATOM_TYPE_STRING; // not symbols, not private names
}

// Looks at an object's shape, unless it is that of the object before.
static void learn(Encoder *e, JSObject *p) {
    Known *k = &e->known;
    JSContext *c = e->ctx;
    if (p->shape != k->shape) {
        js_free_shape_null(c->rt, k->shape);
        forget_keys(k);
        k->shape = js_dup_shape(p->shape);
        k->is_data = is_data(c, p->shape);
        k->no_to_json = false;
    } else if (k->is_data && !k->key_ends && k->shape->prop_count) {
        uint32_t *ends = malloc(k->shape->prop_count * sizeof(uint32_t));
        if (!ends) return;
        k->keys.max = SIZE_MAX;
        for (int i = 0; i < k->shape->prop_count; i++) {
            JSShapeProperty *prop = &get_shape_prop(k->shape)[i];
            if (is_written(c, prop)) put_key(c, &k->keys, prop->atom);
            ends[i] = k->keys.len;
        }
        if (k->keys.failed) free(ends);
        else k->key_ends = ends;
    }
}

static bool encode_data(Encoder *e, JSValueConst v, Ancestor *here) {
    // The keys are those the object has now, whatever code run by nested values does to it meanwhile: the shape is held,
    // and once the object has another one, values are asked for in the general way.
    JSContext *c = e->ctx;
    JSObject *p = JS_VALUE_GET_OBJ(v);
    JSShape *sh = js_dup_shape(p->shape);
    bool any = false, ok = true;
    for (int i = 0; ok && i < sh->prop_count; i++) {
        JSShapeProperty *prop = &get_shape_prop(sh)[i];
        if (!is_written(c, prop)) continue;
        const uint8_t *ready = NULL;
        uint32_t len = 0;
        if (e->known.shape == sh && e->known.key_ends) { // nested objects may have taken its place
            uint32_t from = i ? e->known.key_ends[i - 1] : 0;
            ready = e->known.keys.at + from;
            len = e->known.key_ends[i] - from;
        }
        if (likely(p->shape == sh && len && is_scalar(p->prop[i].u.value))) {
            if (any) bytes_put(e->out, ',');
            any = true;
            bytes_add(e->out, ready, len);
            encode_scalar(e, p->prop[i].u.value);
            ok = !e->out->over && !e->out->failed;
            continue;
        }
        JSValue x = likely(p->shape == sh) ? js_dup(p->prop[i].u.value) : JS_GetProperty(c, v, prop->atom);
        ok = encode_property(e, prop->atom, ready, len, x, &any, here);
    }
    js_free_shape(c->rt, sh);
    return ok;
}

static bool encode_object(Encoder *e, JSValueConst v, Ancestor *here) {
    JSContext *c = e->ctx;
    JSObject *p = JS_VALUE_GET_OBJ(v);
    bool any = false, ok = true;
    bytes_put(e->out, '{');
    learn(e, p);
    if (e->known.is_data && !p->is_exotic && !p->fast_array) {
        ok = encode_data(e, v, here);
    } else {
        JSPropertyEnum *keys = NULL;
        uint32_t count = 0;
        e->known.no_to_json = false;
        if (JS_GetOwnPropertyNames(c, &keys, &count, v, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY) < 0) return false;
        for (uint32_t i = 0; ok && i < count; i++) {
            e->known.no_to_json = false;
            ok = encode_property(e, keys[i].atom, NULL, 0, JS_GetProperty(c, v, keys[i].atom), &any, here);
        }
        js_free_prop_enum(c, keys, count);
    }
    bytes_put(e->out, '}');
    return ok;
}

static bool encode_boxed(Encoder *e, JSValue v) {
    if (JS_IsException(v)) return false;
    bool ok = encode(e, v, NULL);
    JS_FreeValue(e->ctx, v);
    return ok;
}

static bool encode(Encoder *e, JSValueConst v, Ancestor *above) {
    JSContext *c = e->ctx;
    if (encode_scalar(e, v)) return true;
    switch (JS_VALUE_GET_NORM_TAG(v)) {
    case JS_TAG_STRING_ROPE: {
        JSValue flat = js_linearize_string_rope(c, v);
        if (JS_IsException(flat)) return false;
        put_string(e->out, JS_VALUE_GET_STRING(flat));
        JS_FreeValue(c, flat);
        return true;
    }
    case JS_TAG_SHORT_BIG_INT:
    case JS_TAG_BIG_INT:
        JS_ThrowTypeError(c, "Do not know how to serialize a BigInt");
        return false;
    case JS_TAG_OBJECT:
        break;
    default:
        bytes_add(e->out, "null", 4);
        return true;
    }
    if (js_check_stack_overflow(c->rt, 0)) { isolith_stack_overflow(c); return false; }
    JSObject *p = JS_VALUE_GET_OBJ(v);
    switch (p->class_id) {
    case JS_CLASS_STRING: return encode_boxed(e, JS_ToString(c, v));
    case JS_CLASS_NUMBER: return encode_boxed(e, JS_ToNumber(c, v));
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_BIG_INT: return encode_boxed(e, js_dup(p->u.object_data));
    }
    for (Ancestor *a = above; a; a = a->above) {
        if (a->object == p) {
            JS_ThrowTypeError(c, "Converting circular structure to JSON");
            return false;
        }
    }
    Ancestor here = { p, above };
    int is_array = js_is_array(c, v);
    if (is_array < 0) return false;
    return is_array ? encode_array(e, v, &here) : encode_object(e, v, &here);
}

enum { ENCODED, ENCODED_NOTHING, ENCODE_THREW, ENCODE_TOO_LARGE };

// Writes `v` as JSON.stringify would. `out->at` is the caller's to free whatever comes back.
static int encode_value(JSContext *c, Bytes *out, JSValueConst v) {
    Encoder e = { .ctx = c, .out = out };
    JSValue x = to_json(&e, js_dup(v), JS_ATOM_empty_string, 0);
    if (JS_IsException(x)) return ENCODE_THREW;
    if (is_nothing(&e, x)) { JS_FreeValue(c, x); return ENCODED_NOTHING; }
    bool ok = encode(&e, x, NULL);
    JS_FreeValue(c, x);
    js_free_shape_null(c->rt, e.known.shape);
    forget_keys(&e.known);
    free(e.known.keys.at);
    if (out->over) { if (!ok) JS_FreeValue(c, JS_GetException(c)); return ENCODE_TOO_LARGE; }
    if (out->failed) { JS_ThrowOutOfMemory(c); return ENCODE_THREW; }
    return ok ? ENCODED : ENCODE_THREW;
}
