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

const VERBS_AND_NOUNS: &[&str] = &[
    "hakaru-model",
    "hakaru-device",
    "hakaru-engine",
    "hakaru-store",
    "hakaru-analysis",
    "hakaru-report",
];

const BELOW_THE_EDGES: &[&str] = &[
    "hakaru-model",
    "hakaru-device",
    "hakaru-engine",
    "hakaru-store",
    "hakaru-analysis",
    "hakaru-report",
    "hakaru-campaign",
    "hakaru-dialects",
];

/// The allowed imports: data flows in one direction, and the crates that act on the data model do not import each
/// other.
pub(crate) const ROOMS: &[LayerRule] = &[
    // The data model and the system layer depend on nothing.
    LayerRule {
        package: "hakaru-model",
        imports: &[],
    },
    LayerRule {
        package: "hakaru-sys",
        imports: &[],
    },
    // Crates that act on the data model; two of them need the system layer.
    LayerRule {
        package: "hakaru-device",
        imports: &["hakaru-model", "hakaru-sys"],
    },
    LayerRule {
        package: "hakaru-engine",
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
    // The campaign and dialect crates do not know each other.
    LayerRule {
        package: "hakaru-campaign",
        imports: VERBS_AND_NOUNS,
    },
    LayerRule {
        package: "hakaru-dialects",
        imports: &["hakaru-model"],
    },
    // User-facing crates. The binary contains all of them in one file.
    LayerRule {
        package: "hakaru-web",
        imports: BELOW_THE_EDGES,
    },
    LayerRule {
        package: "hakaru-fleet",
        imports: BELOW_THE_EDGES,
    },
    LayerRule {
        package: "hakaru",
        imports: &[
            "hakaru-model",
            "hakaru-device",
            "hakaru-engine",
            "hakaru-store",
            "hakaru-analysis",
            "hakaru-report",
            "hakaru-campaign",
            "hakaru-dialects",
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
struct Fence {
    packages: &'static [&'static str],
    behind: &'static [&'static str],
}

const FENCES: &[Fence] = &[
    Fence {
        packages: &["rusqlite", "libsqlite3-sys"],
        behind: &["hakaru-store"],
    },
    Fence {
        packages: &["io-uring"],
        behind: &["hakaru-sys"],
    },
    Fence {
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
    members.flat_map(check_room).collect()
}

fn check_room(package: &Package) -> Vec<Problem> {
    if SUPPORT.contains(&package.name.as_str()) {
        return Vec::new();
    }
    let Some(room) = ROOMS.iter().find(|room| room.package == package.name) else {
        let what = "has no place in the house; give it a line in ROOMS or SUPPORT of xtask/src/tidy/arrows.rs";
        return vec![Problem::new(&package.name, what)];
    };
    let of_the_house =
        |name: &str| ROOMS.iter().any(|room| room.package == name) || SUPPORT.contains(&name);
    let allowed = |dependency: &Dependency| {
        let name = dependency.name.as_str();
        // Cargo lists a crate as its own dependency if its tests use it by name.
        room.imports.contains(&name)
            || name == room.package
            || (name == RIG && dependency.kind.as_deref() == Some("dev"))
    };
    let wrong = package
        .dependencies
        .iter()
        .filter(|d| of_the_house(&d.name) && !allowed(d));
    wrong
        .map(|d| {
            let kind = d
                .kind
                .as_deref()
                .map_or(String::new(), |kind| format!(" (for {kind})"));
            Problem::new(
                &package.name,
                format!(
                    "must not import {}{kind}; its imports may be {:?}",
                    d.name, room.imports
                ),
            )
        })
        .collect()
}

/// Finds restricted packages that are used outside their crate.
pub(crate) fn check_fences(metadata: &Metadata) -> Vec<Problem> {
    FENCES
        .iter()
        .flat_map(|fence| check_fence(metadata, fence))
        .collect()
}

fn check_fence(metadata: &Metadata, fence: &Fence) -> Vec<Problem> {
    let names: BTreeMap<&str, &str> = metadata
        .packages
        .iter()
        .map(|p| (p.id.as_str(), p.name.as_str()))
        .collect();
    let edges: BTreeMap<&str, &[String]> = metadata
        .resolve
        .nodes
        .iter()
        .map(|n| (n.id.as_str(), n.dependencies.as_slice()))
        .collect();
    let name = |id: &str| names.get(id).copied().unwrap_or_default();
    let mut problems = Vec::new();
    for member in &metadata.workspace_members {
        if fence.behind.contains(&name(member)) {
            continue;
        }
        let mut seen = BTreeSet::new();
        let mut open = vec![member.as_str()];
        while let Some(id) = open.pop() {
            for next in edges.get(id).copied().unwrap_or_default() {
                if fence.packages.contains(&name(next)) {
                    let what = format!(
                        "reaches {} past {:?}, by {}",
                        name(next),
                        fence.behind,
                        name(id)
                    );
                    problems.push(Problem::new(name(member), what));
                } else if !fence.behind.contains(&name(next)) && seen.insert(next.as_str()) {
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
    fn house(packages: &[(&str, &[&str])]) -> Metadata {
        let bare = |name: &str| name.trim_start_matches("dev:").to_owned();
        let dependency = |name: &&str| Dependency {
            name: bare(name),
            kind: name.starts_with("dev:").then(|| "dev".to_owned()),
        };
        Metadata {
            packages: packages
                .iter()
                .map(|(name, deps)| Package {
                    id: (*name).to_owned(),
                    name: (*name).to_owned(),
                    dependencies: deps.iter().map(dependency).collect(),
                })
                .collect(),
            workspace_members: packages
                .iter()
                .filter(|(name, _)| name.starts_with("hakaru") || *name == "xtask")
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            resolve: Resolve {
                nodes: packages
                    .iter()
                    .map(|(name, deps)| PackageNode {
                        id: (*name).to_owned(),
                        dependencies: deps.iter().map(|d| bare(d)).collect(),
                    })
                    .collect(),
            },
        }
    }

    fn offenders(packages: &[(&str, &[&str])]) -> Vec<String> {
        let metadata = house(packages);
        let problems = check(&metadata).into_iter().chain(check_fences(&metadata));
        problems.map(|problem| problem.place).collect()
    }

    #[test]
    fn downward_arrows_are_allowed() {
        let fine: &[(&str, &[&str])] = &[
            ("hakaru-model", &["serde"]),
            (
                "hakaru-engine",
                &["hakaru-model", "hakaru-sys", "dev:hakaru-rig"],
            ),
            ("hakaru-campaign", &["hakaru-engine", "hakaru-store"]),
            (
                "hakaru",
                &["hakaru-campaign", "hakaru-dialects", "hakaru-web"],
            ),
            ("xtask", &["hakaru-dialects", "hakaru-rig", "hakaru-sys"]),
        ];
        assert!(offenders(fine).is_empty());
    }

    #[test]
    fn sideways_and_upward_arrows_are_found() {
        for (from, to) in [
            ("hakaru-model", "hakaru-sys"),
            ("hakaru-store", "hakaru-analysis"),
            ("hakaru-store", "dev:hakaru-engine"),
            ("hakaru-report", "hakaru-sys"),
            ("hakaru-dialects", "hakaru-engine"),
            ("hakaru-campaign", "hakaru-dialects"),
            ("hakaru-engine", "hakaru-campaign"),
            ("hakaru-web", "hakaru"),
            ("hakaru", "hakaru-sys"),
            ("hakaru", "hakaru-rig"),
            ("hakaru-device", "xtask"),
        ] {
            assert_eq!(offenders(&[(from, &[to])]), [from], "{from} → {to}");
        }
    }

    #[test]
    fn a_package_without_a_room_is_found() {
        assert_eq!(offenders(&[("hakaru-attic", &[])]), ["hakaru-attic"]);
    }

    #[test]
    fn fences_hold_over_any_number_of_steps() {
        let runtime: &[(&str, &[&str])] = &[
            ("hakaru-store", &["hakaru-model", "pool"]),
            ("pool", &["tokio"]),
            ("tokio", &[]),
        ];
        assert_eq!(offenders(runtime), ["hakaru-store"]);
        let through_the_edge: &[(&str, &[&str])] = &[
            ("hakaru", &["hakaru-web"]),
            ("hakaru-web", &["http"]),
            ("http", &["tokio"]),
            ("tokio", &[]),
        ];
        assert!(offenders(through_the_edge).is_empty());
        assert_eq!(
            offenders(&[("hakaru-engine", &["io-uring"]), ("io-uring", &[])]),
            ["hakaru-engine"]
        );
    }
}
