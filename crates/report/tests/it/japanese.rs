//! Whole documents in Japanese: no English sentence is left, every line fits, and every character is one that
//! Japanese fonts have.

use crate::support::{self, lives, paths};
use hakaru_model::annotation::Annotations;
use hakaru_model::finding::SummaryOrigin;
use hakaru_report::{
    Language, campaign_html, campaign_markdown, campaign_terminal, chart_source, columns_of,
    comparison_html, history_html, history_markdown, history_terminal, html_with, markdown_with,
    path_html, path_terminal, ranking_terminal, terminal_with, verification_html,
    verification_markdown, verification_terminal, with_language,
};
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::Path;

/// Every document of the samples, with its name.
fn documents() -> Vec<(&'static str, String)> {
    let (ext4, vfat) = (support::sandisk(), support::sandisk_vfat());
    let findings = support::findings();
    let campaign = support::campaign::campaign();
    let traced = paths::traced_campaign();
    let three = [ext4.clone(), vfat.clone(), support::kioxia()];
    with_language(Language::Japanese, || {
        let mut all = vec![
            (
                "run.html",
                html_with(std::slice::from_ref(&ext4), std::slice::from_ref(&findings)),
            ),
            (
                "runs.html",
                html_with(
                    &three,
                    &[findings.clone(), findings.clone(), findings.clone()],
                ),
            ),
            (
                "run.md",
                markdown_with(&[support::small()], std::slice::from_ref(&findings), None),
            ),
            (
                "compare.html",
                comparison_html(&ext4, &vfat, &support::comparisons()),
            ),
            ("campaign.html", campaign_html(&campaign)),
            ("campaign.md", campaign_markdown(&campaign, None)),
            ("path.html", path_html(&paths::traced_ext4())),
            ("paths.html", campaign_html(&traced)),
            (
                "verify.html",
                verification_html(&lives::fake_card(), &Annotations::default()),
            ),
            (
                "verify.md",
                verification_markdown(&lives::good_space(), &Annotations::default()),
            ),
            ("history.html", history_html(&lives::worn_card())),
            ("history.md", history_markdown(&lives::worn_card())),
        ];
        all.extend(terminals(80));
        all
    })
}

/// The samples on a terminal of `width` columns, in the language of the thread.
fn terminals(width: usize) -> Vec<(&'static str, String)> {
    let (ext4, vfat) = (support::sandisk(), support::sandisk_vfat());
    let findings = support::findings();
    let campaign = support::campaign::campaign();
    let traced = paths::traced_campaign();
    vec![
        ("run.txt", terminal_with(&ext4, &findings, width, false)),
        ("compare.txt", support::compared(&ext4, &vfat, width)),
        ("campaign.txt", campaign_terminal(&campaign, width, false)),
        ("rank.txt", ranking_terminal(&campaign, None, width, false)),
        (
            "path.txt",
            path_terminal(&paths::traced_ext4(), width, false),
        ),
        ("paths.txt", campaign_terminal(&traced, width, false)),
        (
            "verify.txt",
            verification_terminal(&lives::fake_card(), &Annotations::default(), width, false),
        ),
        (
            "free-space.txt",
            verification_terminal(&lives::good_space(), &Annotations::default(), width, false),
        ),
        (
            "history.txt",
            history_terminal(&lives::worn_card(), width, false),
        ),
        (
            "rank-database.txt",
            ranking_terminal(&campaign, Some("database"), width, false),
        ),
    ]
}

/// The text of a page: without style, attributes and tags.
fn visible(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push('\n');
        let end = match rest[at..].starts_with("<style") {
            true => rest[at..].find("</style>"),
            false => rest[at..].find('>'),
        };
        rest = end.map_or("", |end| &rest[at + end + 1..]);
    }
    text + rest
}

/// Words of the samples and of records, and names of options and programs, that stand in Japanese documents.
const STORED: &[&str] = &[
    "sandisk, raw",
    "six cards",
    "sustained write",
    "vfat, sustained",
    "write through",
    "write back",
    "the generic timer",
    "it was stopped",
    "what they are good for",
    "each point 10 times",
    "hakaru bench",
    "hakaru campaign",
    "hakaru recover",
    "sudo setcap",
    "sudo mount",
];

/// Two lower-case English words next to each other.
fn english(text: &str) -> Option<String> {
    // Text of records that is not known stands in quotes.
    let mut text = text.to_owned();
    while let Some(at) = text.find('「') {
        let end = text[at..].find('」').map_or(text.len(), |end| at + end);
        text.replace_range(at..end, "");
    }
    for stored in STORED {
        text = text.replace(stored, "X");
    }
    let is_word = |word: &str| {
        let word = word.trim_end_matches([',', '.', ':', ';', ')']);
        word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let in_line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let pair = words
            .windows(2)
            .find(|pair| is_word(pair[0]) && is_word(pair[1]));
        pair.map(|pair| format!("{} {} in: {line}", pair[0], pair[1]))
    };
    text.lines().find_map(in_line)
}

