//! `isolith-fuzz <target> [--seconds N | --iterations N] [--seed S] [files…]`: a target, fed with mutations of its corpus.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for people at a terminal")]

use isolith_fuzz::TARGETS;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The largest input that is made.
const INPUT_BYTES_MAX: usize = 4096;
/// Inputs made in one go between looks at the clock.
const BATCH: u64 = 256;

struct Options {
    target: isolith_fuzz::Target,
    time: Option<Duration>,
    iterations: u64,
    seed: u64,
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let names = TARGETS.map(|(name, _)| name).join("|");
    let usage = format!("usage: isolith-fuzz {names} [--seconds N | --iterations N] [--seed S] [files…]");
    let name = args.next().ok_or_else(|| usage.clone())?;
    let target = TARGETS.into_iter().find(|(other, _)| *other == name).ok_or_else(|| usage.clone())?;
    let mut options = Options { target, time: None, iterations: 100_000, seed: 1, files: Vec::new() };
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|text| text.parse::<u64>().ok()).ok_or_else(|| usage.clone());
        match arg.as_str() {
            "--seconds" => options.time = Some(Duration::from_secs(number()?)),
            "--iterations" => options.iterations = number()?,
            "--seed" => options.seed = number()?,
            file => options.files.push(file.into()),
        }
    }
    Ok(options)
}

fn run(options: Options) -> Result<(), String> {
    let (name, check) = options.target;
    let home = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or("fuzz".into()));
    let files = if options.files.is_empty() { list(&home.join("corpus").join(name)) } else { options.files };
    let read = |path: &PathBuf| std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()));
    let mut corpus: Vec<Vec<u8>> = files.iter().map(read).collect::<Result<_, _>>()?;
    corpus.push(Vec::new());
    let attempt = |data: &[u8]| -> Result<(), String> {
        if std::panic::catch_unwind(|| check(data)).is_ok() {
            return Ok(());
        }
        // A name by what is in it, so that the same failure does not pile up.
        let mark = data
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        let path = home.join("failures").join(format!("{name}-{mark:016x}"));
        let saved = std::fs::create_dir_all(home.join("failures")).and_then(|()| std::fs::write(&path, data));
        let place = if saved.is_ok() { path.display().to_string() } else { format!("{data:?}") };
        Err(format!("{name} failed with seed {}; the input is {place}", options.seed))
    };
    for data in &corpus {
        attempt(data)?;
    }
    let start = Instant::now();
    let mut chance = Chance(options.seed.max(1));
    let mut done = 0;
    loop {
        let over = options.time.map_or(done >= options.iterations, |time| start.elapsed() >= time);
        if over {
            break;
        }
        for _ in 0..BATCH {
            attempt(&chance.mutate(&corpus))?;
        }
        done += BATCH;
    }
    println!(
        "{name}: {done} inputs in {:.1} s, seed {}, {} in the corpus",
        start.elapsed().as_secs_f64(),
        options.seed,
        files.len()
    );
    Ok(())
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

/// A small generator, so that a seed means the same everywhere.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn mutate(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut data = corpus[self.below(corpus.len())].clone();
        if self.below(4) == 0 {
            data = (0..self.below(512)).map(|_| self.next() as u8).collect();
        }
        for _ in 0..=self.below(6) {
            let (at, other) = (self.below(data.len() + 1), self.below(corpus.len()));
            match self.below(6) {
                0 => data.insert(at, self.next() as u8),
                1 if at < data.len() => data[at] = self.next() as u8,
                2 if at < data.len() => data[at] ^= 1 << self.below(8),
                3 if at < data.len() => drop(data.drain(at..(at + 1 + self.below(8)).min(data.len()))),
                4 => {
                    // A piece of another, in the middle of this one.
                    let from = self.below(corpus[other].len() + 1);
                    let piece: Vec<u8> = corpus[other][from..].iter().take(1 + self.below(32)).copied().collect();
                    data.splice(at..at, piece);
                }
                _ => {
                    let odd = [0, 1, 0x7f, 0x80, 0xff, b'"', b'%', b'/', b'.', b'{', b'[', b','];
                    data.insert(at, odd[self.below(odd.len())]);
                }
            }
        }
        data.truncate(INPUT_BYTES_MAX);
        data
    }
}
