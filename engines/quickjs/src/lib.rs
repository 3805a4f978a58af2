//! QuickJS inside WebAssembly: isolates that start in microseconds, hold no authority and can be put on disk.
//!
//! The guest (`guest/`) is QuickJS-ng and a small bridge in C, compiled to one module that imports three functions. The
//! build script runs the prelude in it once, freezes its memory into the module and compiles that ahead of time. A fresh
//! isolate is a copy-on-write mapping of that memory; nothing carries over from one to the next.

mod ask;
mod codegen;
mod engine;
mod guest;
mod image;
mod isolate;
mod meter;
mod pages;
pub mod process;
mod protocol;
mod suspend;
mod ticker;

pub use engine::{Options, QuickJs};
