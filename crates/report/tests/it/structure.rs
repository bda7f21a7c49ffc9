//! What a screen reader and a keyboard need of every page, without a browser: headings, landmarks, regions and tables.

use crate::support::{self, paths};
use hakaru_model::annotation::Annotations;
use hakaru_model::facts::{Environment, Fact, Identity, TargetKind, UnknownReason};
use hakaru_model::history::{CardHistory, Outlook};
use hakaru_model::integrity::{
    BlockState, Capacity, FORMAT, IntegrityVerdict, Scope, Span, SpeedMap, SpeedPoint, Verification,
};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::{
    Language, campaign_html, comparison_html, history_html, html_with, path_html,
    verification_html, with_language,
};
use std::collections::BTreeSet;

/// A page of each kind, in both languages.
fn pages() -> Vec<(String, String)> {
    [Language::English, Language::Japanese]
        .into_iter()
        .flat_map(|language| {
            let all = with_language(language, of_each_kind);
            let named = move |(name, page)| (format!("{name}, {language}"), page);
            all.into_iter().map(named)
        })
        .collect()
}

fn of_each_kind() -> Vec<(&'static str, String)> {
    let (ext4, vfat) = (support::sandisk(), support::sandisk_vfat());
    let findings = support::findings();
    let three = [ext4.clone(), vfat.clone(), support::kioxia()];
    vec![
        (
            "run",
            html_with(std::slice::from_ref(&ext4), std::slice::from_ref(&findings)),
        ),
        (
            "runs",
            html_with(&three, &[findings.clone(), findings.clone(), findings]),
        ),
        (
            "compare",
            comparison_html(&ext4, &vfat, &support::comparisons()),
        ),
        ("campaign", campaign_html(&support::campaign::campaign())),
        ("path", path_html(&paths::traced_ext4())),
        ("suite of paths", path_html(&paths::traced_suite())),
        (
            "campaign of paths",
            campaign_html(&paths::traced_campaign()),
        ),
        (
            "verification",
            verification_html(&fake(), &Annotations::default()),
        ),
        ("history", history_html(&support::lives::worn_card())),
        ("history of nothing", history_html(&history())),
    ]
}

fn history() -> CardHistory {
    CardHistory {
        name: "kitchen".to_owned(),
        outlook: Outlook::Unknown,
        ..CardHistory::default()
    }
}

/// A card that wraps around.
fn fake() -> Verification {
    let len = Bytes(1 << 30);
    let point = |nth: u64| SpeedPoint {
        offset: Bytes(nth << 30),
        len,
        elapsed: Nanos::from_secs(40 + nth),
    };
    let map = SpeedMap {
        points: (0..8).map(point).collect(),
    };
    let bad = Span {
        offset: Bytes(0),
        len: Bytes(4 << 30),
        state: BlockState::Overwritten {
            distance: Bytes(4 << 30),
        },
    };
    Verification {
        format: FORMAT,
        id: "019b8d5e-0000-7001-8000-000000000001".to_owned(),
        version: "0.1.0".to_owned(),
        started_unix_ms: 1_767_607_200_000,
        elapsed: Nanos::from_secs(5_400),
        target: Identity {
            path: "/dev/sdz".into(),
            kind: TargetKind::BlockDevice,
            filesystem: None,
            device: Fact::Unknown(UnknownReason::Text("not connected".to_owned())),
            system_disk: false,
            label: None,
        },
        environment: Environment::default(),
        scope: Scope::Whole { restored: false },
        seed: 1,
        completed: true,
        verdict: IntegrityVerdict {
            claimed: Bytes(8 << 30),
            capacity: Capacity::Wraps {
                real: Bytes(4 << 30),
            },
            good: Bytes(4 << 30),
            bad: vec![bad],
            bad_bytes: Bytes(4 << 30),
            write_speed: map.clone(),
            read_speed: map,
        },
    }
}

/// A start tag: its name, its attributes as text, and where its content begins.
struct Tag<'a> {
    name: &'a str,
    attributes: &'a str,
    content: usize,
}

impl Tag<'_> {
    fn attribute(&self, name: &str) -> Option<&str> {
        let (_, rest) = self.attributes.split_once(&format!(" {name}=\""))?;
        Some(rest.split_once('"')?.0)
    }
}

/// All start tags of a page, in order.
fn tags(page: &str) -> Vec<Tag<'_>> {
    let starts = page.match_indices('<');
    let tag = |(at, _): (usize, &str)| {
        let inner = page[at + 1..].split('>').next()?;
        let name = inner.split(' ').next()?;
        let is_tag = name.starts_with(|c: char| c.is_ascii_alphabetic());
        is_tag.then(|| Tag {
            name,
            attributes: &inner[name.len()..],
            content: at + 1 + inner.len() + 1,
        })
    };
    starts.filter_map(tag).collect()
}

/// The text between a start tag and its end, without markup.
fn text_of(page: &str, tag: &Tag<'_>) -> String {
    let end = format!("</{}>", tag.name);
    let inner = page[tag.content..].split(&end).next().unwrap_or_default();
    let mut text = String::new();
    let mut is_markup = false;
    for c in inner.chars() {
        match c {
            '<' => is_markup = true,
            '>' => is_markup = false,
            c if !is_markup => text.push(c),
            _ => {}
        }
    }
    text.trim().to_owned()
}

