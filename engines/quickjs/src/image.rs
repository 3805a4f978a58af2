use crate::codegen;
use crate::guest::{self, Guest};
use crate::meter::{Meter, Verdict};
use crate::protocol;
use isolith_core::{Digest, EngineError, Limits, OutputSink, Timestamp};
use std::sync::{Arc, OnceLock};
use wasmtime::{
    Enabled, Engine, Extern, Instance, InstanceAllocationStrategy, InstancePre, Linker, Memory, Module, ModuleExport,
    PoolingAllocationConfig, Store, TypedFunc, UpdateDeadline,
};

static CODE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guest.cwasm"));
static DIGEST: &[u8; 32] = include_bytes!(concat!(env!("OUT_DIR"), "/image.digest"));

// THREAT[T-ENGINE-002]: deep recursion in the interpreter's own C must end as a trap of one run, never as a fault of the process.
/// What the compiled guest may use of its native stack. The guest's own limit on the depth of calls always comes first;
/// this one stops what that would miss.
const NATIVE_STACK_BYTES: usize = 8 << 20;
/// For our own functions that the guest calls when its stack is nearly used up.
const HOST_STACK_BYTES: usize = 1 << 20;
/// Dirty memory up to this size is put right by copying when a slot is used again; the rest is given back to the system.
const KEEP_RESIDENT_BYTES: usize = 1 << 20;
const INSTANCE_BYTES_MAX: usize = 64 << 10;
const TABLE_ELEMENTS_MAX: usize = 1_024;
/// More than the table, so that it is always put right by copying and never given back to the system.
const TABLE_KEEP_RESIDENT_BYTES: usize = 64 << 10;
/// The largest memory a limit can ask for.
const MEMORY_BYTES_MAX: usize = 1 << 30;

/// The compiled guest with its heap set up, ready to be instantiated.
pub(crate) struct Image {
    engine: Engine,
    pre: InstancePre<Guest>,
    exports: Exports,
    base: OnceLock<Base>,
    addresses: OnceLock<Addresses>,
}

/// Places in the guest's memory, the same in every instance.
#[derive(Clone, Copy)]
struct Addresses {
    interrupt: usize,
    inbox: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Exports {
    memory: ModuleExport,
    stack_pointer: ModuleExport,
    interrupt: ModuleExport,
    inbox: ModuleExport,
    reserve: ModuleExport,
    start: ModuleExport,
    turn: ModuleExport,
}

/// A fresh isolate's state: suspended runs are differences from it.
pub(crate) struct Base {
    pub(crate) memory: Box<[u8]>,
    pub(crate) stack_pointer: i32,
}

/// One instance of the guest.
pub(crate) struct Live {
    pub(crate) store: Store<Guest>,
    pub(crate) instance: Instance,
    pub(crate) memory: Memory,
    inbox: usize,
    /// Looked up once: a run may take many turns.
    turn: Option<TypedFunc<u32, i32>>,
}

impl Image {
    /// `live` isolates can exist at one time.
    pub(crate) fn load(live: u32) -> Result<Image, EngineError> {
        let doing = |doing| move |source: wasmtime::Error| EngineError::Internal { doing, source: source.into() };
        let mut pool = PoolingAllocationConfig::new();
        pool.total_core_instances(live)
            .total_memories(live)
            .total_tables(live)
            // An isolate that waits keeps the stack it last computed on.
            .total_stacks(live)
            .max_memory_size(MEMORY_BYTES_MAX)
            .max_core_instance_size(INSTANCE_BYTES_MAX)
            .table_elements(TABLE_ELEMENTS_MAX)
            .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
            .table_keep_resident(TABLE_KEEP_RESIDENT_BYTES)
            .max_unused_warm_slots(live)
            .pagemap_scan(Enabled::Auto);
        let mut config = codegen::config();
        config
            .max_wasm_stack(NATIVE_STACK_BYTES)
            .async_stack_size(NATIVE_STACK_BYTES + HOST_STACK_BYTES)
            .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
        let engine = Engine::new(&config).map_err(doing("reserving memory for isolates"))?;
        let module = load_code(&engine).map_err(doing("loading the compiled guest"))?;
        let mut linker = Linker::new(&engine);
        guest::link(&mut linker).map_err(doing("linking the guest"))?;
        let pre = linker.instantiate_pre(&module).map_err(doing("linking the guest"))?;
        let export = |name: &str| {
            module.get_export_index(name).ok_or_else(|| EngineError::Internal {
                doing: "looking at the guest's exports",
                source: format!("there is no `{name}`").into(),
            })
        };
        let exports = Exports {
            memory: export("memory")?,
            stack_pointer: export("__stack_pointer")?,
            interrupt: export("isolith_interrupt")?,
            inbox: export("isolith_inbox")?,
            reserve: export("reserve")?,
            start: export("start")?,
            turn: export("turn")?,
        };
        Ok(Image { engine, pre, exports, base: OnceLock::new(), addresses: OnceLock::new() })
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn digest() -> Digest {
        Digest(*DIGEST)
    }

    /// Maps the image copy-on-write.
    pub(crate) fn instantiate(
        &self,
        limits: Limits,
        meter: Arc<Meter>,
        sink: Arc<dyn OutputSink>,
    ) -> wasmtime::Result<Live> {
        let guest = Guest {
            limits,
            meter,
            sink,
            relay: None,
            now: Timestamp::default(),
            memory: None,
            interrupt_at: 0,
            may_yield: false,
            calls: Vec::new(),
            held: Default::default(),
            used: Default::default(),
            end: None,
            stop: None,
        };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| guest);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut cx| {
            let guest = cx.data_mut();
            let go_on = if guest.may_yield { UpdateDeadline::Yield(1) } else { UpdateDeadline::Continue(1) };
            match guest.meter.look() {
                Verdict::Go => Ok(go_on),
                Verdict::CutOff => Ok(UpdateDeadline::Interrupt),
                Verdict::Ask => {
                    let at = guest.interrupt_at;
                    if let Some(memory) = guest.memory {
                        memory.write(&mut cx, at, &1i32.to_le_bytes())?;
                    }
                    Ok(go_on)
                }
            }
        });
        let instance = self.pre.instantiate(&mut store)?;
        let memory = export(&mut store, &instance, &self.exports.memory, Extern::into_memory)?;
        let addresses = match self.addresses.get() {
            Some(addresses) => *addresses,
            None => {
                let mut address = |index| -> wasmtime::Result<usize> {
                    let global = export(&mut store, &instance, index, Extern::into_global)?;
                    Ok(global.get(&mut store).unwrap_i32() as usize)
                };
                let (interrupt, inbox) = (address(&self.exports.interrupt)?, address(&self.exports.inbox)?);
                *self.addresses.get_or_init(|| Addresses { interrupt, inbox })
            }
        };
        let guest = store.data_mut();
        guest.memory = Some(memory);
        guest.interrupt_at = addresses.interrupt;
        Ok(Live { store, instance, memory, inbox: addresses.inbox, turn: None })
    }

