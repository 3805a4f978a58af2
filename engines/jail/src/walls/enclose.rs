//! What a zygote leaves behind for itself and all its copies.

use super::wall::{Jail, Wall};
use crate::os;
use std::io;

/// Folders on which an empty one can be mounted; one of them exists everywhere.
const PLACES: [&std::ffi::CStr; 4] = [c"/tmp", c"/proc", c"/dev", c"/"];

/// Leaves the network, the files and the user of whoever started this process. For a process with one thread.
pub(crate) fn enclose(jail: &mut Jail) {
    jail.note(Wall::ParentDeath, os::die_with_parent());
    jail.note(Wall::NoNewPrivileges, os::no_new_privileges());
    jail.note(Wall::Environment, if std::env::vars_os().next().is_none() { Ok(()) } else { Err("it is not empty") });
    let is_root = os::user() == 0;
    if !is_root && let Err(error) = os::unshare(libc::CLONE_NEWUSER) {
        // Without it the kernel allows none of the others; each says so itself.
        jail.note(Wall::UserNamespace, Err(error));
    }
    jail.note(Wall::NetworkNamespace, os::unshare(libc::CLONE_NEWNET));
    jail.note(Wall::IpcNamespace, os::unshare(libc::CLONE_NEWIPC));
    jail.note(Wall::UtsNamespace, os::unshare(libc::CLONE_NEWUTS));
    let mounts = os::unshare(libc::CLONE_NEWNS);
    let has_mounts = mounts.is_ok();
    jail.note(Wall::MountNamespace, mounts);
    jail.note(Wall::EmptyRoot, if has_mounts { empty_root() } else { Err(io::ErrorKind::PermissionDenied.into()) });
    // A user who is somebody elsewhere keeps that name here, with nothing left that it could be used on.
    jail.note(Wall::User, if is_root { os::become_nobody() } else { Ok(()) });
    // Becoming somebody else takes this back.
    jail.note(Wall::ParentDeath, os::die_with_parent());
}

/// Makes an empty folder that cannot be written to the root, and lets go of everything else.
fn empty_root() -> io::Result<()> {
    let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    os::mount(c"none", c"/", c"", libc::MS_REC | libc::MS_PRIVATE, c"")?;
    let mount = |place: &std::ffi::CStr| {
        os::mount(c"tmpfs", place, c"tmpfs", flags, c"size=4k,nr_inodes=1,mode=0555")?;
        std::env::set_current_dir(place.to_str().map_err(|_| io::ErrorKind::InvalidInput)?)
    };
    let mut result = Err(io::ErrorKind::NotFound.into());
    for place in PLACES {
        result = mount(place);
        if result.is_ok() {
            break;
        }
    }
    result?;
    os::mount(c"none", c".", c"", flags | libc::MS_REMOUNT | libc::MS_RDONLY | libc::MS_BIND, c"")?;
    os::pivot_here()?;
    std::env::set_current_dir("/")
}
