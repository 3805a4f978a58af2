use crate::error::Error;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A process that has ended.
#[derive(Clone, Debug)]
pub struct Spawned {
    /// From starting it to its end.
    pub wall: Duration,
    /// What it computed, in all its threads.
    pub cpu: Duration,
    /// Its memory at its largest.
    ///
    /// Linux counts what the parent had at the moment it started the child, so the parent must be small.
    pub resident_kib: u64,
    /// Whether it ended well.
    pub ok: bool,
    /// What it wrote.
    pub stdout: String,
}

/// Runs a process to its end and measures it.
pub fn spawn(command: &mut Command) -> Result<Spawned, Error> {
    let begun = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(Error::system("start a process"))?;
    let mut stdout = Vec::new();
    if let Some(pipe) = &mut child.stdout {
        pipe.read_to_end(&mut stdout).map_err(Error::system("read from a process"))?;
    }
    let Usage { status, cpu, resident_kib } = wait(child.id()).map_err(Error::system("wait for a process"))?;
    let wall = begun.elapsed();
    let stdout = String::from_utf8_lossy(&stdout).into_owned();
    Ok(Spawned { wall, cpu, resident_kib, ok: status == 0, stdout })
}

struct Usage {
    status: i32,
    cpu: Duration,
    resident_kib: u64,
}

/// Waits for a child that nobody else waits for.
#[expect(unsafe_code, reason = "neither std nor rustix tell what a child has used")]
fn wait(pid: u32) -> std::io::Result<Usage> {
    let pid = libc::pid_t::try_from(pid).map_err(std::io::Error::other)?;
    let mut status = 0;
    // SAFETY: `rusage` is plain numbers, for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live variables of the right type, and the kernel keeps neither.
        if unsafe { libc::wait4(pid, &mut status, 0, &mut usage) } == pid {
            break;
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let time = |t: libc::timeval| Duration::new(t.tv_sec.unsigned_abs(), t.tv_usec as u32 * 1_000);
    Ok(Usage { status, cpu: time(usage.ru_utime) + time(usage.ru_stime), resident_kib: usage.ru_maxrss.unsigned_abs() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_measured_to_its_end() -> Result<(), Error> {
        let spawned = spawn(Command::new("sh").args(["-c", "echo out; exit 3"]))?;
        assert_eq!((spawned.ok, spawned.stdout.as_str()), (false, "out\n"));
        assert!(spawned.resident_kib > 0 && spawned.wall >= spawned.cpu / 64);
        Ok(())
    }
}
