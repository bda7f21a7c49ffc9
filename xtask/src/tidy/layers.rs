//! Rules for imports between crates, checked with `cargo metadata`.
//!
//! Imports within a crate are not restricted.

use super::Problem;
use crate::workspace;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A crate and the crates it may import.
pub(crate) struct LayerRule {
    pub(crate) package: &'static str,
    imports: &'static [&'static str],
}

const BELOW_CAMPAIGN: &[&str] = &[
    "hakaru-model",
    "hakaru-device",
    "hakaru-engine",
    "hakaru-trace",
    "hakaru-store",
    "hakaru-analysis",
    "hakaru-anatomy",
    "hakaru-report",
];

/// The allowed imports: data flows in one direction, and the crates that act on the data model do not import each
/// other.
pub(crate) const LAYER_RULES: &[LayerRule] = &[
    // The data model and the system layer depend on nothing.
    LayerRule {
        package: "hakaru-model",
        imports: &[],
    },
    LayerRule {
        package: "hakaru-sys",
        imports: &[],
    },
    // Crates that act on the data model; three of them need the system layer.
    LayerRule {
        package: "hakaru-device",
        imports: &["hakaru-model", "hakaru-sys"],
    },
    LayerRule {
        package: "hakaru-engine",
        imports: &["hakaru-model", "hakaru-sys"],
    },
    LayerRule {
        package: "hakaru-trace",
        imports: &["hakaru-model", "hakaru-sys"],
    },
    LayerRule {
        package: "hakaru-store",
        imports: &["hakaru-model"],
    },
    LayerRule {
        package: "hakaru-analysis",
        imports: &["hakaru-model"],
    },
    LayerRule {
        package: "hakaru-report",
        imports: &["hakaru-model"],
    },
    // Decides what to measure next from statistics of what was measured.
    LayerRule {
        package: "hakaru-anatomy",
        imports: &["hakaru-model", "hakaru-analysis"],
    },
    // The campaign and dialect crates do not know each other.
    LayerRule {
        package: "hakaru-campaign",
        imports: BELOW_CAMPAIGN,
    },
    LayerRule {
        package: "hakaru-dialects",
        imports: &["hakaru-model"],
    },
    // Lookup and documents, shared by the command line and the web server.
    LayerRule {
        package: "hakaru-results",
        imports: &[
            "hakaru-model",
            "hakaru-device",
            "hakaru-engine",
            "hakaru-store",
            "hakaru-analysis",
            "hakaru-report",
            "hakaru-campaign",
            "hakaru-dialects",
        ],
    },
    // The web server.
    LayerRule {
        package: "hakaru-web",
        imports: &[
            "hakaru-model",
            "hakaru-device",
            "hakaru-engine",
            "hakaru-store",
            "hakaru-analysis",
            "hakaru-report",
            "hakaru-campaign",
            "hakaru-results",
        ],
    },
    // Campaigns over many hosts.
    LayerRule {
        package: "hakaru-fleet",
        imports: &[
            "hakaru-sys",
            "hakaru-model",
            "hakaru-device",
            "hakaru-engine",
            "hakaru-store",
            "hakaru-report",
            "hakaru-campaign",
            "hakaru-results",
        ],
    },
    // The binary.
    LayerRule {
        package: "hakaru",
        imports: &[
            "hakaru-model",
            "hakaru-device",
            "hakaru-engine",
            "hakaru-trace",
            "hakaru-store",
            "hakaru-analysis",
            "hakaru-anatomy",
            "hakaru-report",
            "hakaru-campaign",
            "hakaru-dialects",
            "hakaru-results",
            "hakaru-web",
            "hakaru-fleet",
        ],
    },
    // The test rig serves the simulated card, and is not shipped.
    LayerRule {
        package: "hakaru-rig",
        imports: &[
            "hakaru-model",
            "hakaru-sys",
            "hakaru-engine",
            "hakaru-device",
        ],
    },
];

/// Crates that are not shipped, and may import any crate.
const SUPPORT: &[&str] = &["xtask", "hakaru-benches", "hakaru-fuzz"];

/// Only tests and unshipped crates may use the test rig.
const RIG: &str = "hakaru-rig";

