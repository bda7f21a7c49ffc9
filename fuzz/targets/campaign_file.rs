//! Fuzzes campaign files. fio job files are parsed with the real parser, and every named file has the same small
//! content.

#![no_main]

use hakaru_campaign::campaign::resolve::{ResolveContext, campaign};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let around = ResolveContext {
        read_file: &|_| Ok("[one]\nrw=randread\nbs=4k\nsize=1m\n".to_owned()),
        fio: &|_, text| {
            hakaru_fuzz::fio(&["job.fio".into()], text.as_bytes()).map(|read| read.scenario)
        },
    };
    match campaign(text, &around) {
        Ok(campaign) => {
            for card in 0..campaign.cards.len() {
                let _ = campaign.layers_of(card).count();
            }
        }
        Err(error) => {
            let place = error.span.clone().unwrap_or(0..0);
            assert!(
                text.get(place.clone()).is_some(),
                "an error points at {place:?}"
            );
            let _ = error.to_string();
        }
    }
});
