//! The library's functions, by name.
//!
//! Six are the wheel's own C functions, which set V8 up. The rest are V8's C++ functions under the names that the compiler gave
//! them: the wheel exports them all, and its hash is pinned, so what a name stands for cannot change. A `Local` and a `MaybeLocal` are
//! one pointer each, passed and given back like one.

use libloading::Library as Loaded;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

/// A pointer to a handle of V8's. It is good until the native function in which it was made returns.
pub(crate) type Local = *mut c_void;
pub(crate) type IsolatePtr = *mut c_void;
/// The wheel's number of a context.
pub(crate) type ContextId = u64;
/// What the wheel calls with values.
pub(crate) type Notify = extern "C" fn(u64, *mut c_void);
/// What V8 asks the system through, for all isolates of a process.
pub(crate) type Platform = *mut c_void;
/// What V8 calls for a function of ours. Its argument holds what the caller passed; we pass everything by the cell instead.
pub(crate) type Native = extern "C" fn(*const c_void);

/// `v8::Task`: an object with its table of functions in front.
#[repr(C)]
pub(crate) struct Task {
    pub(crate) table: &'static TaskTable,
}

/// The functions of a task: two ways to take it apart, and what it does.
#[repr(C)]
pub(crate) struct TaskTable {
    pub(crate) leave: extern "C" fn(*const Task),
    pub(crate) free: extern "C" fn(*const Task),
    pub(crate) run: extern "C" fn(*const Task),
}

/// `v8::PromiseRejectMessage`.
#[repr(C)]
pub(crate) struct Rejection {
    pub(crate) promise: Local,
    pub(crate) event: c_int,
    pub(crate) value: Local,
}

/// `v8::ScriptCompiler::Source`, and more room behind it than it needs.
#[repr(C)]
pub(crate) struct Source {
    pub(crate) text: Local,
    pub(crate) name: Local,
    pub(crate) line_offset: c_int,
    pub(crate) column_offset: c_int,
    pub(crate) options: c_int,
    pub(crate) source_map: Local,
    pub(crate) host_options: Local,
    pub(crate) rest: [usize; 24],
}

/// `v8::Location`, which comes back in one register.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Location {
    pub(crate) line: c_int,
    pub(crate) column: c_int,
}

/// `v8::Maybe<double>`.
#[repr(C)]
pub(crate) struct MaybeNumber {
    pub(crate) has: bool,
    pub(crate) value: f64,
}

pub(crate) type OnHeapLimit = extern "C" fn(*mut c_void, usize, usize) -> usize;
pub(crate) type Resolve = extern "C" fn(Local, Local, Local, Local) -> Local;
pub(crate) type ImportDynamically = extern "C" fn(Local, Local, Local, Local, Local) -> Local;

