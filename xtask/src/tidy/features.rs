//! Checks that `cargo xtask` and `cargo test --workspace` enable the same features of their common dependencies.
//!
//! Otherwise, CI compiles such a dependency and all crates above it twice.

use super::Problem;
use crate::workspace;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Feature sets of each package: one, unless build scripts or macros use another one.
type FeatureSets = BTreeMap<String, BTreeSet<String>>;

/// Selections of cargo whose dependencies must have the features of the tests.
const SELECTIONS: [(&str, &[&str]); 2] = [
    ("cargo xtask", &["--package", "xtask", "--edges", "normal"]),
    (
        "cargo doc",
        &[
            "--workspace",
            "--features",
            "hakaru/fleet",
            "--edges",
            "normal",
        ],
    ),
];

/// Returns the dependencies whose features differ.
///
/// # Errors
/// If cargo cannot list them.
pub(crate) fn check() -> Result<Vec<Problem>> {
    let tested = tree(&[&workspace::WHOLE_WORKSPACE[..], &["--edges", "normal,dev"]].concat())?;
    let mut problems = Vec::new();
    for (name, selection) in SELECTIONS {
        problems.extend(differences(name, &tree(selection)?, &tested));
    }
    Ok(problems)
}

fn tree(selection: &[&str]) -> Result<FeatureSets> {
    let mut cargo = workspace::cargo();
    cargo.args([
        "tree", "--locked", "--prefix", "none", "--format", "{p}|{f}",
    ]);
    let list = workspace::output(cargo.args(selection)).context("cargo lists no features")?;
    Ok(parse(&list))
}

fn parse(list: &str) -> FeatureSets {
    let mut sets = FeatureSets::new();
    for line in list.lines() {
        let line = line.trim_end_matches(" (*)");
        if let Some((package, features)) = line.rsplit_once('|') {
            let sets = sets.entry(package.to_owned()).or_default();
            sets.insert(features.to_owned());
        }
    }
    sets
}

fn differences(name: &str, of: &FeatureSets, tested: &FeatureSets) -> Vec<Problem> {
    let different = of.iter().filter_map(|(package, features)| {
        let wanted = tested.get(package).filter(|wanted| *wanted != features)?;
        let [features, wanted] = [features, wanted].map(|sets| {
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            sets.join(" and ")
        });
        let what = format!(
            "{package}: `{name}` compiles it with the features `{features}`, and the tests with `{wanted}`: \
             add what enables them to the dependencies that are not used"
        );
        Some(Problem::new("xtask/Cargo.toml", what))
    });
    different.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_packages_with_other_features() {
        let tested = parse("a v1.0.0|std,x\nb v2.0.0|\nb v2.0.0| (*)\nc v1.0.0|full\n");
        let of = parse("a v1.0.0|std\nb v2.0.0|\n");
        let found = differences("cargo xtask", &of, &tested);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0]
                .what
                .starts_with("a v1.0.0: `cargo xtask` compiles it with the features `std`")
        );
        assert!(differences("cargo doc", &tested, &tested).is_empty());
    }
}
