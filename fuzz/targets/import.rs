//! Fuzzes the import of other programs' results: a file name in the first line, its text in the rest.

#![no_main]

use hakaru_dialects::import::{self, Source, csv};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let whole = String::from_utf8_lossy(data);
    let (name, text) = whole.split_once('\n').unwrap_or(("result.txt", &whole));
    let _ = import::import(&[Source { name, text }]);
    if let Some(mapping) = text.lines().next().and_then(csv::mapping_of_header) {
        let _ = csv::import(text, &mapping);
    }
});
