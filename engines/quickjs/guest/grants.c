// What grants give names to. Most of it is in the image, and the rest is made here and not in JavaScript: every run pays for
// what it was granted, so it must cost next to nothing until it is used.

#define GRANTS_SHIFT 8  // in the flags of the start message; the bits below say what is banned
#define GLOBALS_MORE 64 // properties that the global object has room for before it must grow
#define NAME_CHARS_MAX 64

static const char *const grant_names[] = { "fetch", "files", "invoke", "secrets" };
static JSAtom grant_atoms[countof(grant_names)], atom_tools, atom_kv;
static JSValue grant_values[countof(grant_names)];

#define HIDDEN (JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) // as the platform defines its globals

static bool define_global(JSAtom name, JSValue value) { return JS_DefinePropertyValue(ctx, ctx->global_obj, name, value, HIDDEN) >= 0; }

// Adds a property that can never change. The objects below get only such, and are closed then: that is all of freezing.
static bool define_fixed(JSValueConst object, JSAtom name, JSValue value) {
    return JS_DefinePropertyValue(ctx, object, name, value, JS_PROP_ENUMERABLE) >= 0;
}
static void close_object(JSValueConst object) { JS_VALUE_GET_OBJ(object)->extensible = false; }

// --- tools --------------------------------------------------------------------------------------------------------------

static JSValue rejected(JSContext *c, JSValue reason) {
    JSValue caps[2], promise = JS_NewPromiseCapability(c, caps);
    if (!JS_IsException(promise)) {
        JS_FreeValue(c, JS_Call(c, caps[1], JS_UNDEFINED, 1, vc(&reason)));
        JS_FreeValue(c, caps[0]);
        JS_FreeValue(c, caps[1]);
    }
    JS_FreeValue(c, reason);
    return promise;
}

static JSValue call_tool(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv, int magic, JSValueConst *name) {
    (void)magic;
    JSValueConst args[2] = { name[0], argc ? argv[0] : JS_UNDEFINED };
    JSValue promise = native_call(c, this_val, 2, args);
    if (!JS_IsException(promise) || JS_IsUncatchableError(c->rt->current_exception)) return promise;
    return rejected(c, JS_GetException(c));
}

// tool(name, shown) -> a function that calls the tool `name`
static JSValue native_tool(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    const char *shown = JS_ToCString(c, argv[1]);
    if (!shown) return JS_EXCEPTION;
    JSValue tool = JS_NewCFunctionData2(c, call_tool, shown, 1, 0, 1, argv);
    JS_FreeCString(c, shown);
    return tool;
}

static bool add_tool(JSValueConst tools, const char *name) {
    static const char prefix[] = "external_";
    char twin[sizeof prefix + NAME_CHARS_MAX];
    snprintf(twin, sizeof twin, "%s%s", prefix, name);
    JSValue text = JS_NewString(ctx, name);
    JSValue tool = JS_NewCFunctionData2(ctx, call_tool, name, 1, 0, 1, vc(&text));
    JS_FreeValue(ctx, text);
    if (JS_IsException(tool)) return false;
    JSAtom short_atom = JS_NewAtom(ctx, name), twin_atom = JS_NewAtom(ctx, twin);
    bool ok = define_fixed(tools, short_atom, js_dup(tool)) && define_global(twin_atom, tool);
    JS_FreeAtom(ctx, short_atom);
    JS_FreeAtom(ctx, twin_atom);
    return ok;
}

// --- namespaces -----------------------------------------------------------------------------------------------------------

static const char *const about_names[] = { "search", "describe" };
static JSAtom about_atoms[countof(about_names)];
static JSValue about_values[countof(about_names)], make_namespace = JS_UNDEFINED;

// Adds what is not a tool under a name that no tool has.
static bool add_beside(JSValueConst tools, JSAtom name, JSValue value) {
    if (JS_IsException(value)) return false;
    int taken = JS_HasProperty(ctx, tools, name);
    if (!taken) return define_fixed(tools, name, value);
    JS_FreeValue(ctx, value);
    return taken > 0;
}