macro_rules! functions {
    ($($field:ident: $symbol:literal = fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// Every function that is used of the library.
        pub(crate) struct Functions { $(pub(crate) $field: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)* }

        impl Functions {
            fn find(loaded: &Loaded) -> Result<Functions, libloading::Error> {
                // SAFETY: the library is the one whose hash is pinned, and these are the signatures of its functions.
                unsafe { Ok(Functions { $($field: *loaded.get(concat!($symbol, "\0").as_bytes())?,)* }) }
            }
        }
    };
}

functions! {
    init_v8: "mr_init_v8" = fn(*const c_char, *const c_char);
    init_context: "mr_init_context" = fn(Notify) -> ContextId;
    eval: "mr_eval" = fn(ContextId, *mut c_void, u64) -> u64;
    alloc_string: "mr_alloc_string_val" = fn(ContextId, *const c_char, u64, u8) -> *mut c_void;
    make_callback: "mr_make_js_callback" = fn(ContextId, u64) -> *mut c_void;
    set_item: "mr_set_object_item" = fn(ContextId, *mut c_void, *mut c_void, *mut c_void) -> *mut c_void;

    current_platform: "_ZN2v88internal2V818GetCurrentPlatformEv" = fn() -> Platform;
    helper_count: "_ZN2v88platform15DefaultPlatform21NumberOfWorkerThreadsEv" = fn(Platform) -> c_int;
    start_helpers: "_ZN2v88platform15DefaultPlatform37EnsureBackgroundTaskRunnerInitializedEv" = fn(Platform);
    give_to_helper: "_ZN2v88platform15DefaultPlatform26PostTaskOnWorkerThreadImplENS_12TaskPriorityENSt4__Cr10unique_ptrINS_4TaskENS3_14default_deleteIS5_EEEERKNS_14SourceLocationE" = fn(Platform, c_int, *const Task, *const [usize; 3]);

    current_isolate: "_ZN2v87Isolate10GetCurrentEv" = fn() -> IsolatePtr;
    current_context: "_ZN2v87Isolate17GetCurrentContextEv" = fn(IsolatePtr) -> Local;
    checkpoint: "_ZN2v87Isolate26PerformMicrotaskCheckpointEv" = fn(IsolatePtr);
    terminate: "_ZN2v87Isolate18TerminateExecutionEv" = fn(IsolatePtr);
    is_terminating: "_ZN2v87Isolate22IsExecutionTerminatingEv" = fn(IsolatePtr) -> bool;
    request_interrupt: "_ZN2v87Isolate16RequestInterruptEPFvPS0_PvES2_" = fn(IsolatePtr, extern "C" fn(IsolatePtr, *mut c_void), *mut c_void);
    set_stack_limit: "_ZN2v87Isolate13SetStackLimitEm" = fn(IsolatePtr, usize);
    allow_waiting: "_ZN2v87Isolate19SetAllowAtomicsWaitEb" = fn(IsolatePtr, bool);
    on_rejection: "_ZN2v87Isolate24SetPromiseRejectCallbackEPFvNS_20PromiseRejectMessageEE" = fn(IsolatePtr, extern "C" fn(Rejection));
    on_stack_trace: "_ZN2v87Isolate28SetPrepareStackTraceCallbackEPFNS_10MaybeLocalINS_5ValueEEENS_5LocalINS_7ContextEEENS4_IS2_EENS4_INS_5ArrayEEEE" = fn(IsolatePtr, extern "C" fn(Local, Local, Local) -> Local);
    on_import: "_ZN2v87Isolate38SetHostImportModuleDynamicallyCallbackEPFNS_10MaybeLocalINS_7PromiseEEENS_5LocalINS_7ContextEEENS4_INS_4DataEEENS4_INS_5ValueEEENS4_INS_6StringEEENS4_INS_10FixedArrayEEEE" = fn(IsolatePtr, ImportDynamically);
    on_out_of_memory: "_ZN2v87Isolate18SetOOMErrorHandlerEPFvPKcRKNS_10OOMDetailsEE" = fn(IsolatePtr, extern "C" fn(*const c_char, *const c_void));
    on_fatal: "_ZN2v87Isolate20SetFatalErrorHandlerEPFvPKcS2_E" = fn(IsolatePtr, extern "C" fn(*const c_char, *const c_char));
    add_heap_limit: "_ZN2v87Isolate24AddNearHeapLimitCallbackEPFmPvmmES1_" = fn(IsolatePtr, OnHeapLimit, *mut c_void);
    remove_heap_limit: "_ZN2v87Isolate27RemoveNearHeapLimitCallbackEPFmPvmmEm" = fn(IsolatePtr, OnHeapLimit, usize);
    collect: "_ZN2v87Isolate21LowMemoryNotificationEv" = fn(IsolatePtr);
    on_collected: "_ZN2v87Isolate21AddGCEpilogueCallbackEPFvPS0_NS_6GCTypeENS_15GCCallbackFlagsEES2_" = fn(IsolatePtr, extern "C" fn(IsolatePtr, c_int, c_int), c_int);
    heap_statistics: "_ZN2v87Isolate17GetHeapStatisticsEPNS_14HeapStatisticsE" = fn(IsolatePtr, *mut usize);
    buffer_allocator: "_ZN2v87Isolate23GetArrayBufferAllocatorEv" = fn(IsolatePtr) -> *mut *const usize;
    type_error: "_ZN2v89Exception9TypeErrorENS_5LocalINS_6StringEEENS1_INS_5ValueEEE" = fn(Local, Local) -> Local;
    throw: "_ZN2v87Isolate14ThrowExceptionENS_5LocalINS_5ValueEEE" = fn(IsolatePtr, Local) -> Local;

    global: "_ZN2v87Context6GlobalEv" = fn(Local) -> Local;
    globalize: "_ZN2v812api_internal18GlobalizeReferenceEPNS_8internal7IsolateEm" = fn(IsolatePtr, usize) -> Local;
    new_function: "_ZN2v88Function3NewENS_5LocalINS_7ContextEEEPFvRKNS_20FunctionCallbackInfoINS_5ValueEEEENS1_INS_4DataEEEiNS_19ConstructorBehaviorENS_14SideEffectTypeE" = fn(Local, Native, Local, c_int, c_int, c_int) -> Local;
    call_function: "_ZN2v88Function4CallENS_5LocalINS_7ContextEEENS1_INS_5ValueEEEiPS5_" = fn(Local, Local, Local, c_int, *const Local) -> Local;
    new_array: "_ZN2v85Array3NewEPNS_7IsolateEi" = fn(IsolatePtr, c_int) -> Local;
    get: "_ZN2v86Object3GetENS_5LocalINS_7ContextEEEj" = fn(Local, Local, u32) -> Local;
    set: "_ZN2v86Object3SetENS_5LocalINS_7ContextEEEjNS1_INS_5ValueEEE" = fn(Local, Local, u32, Local) -> u16;
    new_number: "_ZN2v86Number3NewEPNS_7IsolateEd" = fn(IsolatePtr, f64) -> Local;
    number_value: "_ZNK2v85Value11NumberValueENS_5LocalINS_7ContextEEE" = fn(Local, Local) -> MaybeNumber;
    new_string: "_ZN2v86String11NewFromUtf8EPNS_7IsolateEPKcNS_13NewStringTypeEi" = fn(IsolatePtr, *const c_char, c_int, c_int) -> Local;
    string_bytes: "_ZNK2v86String12Utf8LengthV2EPNS_7IsolateE" = fn(Local, IsolatePtr) -> usize;
    write_string: "_ZNK2v86String11WriteUtf8V2EPNS_7IsolateEPcmiPm" = fn(Local, IsolatePtr, *mut c_char, usize, c_int, *mut usize) -> usize;
    is_name: "_ZNK2v85Value6IsNameEv" = fn(Local) -> bool;
    is_symbol: "_ZNK2v85Value8IsSymbolEv" = fn(Local) -> bool;
    is_number: "_ZNK2v85Value8IsNumberEv" = fn(Local) -> bool;
    is_view: "_ZNK2v85Value17IsArrayBufferViewEv" = fn(Local) -> bool;
    is_promise: "_ZNK2v85Value9IsPromiseEv" = fn(Local) -> bool;
    is_proxy: "_ZNK2v85Value7IsProxyEv" = fn(Local) -> bool;
    promise_state: "_ZN2v87Promise5StateEv" = fn(Local) -> c_int;
    promise_result: "_ZN2v87Promise6ResultEv" = fn(Local) -> Local;
    proxy_target: "_ZN2v85Proxy9GetTargetEv" = fn(Local) -> Local;
    proxy_is_revoked: "_ZNK2v85Proxy9IsRevokedEv" = fn(Local) -> bool;
    new_buffer: "_ZN2v811ArrayBuffer3NewEPNS_7IsolateEmNS_30BackingStoreInitializationModeE" = fn(IsolatePtr, usize, c_int) -> Local;
    buffer_data: "_ZNK2v811ArrayBuffer4DataEv" = fn(Local) -> *mut u8;
    view_bytes: "_ZN2v815ArrayBufferView10ByteLengthEv" = fn(Local) -> usize;
    copy_view: "_ZN2v815ArrayBufferView12CopyContentsEPvm" = fn(Local, *mut u8, usize) -> usize;
    compile: "_ZN2v814ScriptCompiler7CompileENS_5LocalINS_7ContextEEEPNS0_6SourceENS0_14CompileOptionsENS0_13NoCacheReasonE" = fn(Local, *mut Source, c_int, c_int) -> Local;
    run: "_ZN2v86Script3RunENS_5LocalINS_7ContextEEE" = fn(Local, Local) -> Local;
    compile_module: "_ZN2v814ScriptCompiler13CompileModuleEPNS_7IsolateEPNS0_6SourceENS0_14CompileOptionsENS0_13NoCacheReasonE" = fn(IsolatePtr, *mut Source, c_int, c_int) -> Local;
    instantiate: "_ZN2v86Module17InstantiateModuleENS_5LocalINS_7ContextEEEPFNS_10MaybeLocalIS0_EES3_NS1_INS_6StringEEENS1_INS_10FixedArrayEEENS1_IS0_EEEPFNS4_INS_6ObjectEEES3_S7_S9_SA_E" = fn(Local, Local, Resolve, *const c_void) -> u16;
    evaluate: "_ZN2v86Module8EvaluateENS_5LocalINS_7ContextEEE" = fn(Local, Local) -> Local;
    module_namespace: "_ZN2v86Module18GetModuleNamespaceEv" = fn(Local) -> Local;
    module_name: "_ZNK2v86Module15GetResourceNameEv" = fn(Local) -> Local;
    stack_trace: "_ZN2v810StackTrace17CurrentStackTraceEPNS_7IsolateEiNS0_17StackTraceOptionsE" = fn(IsolatePtr, c_int, c_int) -> Local;
    frame_count: "_ZNK2v810StackTrace13GetFrameCountEv" = fn(Local) -> c_int;
    frame: "_ZNK2v810StackTrace8GetFrameEPNS_7IsolateEj" = fn(Local, IsolatePtr, u32) -> Local;
    frame_location: "_ZNK2v810StackFrame11GetLocationEv" = fn(Local) -> Location;
    frame_script: "_ZNK2v810StackFrame13GetScriptNameEv" = fn(Local) -> Local;
    frame_function: "_ZNK2v810StackFrame15GetFunctionNameEv" = fn(Local) -> Local;
}

/// The library, loaded for as long as the process lives.
pub(crate) fn load(file: &Path) -> Result<&'static Functions, libloading::Error> {
    // SAFETY: what the library does when it is loaded is what the pinned file does: it registers its own statics.
    let loaded = Box::leak(Box::new(unsafe { Loaded::new(file) }?));
    Ok(Box::leak(Box::new(Functions::find(loaded)?)))
}
