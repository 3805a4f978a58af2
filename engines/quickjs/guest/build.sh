#!/bin/sh
# Builds guest.wasm: QuickJS-ng and the files beside this one, as one WebAssembly module that imports only our functions.
#   build.sh [OUT.wasm]        default: guest.wasm beside this script, with its SHA-256
#   build.sh --check           builds to a temporary file and compares it with the committed one, bit for bit
# Needs Debian's clang-19, lld-19 and libclang-rt-19-dev-wasm32, and cargo, which fetches the C sources: the crate
# rquickjs-sys ships QuickJS-ng and the headers and library of wasi-libc.
set -eu
cd "$(dirname "$0")"
here=$PWD
check=
case ${1:-} in
    --check) check=1; out=$(mktemp) ;;
    "") out=$here/guest.wasm ;;
    /*) out=$1 ;;
    *) out=$here/$1 ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"; [ -z "$check" ] || rm -f "$out"' EXIT

# The lock file pins the crate's version and checksum.
cargo fetch --locked --quiet --manifest-path source/Cargo.toml
sys=$(echo "${CARGO_HOME:-$HOME/.cargo}"/registry/src/*/rquickjs-sys-0.14.0)
CC=${CC:-clang-19}

# Four changes to QuickJS: its stack overflow says who it is, so that a RangeError made by a program cannot pass for it; every
# statement knows its line, and a loop that is stopped is where it jumped from, so that errors and timeouts can name the place; and what is in the image is
# never counted, so that merely using it does not write to its pages, and its last arenas are small (see seal.c); and the three places
# that look at the clock or draw a number ask whether the run may (see ambient.c).
cp -r "$sys/quickjs" "$work/qjs"
sed -i 's/    return JS_ThrowRangeError(ctx, "Maximum call stack size exceeded");/    return isolith_stack_overflow(ctx);/
s/^static JSValue JS_ThrowStackOverflow(JSContext \*ctx);$/&\nstatic JSValue isolith_stack_overflow(JSContext *ctx);/
/^        CASE(OP_goto):$/,/^        CASE(OP_if_true):$/{s/^            pc += /            isolith_jump = pc; pc += /;s/^                goto exception;$/                { pc = isolith_jump; goto exception; }/}
s|^                /\* XXX: should duplicate single instructions followed by goto or return \*/$|                add_pc2line_info(s, bc_out.size, line_num, col_num); // isolith|
s|^    /\* specific label handling \*/$|    emit_source_loc(s); // isolith|
s/^        val = date_now();$/        if (isolith_banned \& BANNED_TIME) return isolith_violation(ctx, BANNED_TIME, "argless new Date()");\n&/
s/^    return js_int64(date_now());$/    if (isolith_banned \& BANNED_TIME) return isolith_violation(ctx, BANNED_TIME, "Date.now()");\n&/
s/^    v = xorshift64star(&ctx->random_state);$/    if (isolith_banned \& BANNED_RANDOM) return isolith_violation(ctx, BANNED_RANDOM, "Math.random()");\n&/
s/^#define JS_ARENA_SIZE              4096$/static unsigned isolith_arena_bytes = 4096; \/\/ isolith\n#define JS_ARENA_SIZE isolith_arena_bytes/
s/^#define JS_REF_COUNT(p) (js_rc(p)->ref_count)$/#include "patch.h"\n#define JS_REF_COUNT(p) (*isolith_count(p, \&js_rc(p)->ref_count))/' "$work/qjs/quickjs.c"
patched=$(grep -c -e isolith_stack_overflow -e 'isolith_jump' -e isolith_count -e isolith_banned -e '// isolith$' "$work/qjs/quickjs.c")
[ "$patched" = 15 ] || { echo "build.sh: the changes do not fit this QuickJS ($patched places)" >&2; exit 1; }

# EMSCRIPTEN means to QuickJS: no threads, no atomics, a switch instead of computed gotos.
$CC --target=wasm32-unknown-unknown -std=gnu2y -O3 -fno-ident -ffile-prefix-map="$work"=/guest -ffile-prefix-map="$sys"=/sys \
    -nostdinc -isystem "$($CC --print-resource-dir)/include" -isystem "$sys/vendor/wasi-libc/include" \
    -I "$work/qjs" -I "$here" \
    -D_GNU_SOURCE -DEMSCRIPTEN=1 -DNDEBUG -DFE_DOWNWARD=0 -DFE_UPWARD=0 \
    -mbulk-memory -msign-ext -mnontrapping-fptoint -mmutable-globals -msimd128 \
    -Wno-implicit-const-int-float-conversion -Wno-unused -Wno-c23-extensions -Wno-macro-redefined \
    -fno-exceptions -fvisibility=hidden ${GUEST_FLAGS:-} \
    -nostdlib -Wl,--no-entry -Wl,-z,stack-size=1310720 -Wl,--stack-first -Wl,--gc-sections ${GUEST_STRIP:--Wl,--strip-all} \
    -Wl,--export=__stack_pointer -Wl,--export=isolith_interrupt -Wl,--export=isolith_inbox -Wl,--export-memory \
    guest.c libc.c "$sys/vendor/wasi-libc/lib/libc.a" \
    "$($CC --print-resource-dir)/lib/wasi/libclang_rt.builtins-wasm32.a" -o "$out"

if [ -n "$check" ]; then
    want=$(cut -d' ' -f1 guest.wasm.sha256)
    have=$(sha256sum "$out" | cut -d' ' -f1)
    committed=$(sha256sum guest.wasm | cut -d' ' -f1)
    if [ "$want" != "$committed" ]; then echo "guest.wasm is not what guest.wasm.sha256 names" >&2; exit 1; fi
    if [ "$want" != "$have" ]; then
        echo "guest.wasm does not rebuild: committed $want, built $have by $($CC --version | head -n 1)" >&2
        exit 1
    fi
    echo "guest.wasm rebuilds bit for bit ($have)"
elif [ "$out" = "$here/guest.wasm" ]; then
    sha256sum guest.wasm > guest.wasm.sha256
    ls -l guest.wasm
fi