static bool add_namespace(JSValueConst tools, const char *name) {
    JSValue text = JS_NewString(ctx, name);
    JSAtom atom = JS_NewAtom(ctx, name);
    bool ok = add_beside(tools, atom, JS_Call(ctx, make_namespace, JS_UNDEFINED, 1, vc(&text)));
    JS_FreeValue(ctx, text);
    JS_FreeAtom(ctx, atom);
    return ok;
}

// The twin of `<namespace>.<function>`, whose namespace is there already.
static bool add_twin(JSValueConst tools, const char *name, const char *dot) {
    static const char prefix[] = "external_";
    char twin[sizeof prefix + 2 * NAME_CHARS_MAX + 1];
    snprintf(twin, sizeof twin, "%s%.*s_%s", prefix, (int)(dot - name), name, dot + 1);
    JSAtom space = JS_NewAtomLen(ctx, name, dot - name), twin_atom = JS_NewAtom(ctx, twin);
    JSValue namespace = JS_GetProperty(ctx, tools, space);
    JSValue tool = JS_IsException(namespace) ? namespace : JS_GetPropertyStr(ctx, namespace, dot + 1);
    int taken = JS_HasProperty(ctx, ctx->global_obj, twin_atom);
    bool ok = !JS_IsException(tool) && taken >= 0;
    if (ok && !taken && JS_IsFunction(ctx, tool)) ok = define_global(twin_atom, js_dup(tool));
    if (!JS_IsException(namespace)) JS_FreeValue(ctx, namespace);
    JS_FreeValue(ctx, tool);
    JS_FreeAtom(ctx, space);
    JS_FreeAtom(ctx, twin_atom);
    return ok;
}

// `names` are namespaces, and functions of those before them.
static bool add_namespaces(JSValueConst tools, const char *names, uint32_t count) {
    for (; count--; names += strlen(names) + 1) {
        const char *dot = strchr(names, '.');
        if (!(dot ? add_twin(tools, names, dot) : add_namespace(tools, names))) return false;
    }
    for (size_t i = 0; i < countof(about_names); i++) {
        if (!add_beside(tools, about_atoms[i], js_dup(about_values[i]))) return false;
    }
    return true;
}

// --- key spaces -----------------------------------------------------------------------------------------------------------

typedef struct { JSAtom name; JSValue object; } Space;

static JSClassID space_class;
static JSValue space_methods = JS_UNDEFINED, spaces_methods = JS_UNDEFINED;
static Space *spaces;
static uint32_t space_count;

static JSValue make_space(JSAtom name) {
    JSValue space = JS_NewObjectProtoClass(ctx, space_methods, space_class);
    if (!JS_IsException(space)) JS_SetOpaque(space, (void *)(uintptr_t)name); // an atom that the list of spaces holds
    return space;
}

// spaceName(object) -> the name of a key space, or undefined
static JSValue native_space_name(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    JSAtom name = (uintptr_t)JS_GetOpaque(argv[0], space_class);
    return name ? JS_AtomToString(c, name) : JS_UNDEFINED;
}

// findSpace(name) -> the key space, or undefined
static JSValue native_find_space(JSContext *c, JSValueConst this_val, int argc, JSValueConst *argv) {
    (void)this_val; (void)argc;
    if (!JS_IsString(argv[0])) return JS_UNDEFINED;
    JSAtom name = JS_ValueToAtom(c, argv[0]);
    JSValue found = JS_UNDEFINED;
    for (uint32_t i = 0; i < space_count; i++) if (spaces[i].name == name) found = js_dup(spaces[i].object);
    JS_FreeAtom(c, name);
    return found;
}

static bool add_space(JSValueConst kv, Space *space) {
    if (JS_IsException(space->object)) return false;
    close_object(space->object);
    space_count++;
    int taken = JS_HasProperty(ctx, kv, space->name);
    return taken < 0 ? false : taken || define_fixed(kv, space->name, js_dup(space->object));
}

// --- publishing -----------------------------------------------------------------------------------------------------------

