use crate::error::Error;
use crate::sources::HELLO;
use crate::spawn::spawn;
use crate::stopwatch::median;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};

/// A whole process, from its start to its end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Cold {
    pub(crate) wall_us: f64,
    pub(crate) cpu_us: f64,
    pub(crate) resident_mb: f64,
}

/// Runs a program with the binary `exe` this many times.
pub(crate) fn start(exe: &Path, times: u32) -> Result<Cold, Error> {
    let folder = std::env::temp_dir().join(format!("isolith-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(Error::system("make a folder for a program"))?;
    let file = folder.join("hello.ts");
    let cold = std::fs::write(&file, HELLO.0)
        .map_err(Error::system("write a program"))
        .and_then(|()| repeat(exe, &file, times));
    let _ = std::fs::remove_dir_all(&folder);
    cold
}

fn repeat(exe: &Path, file: &Path, times: u32) -> Result<Cold, Error> {
    let (mut wall, mut cpu, mut resident) = (Vec::new(), Vec::new(), 0);
    for time in 0..=times {
        let spawned = spawn(Command::new(exe).arg("run").arg(file).stderr(Stdio::null()))?;
        if !spawned.ok || !spawned.stdout.contains(HELLO.1) {
            let found = spawned.stdout.chars().take(300).collect();
            return Err(Error::Child { command: format!("{} run hello.ts", exe.display()), found });
        }
        // The first one brings the binary into memory.
        if time > 0 {
            wall.push(spawned.wall.as_nanos() as u64);
            cpu.push(spawned.cpu.as_nanos() as u64);
            resident = resident.max(spawned.resident_kib);
        }
    }
    Ok(Cold { wall_us: median(&wall) / 1e3, cpu_us: median(&cpu) / 1e3, resident_mb: resident as f64 * 1024.0 / 1e6 })
}
