// What a grant gives a name to. The objects are in the image; giving them their name costs next to nothing, so that a run
// pays for what it uses and not for what it might.

#define GRANTS_SHIFT 8 // in the flags of the start message; the bits below say what is banned
#define GLOBALS_MORE 64 // properties that the global object has room for before it must grow

static const char *const grant_names[] = { "fetch", "files", "invoke", "secrets" };
static JSAtom grant_atoms[countof(grant_names)];
static JSValue grant_values[countof(grant_names)];

// At image time. The shape of the global object is made its own and roomy: a program's new globals are then written where
// there is room, instead of into a copy of it all.
static void grants_prepare(JSValueConst bindings) {
    for (size_t i = 0; i < countof(grant_names); i++) {
        grant_atoms[i] = JS_NewAtom(ctx, grant_names[i]);
        grant_values[i] = JS_GetProperty(ctx, bindings, grant_atoms[i]);
        if (!JS_IsObject(grant_values[i])) __builtin_trap();
    }
    JSObject *global = JS_VALUE_GET_OBJ(ctx->global_obj);
    if (js_shape_prepare_update(ctx, global, NULL)
        || resize_properties(ctx, &global->shape, global, global->shape->prop_count + GLOBALS_MORE)) __builtin_trap();
}

static bool grants_publish(uint32_t granted) {
    for (size_t i = 0; granted >> i; i++) {
        if (!(granted >> i & 1) || i >= countof(grant_names)) continue;
        int flags = JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE;
        if (JS_DefinePropertyValue(ctx, ctx->global_obj, grant_atoms[i], js_dup(grant_values[i]), flags) < 0) return false;
    }
    return true;
}
