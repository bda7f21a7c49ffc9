//! Fuzzes fio command lines: one argument per line, arbitrary bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// Content of every job file named by the command line.
const FILE: &[u8] = b"[global]\nbs=8k\nsize=256k\n[one]\nrw=write\n[two]\nstonewall\nrw=randread\n";

fuzz_target!(|data: &[u8]| {
    let args: Vec<OsString> = data
        .split(|&byte| byte == b'\n')
        .map(|word| OsString::from_vec(word.to_vec()))
        .collect();
    let _ = hakaru_fuzz::fio(&args, FILE);
});
