//! Labels, models, device models, layers and campaign names are untrusted: none may inject anything into a page, a chart, a
//! table, a spreadsheet or a terminal.

use crate::support::campaign::{campaign, hostile_campaign};
use crate::support::well_formed;
use hakaru_report::{
    campaign_charts, campaign_csv, campaign_html, campaign_in_short, campaign_markdown,
    campaign_parquet, campaign_terminal,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Texts that are dangerous in some format.
const NASTY: [&str; 16] = [
    "<script>alert(1)</script>",
    "</title></svg></table><h1>",
    "]]>",
    "\" onload=\"x",
    "' onclick='x",
    "\u{202e}txt.exe",
    "two\nlines\r\nand three",
    "| a | b |\n| --- | --- |",
    "=1+1",
    "@SUM(A1)",
    "a,\"b\";c",
    "\x1b]0;title\x07\x1b[2J",
    "[here](javascript:x)",
    "<!-- -->",
    "测る 測る",
    "&lt;b&gt;",
];

fn tags(page: &str) -> BTreeSet<&str> {
    page.split('<')
        .skip(1)
        .filter_map(|rest| rest.split([' ', '>', '/']).next())
        .collect()
}

/// Characters that change the text direction, break a line, or control a terminal.
fn commands(c: char) -> bool {
    c.is_control() && c != '\n'
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// Number of fields of a CSV line.
fn fields(line: &str) -> usize {
    let mut quoted = false;
    let commas = line.chars().filter(|&c| {
        quoted ^= c == '"';
        c == ',' && !quoted
    });
    commas.count() + 1
}

/// The terminal control sequences in a text: the characters after each escape.
fn inks(shown: &str) -> BTreeSet<&str> {
    shown
        .split('\x1b')
        .skip(1)
        .map(|rest| {
            rest.split_inclusive(|c: char| c.is_alphabetic())
                .next()
                .unwrap_or_default()
        })
        .collect()
}

fn check(text: &str) {
    let (hostile, tame) = (hostile_campaign(text), hostile_campaign("x"));
    let page = campaign_html(&hostile);
    assert_eq!(well_formed(&page), Ok(()), "{text:?}");
    assert_eq!(
        tags(&page),
        tags(&campaign_html(&tame)),
        "foreign text adds no kind of tag: {text:?}"
    );
    assert!(!page.chars().any(commands), "{text:?}");
    for chart in campaign_charts(&hostile) {
        assert_eq!(well_formed(&chart.svg(500)), Ok(()), "{text:?}");
        assert!(
            chart
                .name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '-'),
            "{}",
            chart.name
        );
    }
    let markdown = campaign_markdown(&hostile, None);
    assert!(
        !markdown.contains('<') && !markdown.chars().any(commands),
        "{text:?}"
    );
    assert_eq!(
        markdown.lines().count(),
        campaign_markdown(&tame, None).lines().count(),
        "{text:?}"
    );
    let csv = campaign_csv(&hostile);
    assert_eq!(
        csv.lines().count(),
        campaign_csv(&tame).lines().count(),
        "{text:?}"
    );
    for line in csv.lines() {
        assert_eq!(fields(line), 23, "{line}");
    }
    assert!(!csv.replace("\r\n", "").chars().any(commands), "{text:?}");
    let (shown, ours) = (
        campaign_terminal(&hostile, 80, true),
        campaign_terminal(&tame, 80, true),
    );
    assert!(inks(&shown).is_subset(&inks(&ours)), "{:?}", inks(&shown));
    let bad: Vec<char> = shown
        .replace('\x1b', "")
        .chars()
        .filter(|c| commands(*c))
        .collect();
    assert!(bad.is_empty(), "{bad:?} {shown}");
    assert!(!campaign_parquet(&hostile).is_empty());
    let _ = campaign_in_short(&hostile);
}

#[test]
fn what_is_known_to_do_harm_does_none() {
    NASTY.iter().for_each(|text| check(text));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nor_does_any_other_text(parts in prop::collection::vec(prop_oneof![prop::sample::select(NASTY.to_vec()).prop_map(str::to_owned), any::<String>()], 1..4)) {
        // The letter keeps the text non-empty, because empty texts omit lines.
        check(&format!("x{}", parts.concat()));
    }
}

#[test]
fn a_page_says_how_the_runs_differ_and_gives_each_card_a_sheet() {
    let page = campaign_html(&campaign());
    for words in [
        "How the runs differ, raw",
        "Steady state",
        "Correlation of neighbours",
        "runs 2 to 6",
        "−1.2% (p 0.34)",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(page.matches("class=\"page\"").count(), 2);
    assert_eq!(
        page,
        campaign_html(&campaign()),
        "the same findings are the same bytes"
    );
}
