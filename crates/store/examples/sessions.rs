//! How long sessions take: `cargo run --release -p isolith-store --example sessions`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it is run by hand and prints what it found")]

use isolith_core::files::Room;
use isolith_core::{GuestPath, SessionName, SessionSettings, SessionStore as _};
use isolith_store::DataFolder;
use std::time::Instant;

const SESSIONS: usize = 10_000;
const FILES: usize = 1_024;
const FILE_BYTES: usize = 1 << 20;
const TREE: usize = 5_000;

fn main() {
    let folder = tempfile::tempdir_in(".").unwrap();
    let data = DataFolder::open(folder.path()).unwrap();
    let sessions = data.sessions().unwrap();
    let name = |text: &str| SessionName::new(text).unwrap();
    let path = |text: String| GuestPath::new(&text).unwrap();

    let started = Instant::now();
    for number in 0..SESSIONS {
        sessions.create(Some(name(&format!("s{number}"))), SessionSettings::default()).unwrap();
    }
    let made = started.elapsed();
    let started = Instant::now();
    let listed = sessions.list(None, None, SESSIONS).unwrap().len();
    println!("{listed} sessions made in {made:.1?}, listed in {:.1?}", started.elapsed());

    let tree = name("s1");
    let open = sessions.open(&tree, Room::default()).unwrap();
    let started = Instant::now();
    open.files
        .change("fill", &mut |draft| {
            (0..50).try_for_each(|folder| draft.put_folder(&path(format!("d{folder}"))))?;
            (0..TREE).try_for_each(|n| {
                draft.put_file(&path(format!("d{}/f{n}", n % 50)), format!("{n}\n").repeat(200).as_bytes(), None)
            })
        })
        .unwrap();
    println!("{TREE} files of 1 KB written in one change: {:.1?}", started.elapsed());
    drop(open);
    let mut wakes: Vec<_> = (0..200)
        .map(|_| {
            let started = Instant::now();
            let open = sessions.open(&tree, Room::default()).unwrap();
            open.files.view(&mut |view| view.bytes(&path("d7/f7".into()), 0, 100).map(|_| ())).unwrap();
            started.elapsed()
        })
        .collect();
    wakes.sort();
    println!("wake and read a file, of {TREE}: median {:.1?}, slowest of 200 {:.1?}", wakes[100], wakes[199]);

    let large = name("s2");
    let open = sessions.open(&large, Room::default()).unwrap();
    let started = Instant::now();
    let mut bytes = vec![0u8; FILE_BYTES];
    let mut state = 1u64;
    for n in 0..FILES {
        bytes.chunks_mut(8).for_each(|chunk| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
        });
        open.files.change("fill", &mut |draft| draft.put_file(&path(format!("f{n}")), &bytes, None)).unwrap();
    }
    println!("{FILES} files of 1 MiB written one at a time: {:.1?}", started.elapsed());
    let mut forks: Vec<_> = (0..20)
        .map(|_| {
            let started = Instant::now();
            sessions.fork(&large, None, None).unwrap();
            started.elapsed()
        })
        .collect();
    forks.sort();
    println!("fork of 1 GiB: median {:.1?}, slowest of 20 {:.1?}", forks[10], forks[19]);
    let started = Instant::now();
    println!("swept {} bytes in {:.1?}", sessions.sweep().unwrap(), started.elapsed());
}
