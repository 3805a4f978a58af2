#![no_main]
#![allow(missing_docs, reason = "libFuzzer's own form")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| isolith_fuzz::wire::check(data));
