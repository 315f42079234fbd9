//! `chipdock_fuzz::library` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chipdock_fuzz::fuzz("library", bytes));
