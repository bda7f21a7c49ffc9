//! Checks of each page in each window.

use super::server::ServeProcess;
use crate::pages::{axe, browser::Browser, look};
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::PathBuf;

/// Width in pixels, whether in dark mode, and language.
const WINDOWS: [(u32, bool, &str); 8] = [
    (1280, false, "en"),
    (1280, true, "en"),
    (360, false, "en"),
    (360, true, "en"),
    (1280, false, "ja"),
    (1280, true, "ja"),
    (360, false, "ja"),
    (360, true, "ja"),
];

/// Pages of one kind that are checked: `/run/A` and `/run/B` are of one kind.
const MOST_OF_A_KIND: usize = 3;

/// Addresses of the page that lead to other pages of the server.
const LINKS: &str = "[...document.querySelectorAll('a[href]')].map((a) => new URL(a.href))
    .filter((u) => u.origin === location.origin).map((u) => u.pathname + u.search)";

/// Numbers all visible controls of the page, and returns how many there are. Of radio buttons with one name, only one is
/// reached by the tabulator key.
const CONTROLS: &str = "(() => {
    const radios = new Set();
    const all = [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex=\"0\"]')]
        .filter((e) => !e.disabled && e.checkVisibility({ visibilityProperty: true }))
        .filter((e) => {
            if (e.type !== 'radio') return true;
            const group = e.form && [...e.form.querySelectorAll('input[type=radio]')].filter((r) => r.name === e.name);
            const own = (group && group.find((r) => r.checked)) || (group && group[0]) || e;
            return own === e;
        });
    all.forEach((e, i) => { e.dataset.control = String(i); });
    document.activeElement.blur();
    return all.length;
})()";

/// The number of the control with the focus, and whether the focus is visible; -1 without a control.
const FOCUSED: &str = "(() => {
    const e = document.activeElement;
    if (!e || e === document.body) return [-1, true];
    const style = getComputedStyle(e);
    const seen = (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== 'none';
    return [Number(e.dataset.control ?? -1), seen];
})()";

/// Results of the checks so far.
pub(super) struct PageChecks {
    shots: Option<PathBuf>,
    axe: Option<String>,
    pub(super) problems: Vec<String>,
}

impl PageChecks {
    pub(super) fn new(shots: Option<PathBuf>, axe: Option<String>) -> PageChecks {
        PageChecks {
            shots,
            axe,
            problems: Vec::new(),
        }
    }

    /// Follows all links from the first page on, and returns the pages to check: a few of each kind.
    pub(super) fn crawl(
        &mut self,
        browser: &mut Browser,
        server: &ServeProcess,
    ) -> Result<Vec<String>> {
        let mut open = VecDeque::from(["/", "/enter", "/compare?set=even&set=sprinter"]);
        let mut open: VecDeque<String> = open.drain(..).map(str::to_owned).collect();
        let mut seen = BTreeSet::new();
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        let mut pages = Vec::new();
        while let Some(path) = open.pop_front() {
            let is_page = !path.starts_with("/api/") && path != "/metrics";
            if !is_page || !seen.insert(path.clone()) {
                continue;
            }
            let kind = path.split(['/', '?']).nth(1).unwrap_or_default().to_owned();
            let count = kinds.entry(kind).or_default();
            *count += 1;
            if *count > MOST_OF_A_KIND {
                continue;
            }
            browser.visit(&format!("{}{path}", server.url))?;
            let links: Vec<String> = serde_json::from_value(browser.evaluate(LINKS)?)?;
            open.extend(links);
            pages.push(path);
        }
        let expected = [
            "anatomy",
            "campaign",
            "campaigns",
            "compare",
            "card",
            "path",
            "references",
            "results",
            "run",
            "settings",
            "verification",
        ];
        for kind in expected {
            ensure!(
                kinds.contains_key(kind),
                "no page links to a page of the kind {kind}: {pages:?}"
            );
        }
        Ok(pages)
    }

    /// Checks pages in all windows and languages.
    pub(super) fn all_windows(
        &mut self,
        browser: &mut Browser,
        server: &ServeProcess,
        pages: &[String],
    ) -> Result<()> {
        for (width, dark, language) in WINDOWS {
            browser.speak(language)?;
            browser.resize(width, dark)?;
            for path in pages {
                browser
                    .visit(&format!("{}{path}", server.url))
                    .with_context(|| path.clone())?;
                let name = format!("{}-{language}", file_name(path));
                // The keyboard first: `look` opens what is collapsed.
                let keyboard = match width < 500 && !dark {
                    true => keyboard(browser)?,
                    false => Vec::new(),
                };
                self.check(browser, &name, (width, dark), language, keyboard)?;
            }
        }
        browser.speak("en")
    }

    /// Checks the page that is shown, with problems that were found before.
    pub(super) fn check(
        &mut self,
        browser: &mut Browser,
        name: &str,
        (width, dark): (u32, bool),
        language: &str,
        mut wrong: Vec<String>,
    ) -> Result<()> {
        let name = format!("{name}-{width}-{}", if dark { "dark" } else { "light" });
        if let Some(dir) = &self.shots {
            let path = dir.join(format!("{name}.png"));
            std::fs::write(&path, browser.picture()?)
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        let (_, found) = look(browser, dark)?;
        wrong.extend(found);
        if let Some(script) = &self.axe {
            wrong.extend(axe::violations(browser, script)?);
        }
        let shown = browser.evaluate("document.documentElement.lang")?;
        if shown != language {
            wrong.push(format!("the page is in {shown}, not in {language}"));
        }
        println!("{name}: {} wrong", wrong.len());
        for wrong in wrong {
            println!("  {wrong}");
            self.problems.push(format!("{name}: {wrong}"));
        }
        Ok(())
    }
}

/// Presses the tabulator key until all controls had the focus; returns those that did not, and those without a visible
/// focus.
fn keyboard(browser: &mut Browser) -> Result<Vec<String>> {
    let count: usize = serde_json::from_value(browser.evaluate(CONTROLS)?)?;
    let mut reached = BTreeSet::new();
    let mut hidden = BTreeSet::new();
    // Scroll regions and the browser itself take the focus in between.
    for _ in 0..count + 30 {
        browser.press_tab()?;
        let (control, is_seen): (i64, bool) = serde_json::from_value(browser.evaluate(FOCUSED)?)?;
        if control >= 0 {
            reached.insert(control);
            if !is_seen {
                hidden.insert(control);
            }
        }
        if reached.len() == count {
            break;
        }
    }
    let missed = (0..count as i64).filter(|control| !reached.contains(control));
    let mut wrong = Vec::new();
    for (what, controls) in [
        ("not reached by the keyboard", missed.collect::<Vec<_>>()),
        ("focus is not visible", hidden.into_iter().collect()),
    ] {
        for control in controls.into_iter().take(3) {
            let markup = format!(
                "document.querySelector('[data-control=\"{control}\"]')?.outerHTML.slice(0, 90) ?? ''"
            );
            let markup = browser.evaluate(&markup)?;
            wrong.push(format!("{what}: {}", markup.as_str().unwrap_or_default()));
        }
    }
    Ok(wrong)
}

/// The address of a page as the name of a file.
fn file_name(path: &str) -> String {
    let known = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = path.chars().take(48).map(known).collect();
    match name.trim_matches('-') {
        "" => "home".to_owned(),
        name => name.to_owned(),
    }
}
