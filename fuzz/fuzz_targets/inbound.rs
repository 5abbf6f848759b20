//! `cargo xtask fuzz inbound`

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| placet_fuzz::hold(placet_fuzz::inbound, data));