/// A package that may only be used through certain crates.
struct RestrictedPackage {
    packages: &'static [&'static str],
    /// The crates that may use it; none for a package that no crate may use.
    behind: &'static [&'static str],
}

const RESTRICTED: &[RestrictedPackage] = &[
    RestrictedPackage {
        packages: &["rusqlite", "libsqlite3-sys"],
        behind: &["hakaru-store"],
    },
    RestrictedPackage {
        packages: &["io-uring"],
        behind: &["hakaru-sys"],
    },
    RestrictedPackage {
        packages: &[
            "tokio",
            "async-std",
            "smol",
            "async-executor",
            "futures-executor",
            "actix-rt",
        ],
        behind: &["hakaru-web", "hakaru-fleet"],
    },
];

#[derive(Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<PackageNode>,
}

#[derive(Deserialize)]
struct PackageNode {
    id: String,
    dependencies: Vec<String>,
}

/// Reads the cargo metadata; the lock file must match the manifests.
pub(crate) fn metadata() -> Result<Metadata> {
    let mut cargo = workspace::cargo();
    cargo.args(["metadata", "--format-version=1", "--locked"]);
    let text = workspace::output(&mut cargo)?;
    serde_json::from_str(&text).context("cargo metadata has changed its form")
}

/// Finds forbidden imports between crates.
pub(crate) fn check(metadata: &Metadata) -> Vec<Problem> {
    let members = metadata
        .packages
        .iter()
        .filter(|package| metadata.workspace_members.contains(&package.id));
    members.flat_map(check_crate).collect()
}

fn check_crate(package: &Package) -> Vec<Problem> {
    if SUPPORT.contains(&package.name.as_str()) {
        return Vec::new();
    }
    let Some(rule) = LAYER_RULES.iter().find(|rule| rule.package == package.name) else {
        let what =
            "has no layer; give it a line in LAYER_RULES or SUPPORT of xtask/src/tidy/layers.rs";
        return vec![Problem::new(&package.name, what)];
    };
    let is_ours =
        |name: &str| LAYER_RULES.iter().any(|rule| rule.package == name) || SUPPORT.contains(&name);
    let allowed = |dependency: &Dependency| {
        let name = dependency.name.as_str();
        // Cargo lists a crate as its own dependency if its tests use it by name.
        rule.imports.contains(&name)
            || name == rule.package
            || (name == RIG && dependency.kind.as_deref() == Some("dev"))
    };
    let dependencies = package.dependencies.iter();
    let wrong = dependencies.filter(|d| is_ours(&d.name) && !allowed(d));
    let problem = |d: &Dependency| {
        let kind = d.kind.as_deref();
        let kind = kind.map_or(String::new(), |kind| format!(" (for {kind})"));
        let (name, imports) = (&d.name, rule.imports);
        let what = format!("must not import {name}{kind}; its imports may be {imports:?}");
        Problem::new(&package.name, what)
    };
    wrong.map(problem).collect()
}

/// Finds restricted packages that are used outside their crate.
pub(crate) fn check_restricted(metadata: &Metadata) -> Vec<Problem> {
    RESTRICTED
        .iter()
        .flat_map(|restricted| find_uses(metadata, restricted))
        .collect()
}

