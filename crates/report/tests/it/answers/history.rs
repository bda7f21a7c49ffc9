//! What the page of a history says first, and in the title of its chart.

use super::{answer, chart_titles, verdict};
use crate::support;
use hakaru_model::finding::{Comparison, Verdict};
use hakaru_model::history::{CardHistory, Outlook, Trend, TrendPoint};
use hakaru_model::job::Op;
use hakaru_report::history_html;

#[test]
fn a_history_answers_whether_the_card_is_slower_and_wears_out() {
    let page = history_html(&support::lives::worn_card()).replace('\u{a0}', " ");
    assert_eq!(answer(&page).0, "✗ This card is failing");
    let (class, text) = verdict(&page);
    assert_eq!(class, "bad");
    for wanted in [
        "Data was lost: ",
        "Slower than before: sequential writes went from 19.0 MB/s to 15.0 MB/s (earlier to later half of the series: 0.789×",
        "Copy your data off it now",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let wanted =
        "Sequential writes became slower: later half of the series at 79% of the earlier half";
    assert_eq!(chart_titles(&page), [wanted]);
    assert!(page.contains("<td class=\"h0\"><b>−21%</b> <small>slower (proven)</small>"));
    for wrong in ["seq-write", "not measured"] {
        assert!(!page.contains(wrong), "{wrong}");
    }
}

/// The trend of a worn card, as a workload with these rates in MB/s, a month apart from day 0, and this verdict.
fn trend(phase: &str, op: Op, day: i64, rates: &[f64], verdict: Verdict) -> Trend {
    let worn = support::lives::worn_card().trends.remove(0);
    let begun = worn.points[0].at_unix_ms + day * 86_400_000;
    let point = |(n, rate): (i64, &f64)| TrendPoint {
        at_unix_ms: begun + n * 30 * 86_400_000,
        mean: rate * 1e6,
        ci95: None,
        ..worn.points[0].clone()
    };
    let (early, late) = rates.split_at(rates.len() / 2);
    let [early, late] = [early, late].map(|half| half.iter().map(|v| v * 1e6).collect::<Vec<_>>());
    Trend {
        phase: phase.to_owned(),
        op,
        points: (0..).zip(rates).map(point).collect(),
        comparison: Some(Comparison {
            verdict,
            ..support::lives::halves(&early, &late)
        }),
        ..worn.clone()
    }
}

/// The page of a card with these trends and no sign of wear.
fn page_of(trends: Vec<Trend>) -> String {
    let history = CardHistory {
        signs: Vec::new(),
        outlook: Outlook::Unknown,
        trends,
        ..support::lives::worn_card()
    };
    history_html(&history).replace('\u{a0}', " ")
}

/// The newest series may be faster than the first one although the later half is slower than the earlier one.
#[test]
fn the_figures_of_a_proven_change_are_those_of_its_halves() {
    let rates = [9.5, 10.0, 10.0, 10.0, 9.0, 9.0, 9.0, 9.6];
    let page = page_of(vec![trend(
        "rand-write",
        Op::Write,
        0,
        &rates,
        Verdict::Different,
    )]);
    let text = verdict(&page).1;
    let wanted =
        "Slower than before: random writes went from 9.88 MB/s to 9.15 MB/s (earlier to later half";
    assert!(text.starts_with(wanted), "{text}");
    let wanted = "Random writes became slower: later half of the series at 93% of the earlier half";
    assert_eq!(chart_titles(&page), [wanted]);
    assert!(page.contains("<b>−7%</b> <small>slower (proven)</small>"));
    assert!(!page.contains("+1%") && !page.contains("101%"));
}

/// Four steady kinds of writes do not hide a large fall of the reads, be it unproven.
#[test]
fn a_card_is_as_fast_as_before_only_if_all_workloads_are() {
    let steady = |phase: &str| {
        trend(
            phase,
            Op::Write,
            0,
            &[50.0, 51.0, 50.0, 50.0],
            Verdict::Equivalent,
        )
    };
    let mut trends: Vec<Trend> = [
        "seq-write",
        "rand-write",
        "durable-write",
        "sustained-write",
    ]
    .map(steady)
    .into();
    assert_eq!(
        chart_titles(&page_of(trends.clone())),
        ["As fast as before, within 5%"]
    );
    let open = Verdict::Undecided { needed: None };
    trends.push(trend(
        "seq-read",
        Op::Read,
        0,
        &[90.0, 80.0, 60.0, 50.0],
        open,
    ));
    let page = page_of(trends);
    let text = verdict(&page).1;
    let wanted = "No change of the speed since 2026-01-05 is proven: sequential reads went from 90.0 MB/s to 50.0";
    assert!(text.starts_with(wanted), "{text}");
    let wanted = "56 to 100% of the speed on 2026-01-05; no change is proven";
    assert_eq!(chart_titles(&page), [wanted]);
    let (_, chart) = page.split_once("<figcaption>").unwrap();
    let (chart, _) = chart.split_once("</figure>").unwrap();
    assert!(chart.contains("Sequential reads"), "{chart}");
}

/// Each line is relative to its own first series, so the title names a day only if all share it.
#[test]
fn the_title_of_a_history_names_no_day_of_another_workload() {
    let open = || Verdict::Undecided { needed: None };
    let page = page_of(vec![
        trend(
            "rand-write",
            Op::Write,
            0,
            &[10.0, 10.0, 10.0, 10.1],
            open(),
        ),
        trend(
            "sustained-write",
            Op::Write,
            147,
            &[10.0, 9.5, 9.0, 8.8],
            open(),
        ),
    ]);
    let wanted = "88 to 101% of the speed in the first series; no change is proven";
    assert_eq!(chart_titles(&page), [wanted]);
}

#[test]
fn a_history_of_few_series_is_neither_good_nor_bad() {
    let mut history = CardHistory {
        signs: Vec::new(),
        outlook: Outlook::Unknown,
        ..support::lives::worn_card()
    };
    history.trends[0].comparison = None;
    history.trends[0].points.truncate(2);
    let page = history_html(&history).replace('\u{a0}', " ");
    let (class, text) = verdict(&page);
    assert_eq!(class, "unknown");
    assert!(
        text.starts_with(
            "Sequential writes: 20.0 MB/s on 2026-01-05, 18.0 MB/s on 2026-02-04; 2 series prove no"
        ),
        "{text}"
    );
    let wanted = "Sequential writes: 90% of the speed on 2026-01-05; no change is proven";
    assert_eq!(chart_titles(&page), [wanted]);
    assert!(page.contains("<small>2 of 4 series</small>"));
    // A single series has no trend, and nothing to draw.
    history.trends[0].points.truncate(1);
    let page = history_html(&history).replace('\u{a0}', " ");
    assert!(
        verdict(&page)
            .1
            .starts_with("Every workload was measured in one series only")
    );
    assert_eq!(chart_titles(&page), [""; 0]);
}
