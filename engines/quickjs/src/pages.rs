use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

/// The unit in which memory is looked at and put away.
pub(crate) const PAGE: usize = 4096;

// Bits of an entry of /proc/self/pagemap, as the kernel documents them.
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
const FROM_FILE: u64 = 1 << 61;

// THREAT[T-STATE-001]: a page that one run wrote and the next one sees would carry data across; pages that cannot be judged count
// as written.
/// The numbers of those pages of `memory` that may have been written since the image was mapped.
///
/// The image is mapped copy-on-write from a file, so a page that was never written is absent or still the file's. Where
/// the kernel does not say, every page may have been.
pub(crate) fn maybe_written(memory: &[u8]) -> Vec<u32> {
    let count = memory.len() / PAGE;
    let entries = entries(memory.as_ptr().addr() / PAGE, count);
    let written = |number: &u32| match entries.as_deref().map(|e| entry(e, *number as usize)) {
        Some(Some(entry)) => entry & (PRESENT | SWAPPED) != 0 && entry & FROM_FILE == 0,
        Some(None) | None => true,
    };
    (0..count as u32).filter(written).collect()
}

fn entry(entries: &[u8], number: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(entries.get(number * 8..number * 8 + 8)?.try_into().ok()?))
}

fn entries(first: usize, count: usize) -> Option<Vec<u8>> {
    static PAGEMAP: OnceLock<Option<File>> = OnceLock::new();
    let file = PAGEMAP.get_or_init(|| File::open("/proc/self/pagemap").ok()).as_ref()?;
    let mut entries = vec![0; count * 8];
    file.read_exact_at(&mut entries, first as u64 * 8).ok()?;
    Some(entries)
}

/// Gives the pages of a memory that is about to be dropped back to the system.
///
/// A slot of the pool is put right page by page when it is used again, and it remembers every page that any run before has
/// written. After a run that wrote much, it is cheaper to let all of them go once.
#[expect(unsafe_code, reason = "the system cannot know that nobody reads these pages again")]
pub(crate) fn release(memory: &mut [u8]) {
    let len = memory.len() / PAGE * PAGE;
    // SAFETY: the range lies within a private mapping of whole pages that we hold exclusively, and its content is not read
    // after this: the instance it belongs to is being dropped. Dropping private pages brings the mapped image back, which
    // is the state that the pool restores before the slot is used again.
    let _ = unsafe { rustix::mm::madvise(memory.as_mut_ptr().cast(), len, rustix::mm::Advice::LinuxDontNeed) };
}