fn find_uses(metadata: &Metadata, restricted: &RestrictedPackage) -> Vec<Problem> {
    let names = metadata.packages.iter();
    let names: BTreeMap<&str, &str> = names.map(|p| (p.id.as_str(), p.name.as_str())).collect();
    let edges = metadata.resolve.nodes.iter();
    let edges: BTreeMap<&str, &[String]> = edges
        .map(|n| (n.id.as_str(), n.dependencies.as_slice()))
        .collect();
    let name = |id: &str| names.get(id).copied().unwrap_or_default();
    let may_use = |id: &str| restricted.behind.contains(&name(id));
    let mut problems = Vec::new();
    for member in metadata.workspace_members.iter().filter(|id| !may_use(id)) {
        let mut seen = BTreeSet::new();
        let mut open = vec![member.as_str()];
        while let Some(id) = open.pop() {
            for next in edges.get(id).copied().unwrap_or_default() {
                if restricted.packages.contains(&name(next)) {
                    let (used, behind) = (name(next), restricted.behind);
                    let what = format!("reaches {used} past {behind:?}, by {}", name(id));
                    problems.push(Problem::new(name(member), what));
                } else if !may_use(next) && seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace of packages with their direct dependencies; the prefix `dev:` marks one for tests only.
    fn workspace_of(packages: &[(&str, &[&str])]) -> Metadata {
        let bare = |name: &str| name.trim_start_matches("dev:").to_owned();
        let dependency = |name: &&str| Dependency {
            name: bare(name),
            kind: name.starts_with("dev:").then(|| "dev".to_owned()),
        };
        let package = |(name, deps): &(&str, &[&str])| Package {
            id: (*name).to_owned(),
            name: (*name).to_owned(),
            dependencies: deps.iter().map(dependency).collect(),
        };
        let node = |(name, deps): &(&str, &[&str])| PackageNode {
            id: (*name).to_owned(),
            dependencies: deps.iter().map(|d| bare(d)).collect(),
        };
        let names = packages.iter().map(|(name, _)| (*name).to_owned());
        Metadata {
            packages: packages.iter().map(package).collect(),
            workspace_members: names
                .filter(|name| name.starts_with("hakaru") || name == "xtask")
                .collect(),
            resolve: Resolve {
                nodes: packages.iter().map(node).collect(),
            },
        }
    }

    fn offenders(packages: &[(&str, &[&str])]) -> Vec<String> {
        let metadata = workspace_of(packages);
        let problems = check(&metadata)
            .into_iter()
            .chain(check_restricted(&metadata));
        problems.map(|problem| problem.place).collect()
    }

    #[test]
    fn imports_from_lower_layers_are_allowed() {
        let fine: &[(&str, &[&str])] = &[
            ("hakaru-model", &["serde"]),
            (
                "hakaru-engine",
                &["hakaru-model", "hakaru-sys", "dev:hakaru-rig"],
            ),
            ("hakaru-campaign", &["hakaru-engine", "hakaru-store"]),
            ("hakaru", &["hakaru-campaign", "hakaru-dialects"]),
            ("xtask", &["hakaru-dialects", "hakaru-rig", "hakaru-sys"]),
        ];
        assert!(offenders(fine).is_empty());
    }

    #[test]
    fn other_imports_are_found() {
        for (from, to) in [
            ("hakaru-model", "hakaru-sys"),
            ("hakaru-store", "hakaru-analysis"),
            ("hakaru-store", "dev:hakaru-engine"),
            ("hakaru-report", "hakaru-sys"),
            ("hakaru-dialects", "hakaru-engine"),
            ("hakaru-campaign", "hakaru-dialects"),
            ("hakaru-engine", "hakaru-campaign"),
            ("hakaru-report", "hakaru"),
            ("hakaru", "hakaru-sys"),
            ("hakaru", "hakaru-rig"),
            ("hakaru-device", "xtask"),
        ] {
            assert_eq!(offenders(&[(from, &[to])]), [from], "{from} → {to}");
        }
    }

    #[test]
    fn a_package_without_a_rule_is_found() {
        assert_eq!(offenders(&[("hakaru-attic", &[])]), ["hakaru-attic"]);
    }

    #[test]
    fn restricteds_hold_over_any_number_of_steps() {
        let runtime: &[(&str, &[&str])] = &[
            ("hakaru-store", &["hakaru-model", "pool"]),
            ("pool", &["tokio"]),
            ("tokio", &[]),
        ];
        assert_eq!(offenders(runtime), ["hakaru-store"]);
        let through_the_store: &[(&str, &[&str])] = &[
            ("hakaru", &["hakaru-store"]),
            ("hakaru-store", &["pool"]),
            ("pool", &["rusqlite"]),
            ("rusqlite", &[]),
        ];
        assert!(offenders(through_the_store).is_empty());
        assert_eq!(
            offenders(&[("hakaru-engine", &["io-uring"]), ("io-uring", &[])]),
            ["hakaru-engine"]
        );
    }
}
