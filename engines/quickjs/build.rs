//! Makes the image: runs the prelude once inside the guest, freezes its memory into the module, compiles it ahead of time.

#![allow(clippy::panic, reason = "a build script says what is wrong by failing")]

#[path = "src/codegen.rs"]
mod codegen;

use std::error::Error;
use std::path::{Path, PathBuf};
use wasmtime::{Caller, Config, Engine, Instance, Linker, Memory, Module, OptLevel, Store, Val};
use wasmtime_wizer::{InstanceState, SnapshotVal, ValType, Wizer};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=guest/guest.wasm");
    println!("cargo::rerun-if-changed=src/codegen.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("no OUT_DIR")?);
    let wasm = std::fs::read("guest/guest.wasm")?;
    let image = snapshot(&wasm, &isolith_prelude::source())?;
    write_code(&out, &image)?;
    let digest = blake3::hash(&image);
    std::fs::write(out.join("image.digest"), digest.as_bytes())?;
    Ok(())
}

/// Compiles for the machine's architecture at a level every such machine of the last fifteen years has, not for the
/// machine that happens to build: a binary must run where it is copied to.
#[expect(unsafe_code, reason = "Cranelift's own flags are set by name")]
fn write_code(out: &Path, image: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut config = codegen::config();
    config.cranelift_opt_level(OptLevel::Speed);
    let target = std::env::var("TARGET")?;
    config.target(&target)?;
    if target.starts_with("x86_64") {
        for flag in ["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"] {
            // SAFETY: these are boolean flags of the x86-64 backend, and the engine refuses to load code whose flags
            // the machine at hand does not have.
            unsafe { config.cranelift_flag_enable(flag) };
        }
    }
    std::fs::write(out.join("guest.cwasm"), Engine::new(&config)?.precompile_module(image)?)?;
    Ok(())
}

#[derive(Default)]
struct Host {
    memory: Option<Memory>,
    failure: Option<String>,
}

/// The guest module with the JavaScript heap already set up.
fn snapshot(wasm: &[u8], prelude: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut wizer = Wizer::new();
    wizer.init_func("init");
    let (cx, instrumented) = wizer.instrument(wasm)?;
    // This code runs once; compiling it well would take longer.
    let engine = Engine::new(Config::new().cranelift_opt_level(OptLevel::None))?;
    let module = Module::new(&engine, &instrumented)?;
    let mut linker = Linker::<Host>::new(&engine);
    linker.func_wrap("isolith", "end", |mut caller: Caller<'_, Host>, _kind: u32, at: u32, len: u32| {
        let memory = caller.data().memory;
        let text = memory.and_then(|m| m.data(&caller).get(at as usize..)?.get(..len as usize).map(<[u8]>::to_vec));
        caller.data_mut().failure = Some(String::from_utf8_lossy(&text.unwrap_or_default()).into_owned());
    })?;
    linker.define_unknown_imports_as_traps(&module)?;
    let mut store = Store::new(&engine, Host::default());
    let instance = linker.instantiate(&mut store, &module)?;
    let memory = instance.get_memory(&mut store, "memory").ok_or("the guest has no memory")?;
    store.data_mut().memory = Some(memory);
    instance.get_typed_func::<(), ()>(&mut store, "init")?.call(&mut store, ())?;
    let len = prelude.len() as u32;
    let at = instance.get_typed_func::<u32, u32>(&mut store, "reserve")?.call(&mut store, len)?;
    memory.write(&mut store, at as usize, prelude.as_bytes())?;
    let status = instance.get_typed_func::<u32, i32>(&mut store, "prelude")?.call(&mut store, len)?;
    if status != 0 {
        return Err(format!("the prelude failed: {:?}", store.data().failure).into());
    }
    Ok(ready(wizer.snapshot(&cx, &mut Guest { store, instance }))?)
}

struct Guest {
    store: Store<Host>,
    instance: Instance,
}

impl InstanceState for Guest {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        match self.instance.get_global(&mut self.store, name).map(|g| g.get(&mut self.store)) {
            Some(Val::I32(x)) => SnapshotVal::I32(x),
            Some(Val::I64(x)) => SnapshotVal::I64(x),
            other => panic!("global {name} is {other:?}"),
        }
    }

    async fn memory_contents(&mut self, name: &str, read: impl FnOnce(&[u8]) + Send) {
        let memory = self.instance.get_memory(&mut self.store, name);
        read(memory.unwrap_or_else(|| panic!("no memory {name}")).data(&self.store));
    }
}

/// The futures here never wait.
fn ready<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut cx) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the snapshot waits"),
    }
}
