//! Accessibility: axe-core, which the registry of npm has.

use super::browser::Browser;
use crate::workspace;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::process::Command;

/// The version whose rules the pages satisfy.
const PACKAGE: &str = "axe-core@4.14.1";

/// A rule that a page violates.
#[derive(Debug, Deserialize)]
struct AxeViolation {
    id: String,
    /// The first elements.
    nodes: Vec<String>,
}

/// The script, downloaded once into the target directory.
///
/// # Errors
/// If npm is missing or the registry cannot be reached.
pub(crate) fn script() -> Result<String> {
    let dir = workspace::target().join("axe-core");
    let script = dir.join("package/axe.min.js");
    if !script.exists() {
        if workspace::find_program("npm").is_none() {
            bail!("npm is missing: apt-get install npm");
        }
        std::fs::create_dir_all(&dir).context("cannot make a directory for axe-core")?;
        let mut npm = Command::new("npm");
        workspace::output(npm.args(["pack", "--silent", PACKAGE]).current_dir(&dir))?;
        let archive = format!("{}.tgz", PACKAGE.replace('@', "-"));
        workspace::run(
            Command::new("tar")
                .args(["-xzf", &archive])
                .current_dir(&dir),
        )?;
    }
    std::fs::read_to_string(&script).context("cannot read axe-core")
}

/// The violations of the page that is shown.
///
/// # Errors
/// If the script fails in the page.
pub(crate) fn violations(browser: &mut Browser, script: &str) -> Result<Vec<String>> {
    browser.evaluate(&format!("{script};0"))?;
    let run = "axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.map((v) => \
               ({ id: v.id, nodes: v.nodes.slice(0, 3).map((n) => n.target.join(' ')) })))";
    let found: Vec<AxeViolation> = serde_json::from_value(browser.evaluate(run)?)?;
    let said = |of: AxeViolation| format!("axe: {}: {}", of.id, of.nodes.join("; "));
    Ok(found.into_iter().map(said).collect())
}
