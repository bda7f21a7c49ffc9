//! `cargo xtask pages`: checks the HTML reports of the program in a real browser.
//!
//! `cargo xtask pages` generates every kind of page with the program itself, from simulated cards and published
//! figures; `cargo xtask pages FILE…` checks the given files. `--shots=DIR` keeps the pages and a screenshot of each. Each page is
//! checked in desktop and phone width, in light and dark mode, and in the width of a desktop window at 400% zoom: no browser errors, no horizontal scrolling, all charts
//! visible, no overlapping labels, readable text, no violation found by axe-core, and no page beyond its budget of
//! length.

mod articles;
pub(crate) mod axe;
pub(crate) mod browser;
mod budget;
pub(crate) mod fake;
mod make;

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use browser::Browser;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Program names of the browser.
pub(crate) const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// Windows: width in pixels, and whether in dark mode. The narrowest is a desktop window at 400% zoom, in which nothing
/// may scroll sideways (WCAG 1.4.10).
const WINDOWS: [(u32, bool); 5] = [
    (1280, false),
    (1280, true),
    (390, false),
    (390, true),
    (320, false),
];

/// Findings of the script in a page.
#[derive(Debug, Deserialize)]
pub(crate) struct PageFindings {
    page_width: f64,
    window_width: f64,
    figures: u32,
    charts: u32,
    overlaps: Vec<String>,
    outside: Vec<String>,
    wide: Vec<String>,
    ground: f64,
    doubles: Vec<String>,
    faint: Vec<String>,
    dead: Vec<String>,
}

/// Checks pages.
///
/// # Errors
/// If there is no browser, a page cannot be generated or opened, or a check fails.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let (files, shots) = arguments(args)?;
    let Some(program) = PROGRAMS
        .iter()
        .find_map(|name| workspace::find_program(name))
    else {
        bail!(
            "no browser was found ({}): apt-get install chromium",
            PROGRAMS.join(", ")
        );
    };
    let home = tempfile::tempdir()?;
    let files = if files.is_empty() {
        make::pages(home.path())?
    } else {
        files
    };
    let axe = axe::script();
    if let Err(because) = &axe {
        println!("skipped: axe-core, {because:#}");
    }
    let axe = axe.ok();
    let mut browser = Browser::start(&program, home.path())?;
    if let Some(dir) = &shots {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let mut problems = Vec::new();
    for file in &files {
        for window in WINDOWS {
            let (shots, axe) = (shots.as_deref(), axe.as_deref());
            problems.extend(check(&mut browser, file, window, shots, axe)?);
        }
    }
    ensure!(
        problems.is_empty(),
        "{} problems:\n  {}",
        problems.len(),
        problems.join("\n  ")
    );
    println!("{} pages are correct", files.len());
    Ok(())
}

/// Checks a page in one window, and saves a screenshot of it to `shots`. Returns the problems with the name of the
/// window.
fn check(
    browser: &mut Browser,
    file: &Path,
    (width, dark): (u32, bool),
    shots: Option<&Path>,
    axe: Option<&str>,
) -> Result<Vec<String>> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let name = format!("{name}-{width}-{}", if dark { "dark" } else { "light" });
    browser.show(file, width, dark)?;
    // As a reader first sees it: `look` opens what is collapsed.
    let size = budget::measure(browser, file)?;
    if let Some(dir) = shots {
        let page = dir.join(file.file_name().unwrap_or_default());
        if page != file {
            std::fs::copy(file, &page)
                .with_context(|| format!("cannot write {}", page.display()))?;
        }
        let path = dir.join(format!("{name}.png"));
        std::fs::write(&path, browser.picture()?)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let (found, mut wrong) = look(browser, dark)?;
    wrong.extend(budget::exceeded(file, width, &size));
    wrong.extend(axe.map_or(Ok(Vec::new()), |script| axe::violations(browser, script))?);
    println!(
        "{name}: {size}, {} charts, {} wrong",
        found.figures,
        wrong.len()
    );
    let wrong: Vec<String> = wrong
        .into_iter()
        .map(|wrong| format!("{name}: {wrong}"))
        .collect();
    wrong.iter().for_each(|wrong| println!("  {wrong}"));
    Ok(wrong)
}

fn arguments(args: &[String]) -> Result<(Vec<PathBuf>, Option<PathBuf>)> {
    let (mut files, mut shots) = (Vec::new(), None);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--shots" => {
                let dir = args.next().context("--shots wants a directory")?;
                shots = Some(PathBuf::from(dir));
            }
            option if option.starts_with('-') => match option.split_once('=') {
                Some(("--shots", dir)) => shots = Some(PathBuf::from(dir)),
                _ => bail!("{option} is not known; there is --shots=DIR"),
            },
            file => files.push(PathBuf::from(file)),
        }
    }
    if let Some(missing) = files.iter().find(|file| !file.is_file()) {
        bail!(
            "{}: no such page; name a file, or none for all pages",
            missing.display()
        );
    }
    Ok((files, shots))
}

/// Reports the errors of the page that is shown.
pub(crate) fn look(browser: &mut Browser, dark: bool) -> Result<(PageFindings, Vec<String>)> {
    let found: PageFindings = serde_json::from_value(browser.evaluate(include_str!("look.js"))?)?;
    let mut wrong = browser.complaints();
    let (wide, window) = (found.page_width, found.window_width);
    if wide > window {
        let by = found.wide.join(", ");
        wrong.push(format!(
            "scrolls sideways: {wide} px in a window of {window}: {by}"
        ));
    }
    let (seen, all) = (found.charts, found.figures);
    if seen != all {
        wrong.push(format!("{seen} of {all} charts are in sight"));
    }
    if dark == (found.ground > 0.5) {
        wrong.push(format!("the ground has a lightness of {:.2}", found.ground));
    }
    for (what, list) in [
        ("labels overlap", &found.overlaps),
        ("labels leave their chart", &found.outside),
        ("ids come twice", &found.doubles),
        ("text is too faint", &found.faint),
        ("links lead nowhere", &found.dead),
    ] {
        if !list.is_empty() {
            wrong.push(format!("{what}: {}", list.join("; ")));
        }
    }
    Ok((found, wrong))
}