    /// The fresh state, read once when it is first needed.
    pub(crate) fn base(&self) -> wasmtime::Result<&Base> {
        if let Some(base) = self.base.get() {
            return Ok(base);
        }
        let meter = Arc::new(Meter::new(std::time::Duration::MAX, std::time::Duration::ZERO));
        let mut live = self.instantiate(Limits::default(), meter, Arc::new(Silence))?;
        let stack_pointer = live.stack_pointer(&self.exports)?;
        let memory = live.memory.data(&live.store).into();
        Ok(self.base.get_or_init(|| Base { memory, stack_pointer }))
    }

    pub(crate) fn exports(&self) -> &Exports {
        &self.exports
    }
}

/// Where nobody listens.
pub(crate) struct Silence;

impl OutputSink for Silence {
    fn write(&self, _: isolith_core::Stream, _: String, _: Timestamp) {}
}

#[expect(unsafe_code, reason = "Wasmtime cannot know that compiled code is ours")]
fn load_code(engine: &Engine) -> wasmtime::Result<Module> {
    // SAFETY: the bytes are what this crate's own build script compiled, embedded in this very binary.
    unsafe { Module::deserialize(engine, CODE) }
}

fn export<T>(
    store: &mut Store<Guest>,
    instance: &Instance,
    index: &ModuleExport,
    into: impl FnOnce(Extern) -> Option<T>,
) -> wasmtime::Result<T> {
    let found = instance.get_module_export(store, index);
    found.and_then(into).ok_or_else(|| wasmtime::format_err!("the guest lacks an export"))
}

impl Live {
    fn func<P: wasmtime::WasmParams, R: wasmtime::WasmResults>(
        &mut self,
        index: &ModuleExport,
    ) -> wasmtime::Result<TypedFunc<P, R>> {
        export(&mut self.store, &self.instance, index, Extern::into_func)?.typed(&self.store)
    }

    pub(crate) fn stack_pointer(&mut self, exports: &Exports) -> wasmtime::Result<i32> {
        let global = export(&mut self.store, &self.instance, &exports.stack_pointer, Extern::into_global)?;
        Ok(global.get(&mut self.store).unwrap_i32())
    }

    /// Copies a message into the guest and lets it run on it.
    pub(crate) async fn enter(&mut self, exports: &Exports, message: &[u8], entry: Entry) -> wasmtime::Result<i32> {
        let at = if message.len() < protocol::INBOX_BYTES {
            self.inbox
        } else {
            let reserve = self.func::<u32, u32>(&exports.reserve)?;
            reserve.call(&mut self.store, message.len() as u32)? as usize
        };
        self.memory.write(&mut self.store, at, message)?;
        // The final 0 that texts are read up to.
        self.memory.write(&mut self.store, at + message.len(), &[0])?;
        let func = match (entry, &self.turn) {
            (Entry::Start, _) => self.func::<u32, i32>(&exports.start)?,
            (Entry::Turn, Some(turn)) => turn.clone(),
            (Entry::Turn, None) => {
                let turn = self.func::<u32, i32>(&exports.turn)?;
                self.turn.insert(turn).clone()
            }
        };
        self.store.data_mut().may_yield = true;
        let status = func.call_async(&mut self.store, message.len() as u32).await;
        self.store.data_mut().may_yield = false;
        status
    }
}

/// The guest's two ways in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Start,
    Turn,
}
