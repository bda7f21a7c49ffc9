//! Budgets: how far a reader scrolls to the answer and the first chart, and how long a page is.

use super::browser::Browser;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// Measurements of a page in one window; lengths are in pixels from the top.
#[derive(Debug, Deserialize)]
pub(super) struct PageSize {
    /// End of the answer.
    answer: u64,
    /// Beginning of the first chart or matrix.
    figure: u64,
    /// Beginning of the first chart.
    chart: u64,
    height: u64,
    /// Visible words.
    words: u64,
    /// Printed A4 pages.
    #[serde(default)]
    printed: u64,
    /// Size of the file in bytes.
    #[serde(default)]
    bytes: u64,
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PageSize {
            answer,
            figure,
            chart,
            height,
            words,
            printed,
            bytes,
        } = self;
        write!(
            f,
            "answer {answer}, figure {figure}, chart {chart}, height {height} px, {words} words, {printed} A4, {} kB",
            bytes.div_ceil(1000)
        )
    }
}

/// Limits of one kind of page: of a desktop window and of a phone.
struct Budget {
    /// Beginning of a file name.
    pages: &'static str,
    /// End of the answer.
    answer: [u64; 2],
    height: [u64; 2],
    /// Beginning of the first chart: one screen, or two screens of a phone.
    chart: [u64; 2],
    words: u64,
    printed: u64,
    bytes: u64,
}

/// End of an answer that names things of usual length.
const ANSWER: [u64; 2] = [300, 400];

/// Where the first chart begins on the page of a campaign of six cards.
const CHART: [u64; 2] = [649, 1_312];
/// One screen of a desktop window, or two of a phone.
const SCREENS: [u64; 2] = [900, 1_688];

const BUDGETS: &[Budget] = &[
    // Six cards, two layers, four workloads.
    Budget {
        pages: "published",
        answer: ANSWER,
        height: [5_000, 9_500],
        chart: CHART,
        words: 2_000,
        printed: 6,
        bytes: 200_000,
    },
    // One series.
    Budget {
        pages: "bench",
        answer: ANSWER,
        height: [2_400, 5_000],
        chart: SCREENS,
        words: 2_000,
        printed: 6,
        bytes: 200_000,
    },
    Budget {
        pages: "compare",
        answer: ANSWER,
        height: [2_400, 5_000],
        chart: SCREENS,
        words: 2_000,
        printed: 6,
        bytes: 200_000,
    },
    // Five cards on two hosts, six workloads.
    Budget {
        pages: "article-e",
        answer: ANSWER,
        height: [6_200, 12_500],
        chart: SCREENS,
        words: 2_800,
        printed: 6,
        bytes: 600_000,
    },
    Budget {
        pages: "verify",
        answer: ANSWER,
        height: [1_200, 2_000],
        chart: SCREENS,
        words: 600,
        printed: 2,
        bytes: 60_000,
    },
    // Twelve cards, four layers.
    Budget {
        pages: "crowd",
        answer: [340, 500],
        height: [8_000, 17_000],
        chart: [1_400, 3_500],
        words: 4_000,
        printed: 12,
        bytes: 900_000,
    },
    Budget {
        pages: "",
        answer: ANSWER,
        height: [5_000, 9_500],
        chart: SCREENS,
        words: 2_000,
        printed: 6,
        bytes: 300_000,
    },
];

/// Measures the page that is shown.
///
/// # Errors
/// If the browser fails.
pub(super) fn measure(browser: &mut Browser, file: &Path) -> Result<PageSize> {
    let found = browser.evaluate(include_str!("measure.js"))?;
    let mut size: PageSize = serde_json::from_value(found)?;
    size.printed = browser.printed_pages()? as u64;
    size.bytes = std::fs::metadata(file)
        .context("cannot read the page")?
        .len();
    Ok(size)
}

/// Narrower windows have no budget: they are desktop windows at a high zoom.
const NARROWEST: u32 = 390;

/// The limits that a page exceeds in a window of this width.
pub(super) fn exceeded(file: &Path, width: u32, size: &PageSize) -> Vec<String> {
    if width < NARROWEST {
        return Vec::new();
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let window = usize::from(width < 500);
    let Some(budget) = BUDGETS.iter().find(|budget| name.starts_with(budget.pages)) else {
        return Vec::new();
    };
    let limits = [
        ("the answer ends at", size.answer, budget.answer[window]),
        (
            "the first chart begins at",
            size.chart,
            budget.chart[window],
        ),
        ("the page is long:", size.height, budget.height[window]),
        ("words:", size.words, budget.words),
        ("A4 pages:", size.printed, budget.printed),
        ("bytes:", size.bytes, budget.bytes),
    ];
    let beyond = limits.into_iter().filter(|(_, found, limit)| found > limit);
    let mut wrong: Vec<String> = beyond
        .map(|(what, found, limit)| format!("beyond budget: {what} {found} (limit {limit})"))
        .collect();
    if size.answer == 0 {
        wrong.push("the page has no answer".to_owned());
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_its_budget_is_reported() {
        let size = PageSize {
            answer: 301,
            figure: 500,
            chart: 700,
            height: 2_401,
            words: 10,
            printed: 7,
            bytes: 10,
        };
        let wrong = |page: &str, width| exceeded(Path::new(page), width, &size).len();
        assert_eq!(wrong("bench.html", 1280), 3);
        assert_eq!(wrong("bench.html", 390), 1);
        assert_eq!(wrong("bench.html", 320), 0);
        assert_eq!(wrong("compare.html", 1280), 3);
        assert_eq!(wrong("campaign.html", 1280), 2);
    }
}
