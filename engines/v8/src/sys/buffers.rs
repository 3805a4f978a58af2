//! The memory of array buffers: V8's own allocator, with a count in front of it and spare blocks behind it.
//!
//! V8 fetches each buffer from the system anew and gives it back when it is dead. For a program that makes one after the other that is
//! mostly page faults, so that large blocks are kept for the next buffer of their size.

use super::library::{Functions, IsolatePtr};
use super::memory::{bytes_left, given, has_room, refused};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// In the table of an allocator's virtual functions.
const TABLE_LEN: usize = 7;
const ALLOCATE: usize = 2;
const ALLOCATE_UNINITIALIZED: usize = 3;
const FREE: usize = 4;
/// What is smaller costs little.
const KEPT_BYTES_MIN: usize = 64 << 10;
/// What all spare blocks may have: about what V8 lets die before it looks.
const SPARE_BYTES_MAX: usize = 64 << 20;

static ALLOCATOR: OnceLock<[usize; TABLE_LEN]> = OnceLock::new();
/// Bytes of the buffers that are alive.
static USED: AtomicUsize = AtomicUsize::new(0);
static SPARES: Mutex<Spares> = Mutex::new(Spares { blocks: VecDeque::new(), bytes: 0 });

type Allocate = extern "C" fn(*mut c_void, usize) -> *mut c_void;
type GiveBack = extern "C" fn(*mut c_void, *mut c_void, usize);

/// Blocks that were given back, the oldest first.
struct Spares {
    blocks: VecDeque<Block>,
    bytes: usize,
}

struct Block {
    data: *mut c_void,
    len: usize,
}

// SAFETY: a spare block belongs to nobody else.
unsafe impl Send for Block {}

impl Spares {
    fn take(&mut self, len: usize) -> Option<*mut c_void> {
        let newest = self.blocks.iter().rposition(|block| block.len == len)?;
        self.bytes -= len;
        self.blocks.remove(newest).map(|block| block.data)
    }

    fn put(&mut self, block: Block) {
        self.bytes += block.len;
        self.blocks.push_back(block);
    }

    /// The oldest block, as long as there is more than so many bytes.
    fn pop_above(&mut self, bytes: usize) -> Option<Block> {
        let block = if self.bytes > bytes { self.blocks.pop_front() } else { None }?;
        self.bytes -= block.len;
        Some(block)
    }
}

fn spares() -> MutexGuard<'static, Spares> {
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes of the buffers that are alive.
pub(super) fn bytes_used() -> usize {
    USED.load(Relaxed)
}

/// Puts our functions in the place of the allocator's.
pub(super) fn install(functions: &Functions, isolate: IsolatePtr) {
    // SAFETY: the allocator is an object with a pointer to its table of virtual functions in front; it gets a table of ours, which is
    // never freed, with three entries replaced and the others as they were.
    unsafe {
        let allocator = (functions.buffer_allocator)(isolate);
        let mut table = [0usize; TABLE_LEN];
        table.copy_from_slice(std::slice::from_raw_parts(*allocator, TABLE_LEN));
        let _ = ALLOCATOR.set(table);
        table[ALLOCATE] = allocate as *const () as usize;
        table[ALLOCATE_UNINITIALIZED] = allocate_uninitialized as *const () as usize;
        table[FREE] = free as *const () as usize;
        *allocator = Box::leak(Box::new(table)).as_ptr();
    }
}

extern "C" fn allocate(this: *mut c_void, len: usize) -> *mut c_void {
    counted(len, || match take(len) {
        Some(data) => {
            // SAFETY: the block has so many bytes, and was a spare.
            unsafe { data.cast::<u8>().write_bytes(0, len) };
            data
        }
        None => fetch(this, len, ALLOCATE),
    })
}

extern "C" fn allocate_uninitialized(this: *mut c_void, len: usize) -> *mut c_void {
    counted(len, || take(len).unwrap_or_else(|| fetch(this, len, ALLOCATE_UNINITIALIZED)))
}

/// Lets go of the spares at once: who finds none that fits may give them all back.
fn take(len: usize) -> Option<*mut c_void> {
    spares().take(len)
}

fn counted(len: usize, allocate: impl FnOnce() -> *mut c_void) -> *mut c_void {
    let data = if has_room(len) { allocate() } else { null_mut() };
    // Where there is room by our count, the system may still have none.
    if data.is_null() {
        refused(len);
    } else {
        USED.fetch_add(len, Relaxed);
        given(len);
    }
    data
}

/// A block from V8's allocator, for which the spares make room.
fn fetch(this: *mut c_void, len: usize, entry: usize) -> *mut c_void {
    let Some(table) = ALLOCATOR.get() else { return null_mut() };
    // SAFETY: the entry is the allocator's own function of this signature.
    let fetch = unsafe { std::mem::transmute::<usize, Allocate>(table[entry]) };
    clear_above(this, bytes_left().saturating_sub(len));
    fetch(this, len)
}

extern "C" fn free(this: *mut c_void, data: *mut c_void, len: usize) {
    USED.fetch_sub(len.min(bytes_used()), Relaxed);
    let block = Block { data, len };
    if (KEPT_BYTES_MIN..=SPARE_BYTES_MAX).contains(&len) {
        spares().put(block);
        clear_above(this, bytes_left().min(SPARE_BYTES_MAX));
    } else {
        give_back(this, block);
    }
}

/// The heap has grown, perhaps: what waits is what is left at most.
pub(super) fn make_room(functions: &Functions, isolate: IsolatePtr) {
    // SAFETY: the isolate has its allocator for as long as it lives.
    let allocator = unsafe { (functions.buffer_allocator)(isolate) };
    clear_above(allocator.cast(), bytes_left());
}

/// Gives spare blocks back until they have at most so many bytes.
fn clear_above(this: *mut c_void, bytes: usize) {
    while let Some(block) = { spares().pop_above(bytes) } {
        give_back(this, block);
    }
}

fn give_back(this: *mut c_void, block: Block) {
    if let Some(table) = ALLOCATOR.get() {
        // SAFETY: the entry is the allocator's own function of this signature, and the block came from it.
        let give_back = unsafe { std::mem::transmute::<usize, GiveBack>(table[FREE]) };
        give_back(this, block.data, block.len);
    }
}
