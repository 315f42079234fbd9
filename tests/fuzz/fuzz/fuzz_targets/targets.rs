//! `chipdock_fuzz::target` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chipdock_fuzz::fuzz("targets", bytes));
