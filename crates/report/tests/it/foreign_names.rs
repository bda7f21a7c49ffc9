//! Names of hakaru's own workloads that were given to other workloads.

use crate::support;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::Summary;
use hakaru_model::units::{Bytes, BytesPerSec};
use hakaru_report::{
    Language, caveat_of, comparison_markdown, foreign_workloads, html, markdown, terminal,
    with_language,
};

/// A series whose sustained writes are random ones, with a caveat that knows their name only.
fn foreign() -> Summary {
    let mut summary = support::sandisk();
    let phases = summary.phases.iter_mut();
    for phase in phases.filter(|phase| phase.phase == "sustained") {
        let shape = phase.detail.shape.as_mut().expect("the suite has shapes");
        shape.random = true;
    }
    summary.caveats = vec![Caveat::Cliff {
        phase: "sustained".to_owned(),
        at: Bytes(6 << 30),
        before: BytesPerSec(34.1e6),
        after: BytesPerSec(11.9e6),
    }];
    summary
}

#[test]
fn no_form_of_a_report_calls_another_workload_by_the_words_of_its_name() {
    let (own, foreign) = (support::sandisk(), foreign());
    assert_eq!(foreign_workloads(&own), [""; 0]);
    assert_eq!(foreign_workloads(&foreign), ["sustained"]);
    for (language, words) in [
        (Language::English, "ustained writes"),
        (Language::Japanese, "長時間連続書き込み"),
    ] {
        let forms = |summary: &Summary| {
            with_language(language, || {
                let all = std::slice::from_ref(summary);
                [
                    html(all).replace('\u{a0}', " "),
                    markdown(all),
                    terminal(summary, 400, false),
                    caveat_of(summary, &foreign.caveats[0]),
                    comparison_markdown(summary, summary, &support::comparisons()),
                ]
            })
        };
        for text in forms(&own).iter().take(4) {
            assert!(text.contains(words), "{text}");
        }
        for text in forms(&foreign) {
            let at = text.find(words);
            let around = at.map(|at| text[..at].chars().rev().take(300).collect::<String>());
            let around = around.map(|text| text.chars().rev().collect::<String>());
            assert_eq!(around, None, "{words}");
            assert!(text.contains("sustained"), "{text}");
        }
    }
    // Outside of a report, nothing is known but the name.
    let said = hakaru_report::text::caveat(&foreign.caveats[0]);
    assert!(said.starts_with("Sustained writes: "), "{said}");
}
