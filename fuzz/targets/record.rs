//! Fuzzes stored runs and histograms. Everything that can be parsed must round-trip.

#![no_main]

use hakaru_model::histogram::Histogram;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(histogram) = serde_json::from_str::<Histogram>(text) {
        let written = serde_json::to_string(&histogram).expect("a histogram is a list of numbers");
        let again: Histogram =
            serde_json::from_str(&written).expect("what was written can be read");
        assert_eq!(histogram, again);
        let folded = histogram
            .fold()
            .iter()
            .fold(0u64, |sum, &n| sum.saturating_add(n));
        assert_eq!(folded, histogram.count());
    }
    for (_, record) in hakaru_store::import_lines(text) {
        match record {
            Ok(record) => {
                let written = hakaru_store::export(&record).expect("what was read can be written");
                assert_eq!(hakaru_store::import(&written).ok().as_ref(), Some(&record));
                hakaru_fuzz::plan(&record.scenario);
            }
            Err(error) => {
                let _ = error.to_string();
            }
        }
    }
});