#[test]
fn no_english_sentence_is_left() {
    let mut found = Vec::new();
    for (name, document) in documents() {
        let text = match name.ends_with(".html") {
            true => visible(&document),
            false => document,
        };
        found.extend(english(&text).map(|found| format!("{name}: {found}")));
        for wrong in [
            "読み取り",
            "計測",
            "レイヤー",
            "系列",
            "全て",
            "：",
            "％",
            "，",
        ] {
            assert!(!text.contains(wrong), "{name}: {wrong}");
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn pages_name_their_language_and_are_well_formed() {
    for (name, document) in documents() {
        if name.ends_with(".html") {
            assert!(document.contains("<html lang=\"ja\""), "{name}");
            support::well_formed(&document).unwrap();
        }
    }
}

#[test]
fn lines_fit_a_terminal_in_display_width() {
    for (name, document) in documents() {
        if name.ends_with(".txt") {
            for line in document.lines() {
                assert!(
                    columns_of(line) <= 80,
                    "{name}: {} columns: {line}",
                    columns_of(line)
                );
            }
        }
    }
}

/// How often each number occurs in a text.
fn numbers(text: &str) -> BTreeMap<&str, usize> {
    let mut numbers = BTreeMap::new();
    for number in text.split(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')) {
        let number = number.trim_matches(['.', ',']);
        if !number.is_empty() {
            *numbers.entry(number).or_default() += 1;
        }
    }
    numbers
}

/// Regression: on 80 columns, Japanese names of workloads pushed the last column out of the table of results.
#[test]
fn a_narrow_terminal_omits_no_figure() {
    for language in [Language::English, Language::Japanese] {
        with_language(language, || {
            let wide = terminals(400);
            for width in [40, 60, 80, 120] {
                let pairs = wide.iter().zip(terminals(width));
                // Pictures of paths leave out labels that have no room.
                let pairs = pairs.filter(|((name, _), _)| width >= 80 || !name.starts_with("path"));
                for ((name, wide), (_, narrow)) in pairs {
                    let narrow = numbers(&narrow);
                    for (number, times) in numbers(wide) {
                        let found = narrow.get(number).copied().unwrap_or(0);
                        assert!(found >= times, "{name}, {width} columns: {number}");
                    }
                }
            }
        });
    }
}

#[test]
fn where_figures_come_from_is_in_japanese() {
    let mut summary = support::sandisk();
    for (origin, words) in [
        (
            SummaryOrigin::Published {
                source: "figures.csv".to_owned(),
            },
            "公表値（figures.csv）",
        ),
        (
            SummaryOrigin::Imported {
                program: "fio-3.39".to_owned(),
                disks: String::new(),
                zone_assumed: false,
            },
            "fio-3.39（取り込み）",
        ),
    ] {
        summary.origin = origin;
        let (page, line) = with_language(Language::Japanese, || {
            let summary = std::slice::from_ref(&summary);
            (
                html_with(summary, std::slice::from_ref(&support::findings())),
                chart_source(summary),
            )
        });
        assert!(visible(&page).contains(words), "{words}");
        assert!(line.contains(words), "{line}");
        for wrong in ["published: ", "(imported)"] {
            assert!(!page.contains(wrong), "{wrong}");
        }
    }
}

#[test]
fn a_report_in_japanese() {
    let text = with_language(Language::Japanese, || {
        terminal_with(&support::sandisk(), &support::findings(), 80, false)
    });
    insta::assert_snapshot!(text);
}

#[test]
fn a_campaign_in_japanese() {
    let text = with_language(Language::Japanese, || {
        campaign_markdown(&support::campaign::campaign(), None)
    });
    insta::assert_snapshot!(text);
}

/// Signs outside JIS X 0208 that have another meaning in every language: marks of verdicts, separators, exponents.
const OTHER_SIGNS: &str = "✓✗·⁶";

/// The literals of a source file that contain Japanese.
fn japanese_literals(source: &str) -> Vec<&str> {
    let parts = source.split('"').skip(1).step_by(2);
    let is_japanese = |c: char| ('\u{3040}'..'\u{a000}').contains(&c);
    parts.filter(|text| text.contains(is_japanese)).collect()
}

fn sources(directory: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_character_is_one_of_jis_x_0208() {
    let known: BTreeSet<char> = include_str!("support/jis_x_0208.txt").chars().collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src/text"), &mut files);
    sources(&root.join("../cli/src"), &mut files);
    sources(&root.join("../campaign/src"), &mut files);
    let mut count = 0;
    for text in files.iter().flat_map(|file| japanese_literals(file)) {
        count += 1;
        let is_known = |c: &char| c.is_ascii() || known.contains(c) || OTHER_SIGNS.contains(*c);
        let foreign: String = text.chars().filter(|c| !is_known(c)).collect();
        assert!(foreign.is_empty(), "{foreign:?} in {text}");
    }
    assert!(count > 1000, "{count} Japanese texts were found");
}