// At image time. The shape of the global object is made its own and roomy: new globals are then written where there is room,
// instead of into a copy of it all.
static void grants_prepare(JSValueConst hooks) {
    static const JSClassDef space = { .class_name = "Object" };
    JSValue bindings = JS_GetPropertyStr(ctx, hooks, "bindings");
    for (size_t i = 0; i < countof(grant_names); i++) {
        grant_atoms[i] = JS_NewAtom(ctx, grant_names[i]);
        grant_values[i] = JS_GetProperty(ctx, bindings, grant_atoms[i]);
        if (!JS_IsObject(grant_values[i])) __builtin_trap();
    }
    JS_FreeValue(ctx, bindings);
    JSValue about = JS_GetPropertyStr(ctx, hooks, "aboutTools");
    for (size_t i = 0; i < countof(about_names); i++) {
        about_atoms[i] = JS_NewAtom(ctx, about_names[i]);
        about_values[i] = JS_GetProperty(ctx, about, about_atoms[i]);
        if (!JS_IsFunction(ctx, about_values[i])) __builtin_trap();
    }
    JS_FreeValue(ctx, about);
    make_namespace = JS_GetPropertyStr(ctx, hooks, "makeNamespace");
    atom_tools = JS_NewAtom(ctx, "tools");
    atom_kv = JS_NewAtom(ctx, "kv");
    space_methods = JS_GetPropertyStr(ctx, hooks, "spaceMethods");
    spaces_methods = JS_GetPropertyStr(ctx, hooks, "spacesMethods");
    JS_NewClassID(rt, &space_class);
    JSObject *global = JS_VALUE_GET_OBJ(ctx->global_obj);
    if (!JS_IsObject(space_methods) || !JS_IsObject(spaces_methods) || JS_NewClass(rt, space_class, &space)
        || js_shape_prepare_update(ctx, global, NULL)
        || resize_properties(ctx, &global->shape, global, global->shape->prop_count + GLOBALS_MORE)) __builtin_trap();
}

static bool publish_tools(const char *names, uint32_t count, const char *namespaces, uint32_t namespace_count) {
    JSValue tools = JS_NewObjectProto(ctx, JS_NULL);
    for (; count--; names += strlen(names) + 1) if (!add_tool(tools, names)) return false;
    if (namespace_count && !add_namespaces(tools, namespaces, namespace_count)) return false;
    close_object(tools);
    return define_global(atom_tools, tools);
}

// With one key space, `kv` is that space as well.
static bool publish_spaces(const char *names, uint32_t count) {
    spaces = calloc(count, sizeof *spaces);
    if (!spaces) { JS_ThrowOutOfMemory(ctx); return false; }
    JSValue kv = JS_UNDEFINED;
    for (uint32_t i = 0; i < count; i++, names += strlen(names) + 1) {
        spaces[i].name = JS_NewAtom(ctx, names);
        spaces[i].object = make_space(spaces[i].name);
        if (!i) kv = count == 1 ? make_space(spaces[0].name) : JS_NewObjectProto(ctx, spaces_methods);
        if (!add_space(kv, &spaces[i])) return false;
    }
    close_object(kv);
    return define_global(atom_kv, kv);
}

static const char *names_after(const char *names, uint32_t count) {
    while (count--) names += strlen(names) + 1;
    return names;
}

// `names` are those of tools, of key spaces, and of namespaces and their functions, each with a 0 behind. False when memory is out.
static bool grants_publish(uint32_t granted, const char *names, uint32_t tool_count, uint32_t kv_count, uint32_t namespace_count) {
    for (size_t i = 0; i < countof(grant_names); i++) {
        if (granted >> i & 1 && !define_global(grant_atoms[i], js_dup(grant_values[i]))) return false;
    }
    const char *kv = names_after(names, tool_count);
    const char *namespaces = namespace_count ? names_after(kv, kv_count) : NULL;
    if ((tool_count || namespace_count) && !publish_tools(names, tool_count, namespaces, namespace_count)) return false;
    return !kv_count || publish_spaces(kv, kv_count);
}
