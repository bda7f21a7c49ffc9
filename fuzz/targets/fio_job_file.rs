//! Fuzzes fio job files, which may include themselves.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = hakaru_fuzz::fio(&["job.fio".into()], data);
});
