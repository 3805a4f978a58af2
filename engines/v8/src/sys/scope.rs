//! What a native sees of V8 while it runs: the cell, and values made of and for it.

use super::library::{Functions, IsolatePtr, Local, Source};
use super::v8::{Kept, State};
use std::ffi::c_int;
use std::ptr::null_mut;

/// `String::WriteFlags::kReplaceInvalidUtf8`.
const REPLACE_INVALID: c_int = 2;
/// The option of a script's origin that says it is a module.
const IS_MODULE: c_int = 8;

/// When the functions of a script are compiled, by V8's numbers.
#[derive(Clone, Copy)]
pub(crate) enum Compile {
    /// Each when it is first called.
    Lazily = 0,
    /// All at once: for what every copy would have to compile otherwise.
    AllAtOnce = 2,
}

/// The isolate and its context, for as long as a native runs. It stays on the isolate's thread.
pub(crate) struct Scope {
    state: &'static State,
    context: Local,
}

impl Scope {
    /// For the isolate's own thread, inside a function that JavaScript has called.
    pub(super) fn new(state: &'static State) -> Scope {
        // SAFETY: the isolate is this thread's own.
        Scope { state, context: unsafe { (state.functions.current_context)(state.isolate) } }
    }

    fn functions(&self) -> &'static Functions {
        self.state.functions
    }

    pub(super) fn isolate(&self) -> IsolatePtr {
        self.state.isolate
    }

    /// What is in a slot of the cell. The cell is a plain array, so nothing of the program's is asked.
    fn slot(&self, slot: u32) -> Local {
        // SAFETY: the cell is an array of this context.
        let value = unsafe { (self.functions().get)(self.state.cell.0, self.context, slot) };
        if value.is_null() { self.state.undefined.0 } else { value }
    }

    pub(super) fn put(&self, slot: u32, value: Local) {
        let value = if value.is_null() { self.state.undefined.0 } else { value };
        // SAFETY: as above, and the value is a handle of this isolate.
        unsafe { (self.functions().set)(self.state.cell.0, self.context, slot, value) };
    }

    pub(crate) fn put_nothing(&self, slot: u32) {
        self.put(slot, self.state.undefined.0);
    }

    pub(crate) fn put_number(&self, slot: u32, number: f64) {
        // SAFETY: the isolate is this thread's own.
        self.put(slot, unsafe { (self.functions().new_number)(self.isolate(), number) });
    }

    /// Puts a text; nothing when it is longer than V8's strings can be.
    pub(crate) fn put_text(&self, slot: u32, text: &str) {
        self.put(slot, self.string(text));
    }

    /// Puts an `ArrayBuffer` with these bytes.
    pub(crate) fn put_bytes(&self, slot: u32, bytes: &[u8]) {
        let functions = self.functions();
        // SAFETY: the buffer has as many bytes as are copied into it, and nobody else has it yet.
        unsafe {
            let buffer = (functions.new_buffer)(self.isolate(), bytes.len(), 0);
            let data = (functions.buffer_data)(buffer);
            if !data.is_null() {
                data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            }
            self.put(slot, buffer);
        }
    }

    pub(crate) fn number(&self, slot: u32) -> Option<f64> {
        let value = self.slot(slot);
        // SAFETY: the value is a handle of this isolate, and a number, so that no code of the program is asked for one.
        unsafe {
            if !(self.functions().is_number)(value) {
                return None;
            }
            let number = (self.functions().number_value)(value, self.context);
            number.has.then_some(number.value)
        }
    }

    /// A text as UTF-8, in which lone surrogates are replaced; nothing when it is none.
    pub(crate) fn text(&self, slot: u32) -> Option<String> {
        self.text_within(slot, usize::MAX).ok()?
    }

    /// The same, but how many bytes it has when that is more than `most`.
    pub(crate) fn text_within(&self, slot: u32, most: usize) -> Result<Option<String>, usize> {
        self.read_text(self.slot(slot), most)
    }

    /// As much of a text as fits, as UTF-8.
    pub(crate) fn text_prefix(&self, slot: u32, most: usize) -> Vec<u8> {
        let value = self.slot(slot);
        if self.is_text(value) { self.write_text(value, most) } else { Vec::new() }
    }

    pub(super) fn read_text(&self, value: Local, most: usize) -> Result<Option<String>, usize> {
        if !self.is_text(value) {
            return Ok(None);
        }
        // SAFETY: the value is a string.
        let len = unsafe { (self.functions().string_bytes)(value, self.isolate()) };
        if len > most {
            return Err(len);
        }
        let bytes = self.write_text(value, len);
        Ok(Some(String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())))
    }

    fn is_text(&self, value: Local) -> bool {
        // SAFETY: the value is a handle of this isolate. What is a name and no symbol is a string.
        unsafe { !value.is_null() && (self.functions().is_name)(value) && !(self.functions().is_symbol)(value) }
    }

    fn write_text(&self, value: Local, most: usize) -> Vec<u8> {
        // SAFETY: the value is a string, and what is written is at most what there is room for.
        unsafe {
            let len = (self.functions().string_bytes)(value, self.isolate()).min(most);
            let mut bytes = vec![0u8; len];
            let to = bytes.as_mut_ptr().cast();
            let written = (self.functions().write_string)(value, self.isolate(), to, len, REPLACE_INVALID, null_mut());
            bytes.truncate(written);
            bytes
        }
    }

    /// The bytes of a typed array or a view; nothing when it is none.
    pub(crate) fn bytes(&self, slot: u32) -> Option<Vec<u8>> {
        let value = self.slot(slot);
        // SAFETY: the value is a view, and what is copied is at most what there is room for.
        unsafe {
            if !(self.functions().is_view)(value) {
                return None;
            }
            let mut bytes = vec![0u8; (self.functions().view_bytes)(value)];
            let copied = (self.functions().copy_view)(value, bytes.as_mut_ptr(), bytes.len());
            bytes.truncate(copied);
            Some(bytes)
        }
    }

    /// How many bytes a typed array or a view has.
    pub(crate) fn byte_count(&self, slot: u32) -> usize {
        let value = self.slot(slot);
        // SAFETY: the value is a view when it is asked for its length.
        unsafe { if (self.functions().is_view)(value) { (self.functions().view_bytes)(value) } else { 0 } }
    }

    /// The state of the promise in a slot, whose result is then in its place; nothing when it is none.
    pub(crate) fn peek_promise(&self, slot: u32) -> Option<i32> {
        let value = self.slot(slot);
        // SAFETY: the value is known to be a promise before it is taken for one, and settled before its result is asked for.
        unsafe {
            if !(self.functions().is_promise)(value) {
                return None;
            }
            let state = (self.functions().promise_state)(value);
            let result = if state == 0 { self.state.undefined.0 } else { (self.functions().promise_result)(value) };
            self.put(slot, result);
            Some(state)
        }
    }

    /// Whether the proxy in a slot is revoked; its target is then in its place. Nothing when it is no proxy.
    pub(crate) fn peek_proxy(&self, slot: u32) -> Option<bool> {
        let value = self.slot(slot);
        // SAFETY: the value is known to be a proxy before it is taken for one.
        unsafe {
            if !(self.functions().is_proxy)(value) {
                return None;
            }
            let revoked = (self.functions().proxy_is_revoked)(value);
            if !revoked {
                self.put(slot, (self.functions().proxy_target)(value));
            }
            Some(revoked)
        }
    }

    /// Runs every job that is ready. Natives are called meanwhile.
    pub(crate) fn run_jobs(&self) {
        // SAFETY: the isolate is this thread's own, and V8 does nothing when jobs are being run already.
        unsafe { (self.functions().checkpoint)(self.isolate()) };
    }

    pub(super) fn string(&self, text: &str) -> Local {
        let Ok(len) = c_int::try_from(text.len()) else { return null_mut() };
        // SAFETY: the text is valid for its length, and copied.
        unsafe { (self.functions().new_string)(self.isolate(), text.as_ptr().cast(), 0, len) }
    }

    /// Calls a function. Nothing when it threw or was stopped; then that is what its caller sees when we return to it.
    pub(super) fn call(&self, function: Local, arguments: &[Local]) -> Option<Local> {
        // SAFETY: the function and its arguments are handles of this isolate, and the list is as long as is said.
        let result = unsafe {
            let receiver = (self.functions().global)(self.context);
            (self.functions().call_function)(
                function,
                self.context,
                receiver,
                arguments.len() as c_int,
                arguments.as_ptr(),
            )
        };
        (!result.is_null()).then_some(result)
    }

    /// Compiles a script; `first_line` is counted from 0.
    pub(super) fn compile(&self, name: &str, text: &str, first_line: i32, when: Compile) -> Option<Local> {
        let mut source = self.source(name, text, first_line, 0);
        // SAFETY: the source has V8's layout, with room to spare, and is only used during the call.
        let script = unsafe { (self.functions().compile)(self.context, &raw mut source, when as c_int, 0) };
        (!script.is_null()).then_some(script)
    }

    fn source(&self, name: &str, text: &str, first_line: i32, options: c_int) -> Source {
        Source {
            text: self.string(text),
            name: self.string(name),
            line_offset: first_line,
            column_offset: 0,
            options,
            source_map: null_mut(),
            host_options: null_mut(),
            rest: [0; 24],
        }
    }

    pub(super) fn run(&self, script: Local) -> Option<Local> {
        // SAFETY: the script was compiled for this context.
        let value = unsafe { (self.functions().run)(script, self.context) };
        (!value.is_null()).then_some(value)
    }

    pub(super) fn keep(&self, local: Local) -> Kept {
        // SAFETY: a handle points to the address that a global handle is made of.
        Kept(unsafe { (self.functions().globalize)(self.isolate(), *local.cast::<usize>()) })
    }

    pub(super) fn compile_module(&self, name: &str, text: &str) -> Option<Local> {
        let mut source = self.source(name, text, 0, IS_MODULE);
        // SAFETY: the source has V8's layout, with room to spare, and is only used during the call.
        let module = unsafe { (self.functions().compile_module)(self.isolate(), &raw mut source, 0, 0) };
        (!module.is_null()).then_some(module)
    }

    pub(super) fn module_name(&self, module: Local) -> String {
        // SAFETY: the module is one.
        let name = unsafe { (self.functions().module_name)(module) };
        self.read_text(name, usize::MAX).ok().flatten().unwrap_or_default()
    }

    /// Links a module to what it imports and evaluates it; gives the promise of its end.
    pub(super) fn evaluate_module(&self, module: Local) -> Option<Local> {
        // SAFETY: the module was compiled for this context, and `on_resolve` has the signature that V8 calls.
        unsafe {
            if (self.functions().instantiate)(module, self.context, super::callbacks::on_resolve, std::ptr::null())
                & 0xff
                == 0
            {
                return None;
            }
            let promise = (self.functions().evaluate)(module, self.context);
            (!promise.is_null()).then_some(promise)
        }
    }

    pub(super) fn namespace(&self, module: Local) -> Local {
        // SAFETY: the module is linked.
        unsafe { (self.functions().module_namespace)(module) }
    }

    pub(super) fn source_of(&self, module: &str) -> Option<String> {
        (self.state.modules)(module)
    }

    /// Throws what the class `TypeError` makes of a message, when the native returns.
    pub(super) fn throw_type_error(&self, message: &str) {
        // SAFETY: both take handles of this isolate.
        unsafe {
            let error = (self.functions().type_error)(self.string(message), null_mut());
            (self.functions().throw)(self.isolate(), error);
        }
    }
}
