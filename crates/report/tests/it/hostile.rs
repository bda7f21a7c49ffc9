//! Device models, labels and paths come from strangers: none may inject markup into a page or control a terminal.

use crate::support::{self, hostile, well_formed};
use hakaru_model::finding::Estimate;
use hakaru_model::units::{BytesPerSec, Nanos, Quantile};
use hakaru_report::{charts, comparison_html, csv, html, markdown, terminal};
use proptest::prelude::*;

/// Text with many characters that are dangerous in some format.
fn nasty() -> impl Strategy<Value = String> {
    let bit = prop_oneof![
        prop::sample::select(BITS.to_vec()).prop_map(str::to_owned),
        any::<String>()
    ];
    // The letter keeps the text non-empty, because empty texts omit lines.
    prop::collection::vec(bit, 1..5).prop_map(|bits| format!("x{}", bits.concat()))
}

const BITS: [&str; 25] = [
    "<script>alert(1)</script>",
    "</title>",
    "]]>",
    "<!--",
    "\"",
    "'",
    "&",
    "&lt;",
    "\x1b]0;x\x07",
    "\u{9b}31m",
    "\r",
    "\n",
    "\u{202e}",
    "\0",
    "|",
    "`",
    "[a](b)",
    "=1+1",
    ",",
    ";",
    "測る",
    "<svg onload=x>",
    "\u{fffe}",
    "%s",
    "{0}",
];

/// The names of the tags on a page.
fn tags(page: &str) -> std::collections::BTreeSet<&str> {
    page.split('<')
        .skip(1)
        .filter_map(|rest| rest.split([' ', '>', '/']).next())
        .collect()
}

fn commands(c: char) -> bool {
    c.is_control() && c != '\n'
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_stay_whole(text in nasty()) {
        let summary = hostile(&text);
        let page = html(std::slice::from_ref(&summary));
        prop_assert!(well_formed(&page).is_ok(), "{:?}", well_formed(&page));
        prop_assert!(!page.contains("<script") && !page.contains("onload=x>"));
        prop_assert!(!page.chars().any(commands));
        // Untrusted text adds text, but no tags.
        let tame = html(&[hostile("x")]);
        prop_assert_eq!(tags(&page), tags(&tame));
        for chart in charts(&[summary]) {
            prop_assert!(well_formed(&chart.svg(400)).is_ok());
            prop_assert!(chart.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
        }
    }

    #[test]
    fn terminals_obey_nobody(text in nasty()) {
        let shown = terminal(&hostile(&text), 80, false);
        prop_assert!(!shown.chars().any(commands), "{:?}", shown);
    }

    #[test]
    fn rows_stay_rows(text in nasty()) {
        let summary = hostile(&text);
        let table = csv(std::slice::from_ref(&summary));
        prop_assert_eq!(table.lines().count(), csv(&[hostile("x")]).lines().count());
        let page = markdown(&[summary]);
        prop_assert_eq!(page.lines().count(), markdown(&[hostile("x")]).lines().count());
        prop_assert!(!page.contains('<') && !page.chars().any(commands));
    }

    #[test]
    fn numbers_past_all_sense_draw_nothing_senseless(
        mean: f64, deviation in prop::option::of(any::<f64>()), ns: u64, count: u64, at: f64, share in 0.0f64..=1.0,
    ) {
        let mut summary = support::small();
        for phase in &mut summary.phases {
            let odd = Estimate { mean, deviation, ci95: deviation.map(|d| (-d, d)), ..phase.iops.clone() };
            phase.bandwidth = odd.clone();
            phase.iops = odd;
            phase.timelines[0][2].at_s = at;
            phase.timelines[1][3].bandwidth = BytesPerSec(mean);
            if let Some(latency) = &mut phase.latency {
                latency.count = count;
                latency.curve.push((share, Nanos(ns)));
                latency.quantiles.push((Quantile::new(share).unwrap(), Nanos(ns)));
            }
            if let Some(cliff) = phase.sustained.as_mut().and_then(|s| s.cliff.as_mut()) {
                cliff.before = BytesPerSec(mean);
                cliff.after_time = Nanos(ns);
            }
        }
        for chart in charts(std::slice::from_ref(&summary)) {
            let document = chart.svg(400);
            prop_assert!(well_formed(&document).is_ok());
            let drawn = document.split("</desc>").nth(1).unwrap_or_default();
            prop_assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{}", drawn);
        }
        let both = [summary.clone(), summary];
        let _ = (html(&both), markdown(&both), csv(&both), terminal(&both[0], 80, true));
        let _ = comparison_html(&both[0], &both[1], &[]);
    }
}
