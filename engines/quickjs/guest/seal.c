// Sealing the image: from here on, everything in it is immortal and everything new lies behind it.
//
// A program uses hundreds of objects of the image: functions, prototypes, shapes, names. If each use counted a reference, it
// would write to the page the object lies in, and every page written costs a page fault, 4 KiB of private memory and a copy
// when the isolate is reset. So objects of the image are not counted (patch.h), which is right because they live as long
// as the isolate; and no memory between them is given out again, so that a program's own objects lie close together.

#define HEADROOM_BYTES (512u << 10) // of memory behind the image that programs use before they need to ask for more

#define READY_ARENA_BYTES 1024
#define ARENA_BYTES 4096

static void seal_image(void) {
    // Partly used arenas are not used further.
    for (int i = 0; i < JS_ARENA_BLOCK_SIZE_COUNT; i++) {
        struct list_head *head = &rt->arena_state.free_arena_list[i];
        while (!list_empty(head)) {
            JSArena *arena = list_entry(head->next, JSArena, free_link);
            list_del(&arena->free_link);
            init_list_head(&arena->free_link);
        }
    }
    // The holes between allocations are taken, largest first, and kept.
    uint8_t *end = malloc(HEADROOM_BYTES);
    if (!end) __builtin_trap();
    for (size_t size = 256 << 10; size; size -= 8) {
        uint8_t *hole;
        while ((hole = malloc(size)) && hole < end) {}
        free(hole);
    }
    free(end);
    // The collector treats what it does not list as reachable, and what it points to as held.
    init_list_head(&rt->gc_obj_list);
    isolith_image_end = (uintptr_t)end;
    // One arena of each size lies ready behind the image, so that its setting up is part of it: a small one, because a small
    // program uses a little of many sizes, and every page it touches is its own. The block that keeps an arena from being given
    // back is never freed.
    isolith_arena_bytes = READY_ARENA_BYTES;
    for (int i = 0; i < JS_ARENA_BLOCK_SIZE_COUNT; i++) {
        if (!js_malloc_rt(rt, arena_block_sizes[i] - sizeof(JSMallocBlockHeader))) __builtin_trap();
    }
    isolith_arena_bytes = ARENA_BYTES;
}
