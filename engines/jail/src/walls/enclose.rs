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
    // Whoever is not root is nobody in a user namespace of its own, and only there does the kernel allow the others; without it each says
    // so itself. Nobody can make another namespace in there: the copies have this one.
    let is_root = os::user() == 0;
    let mut is_nobody = false;
    if !is_root {
        let alone = os::unshare(libc::CLONE_NEWUSER);
        is_nobody = alone.is_ok();
        jail.note(Wall::UserNamespace, alone);
    }
    jail.note(Wall::NetworkNamespace, os::unshare(libc::CLONE_NEWNET));
    jail.note(Wall::IpcNamespace, os::unshare(libc::CLONE_NEWIPC));
    jail.note(Wall::UtsNamespace, os::unshare(libc::CLONE_NEWUTS));
    let mounts = os::unshare(libc::CLONE_NEWNS);
    let has_mounts = mounts.is_ok();
    jail.note(Wall::MountNamespace, mounts);
    jail.note(Wall::EmptyRoot, if has_mounts { empty_root() } else { Err(io::ErrorKind::PermissionDenied.into()) });
    jail.note(
        Wall::User,
        match (is_root, is_nobody) {
            (true, _) => os::become_nobody(),
            (false, true) => Ok(()),
            (false, false) => Err(io::Error::other("it is the user that started it")),
        },
    );
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
