//! Writes pages for inspection: `HAKARU_LOOK=/some/folder cargo test -p hakaru-report --test it look::`. Without the
//! variable, the test only renders the pages, which must not fail.

use crate::support;
use hakaru_report::{
    Language, campaign_html, campaign_markdown, campaign_terminal, charts, comparison_html, csv,
    html_with, markdown, path_html, path_markdown, path_terminal, terminal, terminal_with,
    with_language,
};

/// Pages about traced runs.
fn traced() -> Vec<(String, String)> {
    use crate::support::paths;
    let (ext4, vfat) = (paths::traced_ext4(), paths::traced_vfat());
    let f2fs = paths::traced(support::sandisk(), vec![("durable", paths::f2fs())]);
    let names = |files: Vec<(&str, String)>| {
        let named = files.into_iter();
        named
            .map(|(name, text)| (format!("path-{name}"), text))
            .collect::<Vec<_>>()
    };
    let compared = comparison_html(&ext4, &vfat, &support::comparisons());
    names(vec![
        ("one.html", path_html(&ext4)),
        (
            "one-ja.html",
            with_language(Language::Japanese, || path_html(&ext4)),
        ),
        ("vfat.html", path_html(&vfat)),
        ("f2fs.html", path_html(&f2fs)),
        ("suite.html", path_html(&paths::traced_suite())),
        ("campaign.html", campaign_html(&paths::traced_campaign())),
        ("run.html", html_with(std::slice::from_ref(&ext4), &[])),
        ("compare.html", compared),
        ("one.md", path_markdown(&ext4, Some("charts"))),
        ("one-80.txt", path_terminal(&ext4, 80, true)),
        (
            "suite-80.txt",
            path_terminal(&paths::traced_suite(), 80, false),
        ),
        ("none-80.txt", path_terminal(&support::sandisk(), 80, false)),
    ])
}

#[test]
fn pages_to_look_at() {
    let one = [support::sandisk()];
    let three = [
        support::sandisk(),
        support::sandisk_vfat(),
        support::kioxia(),
    ];
    let mut files = vec![
        (
            "one.html".to_owned(),
            html_with(&one, &[support::findings()]),
        ),
        (
            "three.html".to_owned(),
            html_with(
                &three,
                &[
                    support::findings(),
                    support::findings(),
                    support::findings(),
                ],
            ),
        ),
        (
            "compare.html".to_owned(),
            comparison_html(&three[0], &three[1], &support::comparisons()),
        ),
        (
            "compare.txt".to_owned(),
            support::compared(&three[0], &three[1], 80),
        ),
        (
            "one-80.txt".to_owned(),
            terminal_with(&one[0], &support::findings(), 80, true),
        ),
        ("one-120.txt".to_owned(), terminal(&one[0], 120, true)),
        ("one.md".to_owned(), markdown(&one)),
        (
            "campaign.html".to_owned(),
            campaign_html(&support::campaign::campaign()),
        ),
        (
            "campaign.md".to_owned(),
            campaign_markdown(&support::campaign::campaign(), None),
        ),
        (
            "campaign-80.txt".to_owned(),
            campaign_terminal(&support::campaign::campaign(), 80, true),
        ),
        ("three.csv".to_owned(), csv(&three)),
    ];
    files.extend(traced());
    files.extend(
        charts(&one)
            .iter()
            .map(|chart| (format!("{}.svg", chart.name), chart.svg(720))),
    );
    if let Some(directory) = std::env::var_os("HAKARU_LOOK") {
        for (name, content) in files {
            std::fs::write(std::path::Path::new(&directory).join(name), content).unwrap();
        }
    }
}
