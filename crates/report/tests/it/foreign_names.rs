//! Names of hakaru's own workloads that were given to other workloads, and names that users chose.

use crate::support;
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::Summary;
use hakaru_model::units::{Bytes, BytesPerSec};
use hakaru_report::{
    Language, PairReport, caveat_of, charts, comparison_charts, comparison_html_with,
    comparison_markdown, comparison_terminal, foreign_workloads, html, html_with, markdown,
    terminal, with_language,
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

/// Both sides of a comparison whose random writes were called `file1`, with a caveat that knows this name only.
fn named_by_users() -> [Summary; 2] {
    [support::sandisk(), support::sandisk_vfat()].map(|mut summary| {
        summary.phases = vec![summary.phases[2].clone()];
        "file1".clone_into(&mut summary.phases[0].phase);
        summary.caveats = vec![Caveat::Cliff {
            phase: "file1".to_owned(),
            at: Bytes(6 << 30),
            before: BytesPerSec(34.1e6),
            after: BytesPerSec(11.9e6),
        }];
        summary
    })
}

#[test]
fn pages_and_charts_describe_jobs_that_users_named() {
    let [a, b] = named_by_users();
    let mut comparison = support::comparisons()[1].clone();
    comparison.quantity = "file1 write IOPS".into();
    let comparisons = [comparison];
    let phases = [(&a.phases[0], &b.phases[0])];
    let findings = [support::findings(), support::findings()];
    let of = PairReport {
        sides: (&a, &b),
        names: ("ext4", "vfat"),
        phases: &phases,
        comparisons: &comparisons,
        findings: &findings,
        conclusion: None,
    };
    for (language, words) in [
        (Language::English, "Random writes (file1)"),
        (Language::Japanese, "ランダム書き込み（file1）"),
    ] {
        with_language(language, || {
            let page = comparison_html_with(&of).replace('\u{a0}', " ");
            let heading = format!("<th scope=\"row\">{words}");
            assert!(page.contains(&heading), "{page}");
            assert!(!page.contains("file1 write"), "{page}");
            assert!(page.contains(&format!("{words}: ")), "{page}");
            let one = html(std::slice::from_ref(&a)).replace('\u{a0}', " ");
            assert!(
                one.contains(words) && !one.contains("file1 (write)"),
                "{one}"
            );
            let saved = comparison_charts(&a, &b, &comparisons);
            for charts in [saved, charts(std::slice::from_ref(&a))] {
                let data: String = charts.iter().map(hakaru_report::Chart::csv).collect();
                assert!(data.contains(words), "{data}");
            }
            let lines = comparison_terminal(&of, 80, false);
            assert!(lines.contains(words), "{lines}");
            assert!(!lines.contains("file1 write"), "{lines}");
        });
    }
}

/// Jobs of one name that are different workloads keep it.
#[test]
fn jobs_that_differ_keep_the_name_that_they_share() {
    let [a, mut b] = named_by_users();
    b.phases[0].detail.shape.as_mut().unwrap().random = false;
    let page = html(&[a, b]).replace('\u{a0}', " ");
    assert!(page.contains("file1 (write)"), "{page}");
    assert!(!page.contains("writes (file1)"), "{page}");
}

/// A table of question marks says nothing.
#[test]
fn uses_that_are_all_open_are_one_sentence() {
    let [a, b] = named_by_users();
    let mut open = support::findings();
    open.advice.retain(|advice| advice.fitness.is_none());
    assert!(!open.advice.is_empty());
    let page = html_with(&[a.clone(), b.clone()], &[open.clone(), open.clone()]);
    let (_, uses) = page.split_once("Suitability</h2>").unwrap();
    let (shown, _) = uses.split_once("<details>").unwrap();
    assert!(shown.contains("No use can be judged"), "{shown}");
    assert!(!shown.contains("<table"), "{shown}");
    let page = html_with(&[a, b], &[open, support::findings()]);
    let (_, uses) = page.split_once("Suitability</h2>").unwrap();
    let (shown, _) = uses.split_once("<details>").unwrap();
    assert!(shown.contains("<table"), "{shown}");
}

#[test]
fn commands_in_sentences_are_code() {
    let summary = support::sandisk();
    let page = html_with(
        std::slice::from_ref(&summary),
        std::slice::from_ref(&support::findings()),
    );
    assert!(page.contains("<code>hakaru bench"), "{page}");
    let (_, body) = page.split_once("<main").unwrap();
    assert!(!body.contains('`'), "{body}");
}