#[test]
fn headings_begin_with_the_only_h1_and_skip_no_level() {
    for (name, page) in pages() {
        let tags = tags(&page);
        let level = |tag: &Tag<'_>| tag.name.strip_prefix('h')?.parse::<u32>().ok();
        let levels: Vec<u32> = tags.iter().filter_map(level).collect();
        let firsts = levels.iter().filter(|level| **level == 1).count();
        assert_eq!(
            (levels.first(), firsts),
            (Some(&1), 1),
            "{name}: {levels:?}"
        );
        for pair in levels.windows(2) {
            assert!(pair[1] <= pair[0] + 1, "{name}: {levels:?}");
        }
        let headings = tags.iter().filter(|tag| level(tag).is_some());
        for heading in headings {
            assert!(!text_of(&page, heading).is_empty(), "{name}: empty heading");
        }
    }
}

#[test]
fn landmarks_have_names_of_their_own() {
    for (name, page) in pages() {
        let tags = tags(&page);
        let count = |wanted: &str| tags.iter().filter(|tag| tag.name == wanted).count();
        assert_eq!((count("main"), count("header")), (1, 1), "{name}");
        assert!(count("footer") <= 1 && count("nav") <= 1, "{name}");
        let is_landmark =
            |tag: &&Tag<'_>| tag.name == "nav" || tag.attribute("role") == Some("region");
        let mut seen = BTreeSet::new();
        for landmark in tags.iter().filter(is_landmark) {
            let label = landmark.attribute("aria-label").unwrap_or_default();
            assert!(!label.is_empty(), "{name}: a landmark without a name");
            assert!(
                seen.insert(label),
                "{name}: two landmarks are called {label}"
            );
        }
    }
}

#[test]
fn the_keyboard_reaches_every_scroll_region() {
    for (name, page) in pages() {
        for tag in tags(&page) {
            let classes = tag.attribute("class").unwrap_or_default();
            if classes.split(' ').any(|class| class == "scroll") {
                assert_eq!(tag.attribute("tabindex"), Some("0"), "{name}");
                assert_eq!(tag.attribute("role"), Some("region"), "{name}");
                let label = tag.attribute("aria-label").unwrap_or_default();
                assert!(!label.is_empty(), "{name}: a region without a name");
            }
        }
    }
}

#[test]
fn charts_have_a_name_and_their_data() {
    for (name, page) in pages() {
        for figure in page.split("<figure").skip(1) {
            let figure = figure.split("</figure>").next().unwrap_or_default();
            for tag in tags(figure)
                .iter()
                .filter(|tag| tag.attribute("role") == Some("img"))
            {
                let label = tag.attribute("aria-label").unwrap_or_default();
                assert!(!label.is_empty(), "{name}: a chart without a name");
            }
            assert!(
                figure.contains("<table"),
                "{name}: a chart without its data"
            );
        }
    }
}

/// Units, and figures without one, as headings of columns name them.
const UNITS: &[&str] = &[
    "MB/s",
    "IOPS",
    "1/s",
    "MiB",
    "GiB",
    "KiB",
    "%",
    "ms",
    "µs",
    "I/O",
    "× ",
    "B)",
    // Counts and figures without a unit.
    "runs",
    "Runs",
    "Run",
    "p,",
    "p（",
    "p値",
    "Hedges",
    "Cliff",
    "amplification",
    "Amplification",
    "B/B",
    "Ratio",
    "ratio",
    "requests",
    "Requests",
    "calls",
    "Byte",
    "per byte",
    "Bios",
    "bio",
    "Merged",
    "Split",
    "結合",
    "分割",
    "回数",
    "測定",
    "件数",
    "リクエスト",
    "比",
    "増幅",
    "バイト",
    "Lag",
    "ラグ",
];

/// A figure of more digits than a count of steps, without a unit behind it.
fn is_bare(cell: &str) -> bool {
    let mut digits = 0;
    for c in cell.chars() {
        match c {
            '0'..='9' => digits += 1,
            '.' | ',' | ' ' | '±' | '−' | '-' | '+' | '<' | '[' | ']' | '→' => {}
            _ => return false,
        }
    }
    digits > 0
}

#[test]
fn headings_of_figures_name_their_units() {
    let mut wrong = BTreeSet::new();
    for (name, page) in pages() {
        for table in page.split("<table").skip(1) {
            let table = table.split("</table>").next().unwrap_or_default();
            let Some((head, body)) = table.split_once("</thead>") else {
                continue;
            };
            let head = tags(head);
            let head: Vec<&Tag<'_>> = head
                .iter()
                .filter(|t| matches!(t.name, "th" | "td"))
                .collect();
            let heads: Vec<String> = head.iter().map(|tag| text_of(table, tag)).collect();
            let rows = body.split("<tr>").skip(1).map(|row| {
                let cells = tags(row);
                let cells = cells.iter().filter(|tag| matches!(tag.name, "th" | "td"));
                cells.map(|tag| text_of(row, tag)).collect::<Vec<String>>()
            });
            let rows: Vec<Vec<String>> = rows.collect();
            for (column, heading) in heads.iter().enumerate().skip(1) {
                // A unit in the name of the row counts too: `latency P99, ms`.
                let bare = rows.iter().find(|row| {
                    let of_row = row
                        .first()
                        .is_some_and(|name| UNITS.iter().any(|u| name.contains(u)));
                    !of_row && row.get(column).is_some_and(|cell| is_bare(cell))
                });
                let is_named = UNITS.iter().any(|unit| heading.contains(unit));
                if let Some(bare) = bare.filter(|_| !is_named) {
                    wrong.insert(format!("{name}: `{heading}` in {bare:?}"));
                }
            }
        }
    }
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(
        wrong.is_empty(),
        "figures without a unit:\n{}",
        wrong.join("\n")
    );
}
