//! `cargo xtask fuzz signature`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| placet_fuzz::hold(placet_fuzz::signature, data));
