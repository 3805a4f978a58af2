use crate::error::Error;
use crate::lab::{Idle, Lab, body, tools};
use crate::memory::Memory;
use crate::options::Mode;

/// What one idle isolate holds while `count` of them live. Changes the memory of this process for good.
pub(crate) async fn memory(count: u32, source: &str) -> Result<Memory, Error> {
    let lab = Lab::new(count, Mode::Quick)?;
    let grants = tools(&["first", "second"])?;
    let program = body(source);
    // What is made once is not the isolates' to answer for.
    drop(lab.idle(&program, &grants).await?);
    let before = here()?;
    let mut isolates: Vec<Idle> = Vec::with_capacity(count as usize);
    for _ in 0..count {
        isolates.push(lab.idle(&program, &grants).await?);
    }
    Ok(here()?.each_since(&before, count))
}

fn here() -> Result<Memory, Error> {
    Memory::here().map_err(Error::system("read the memory of this process"))
}
