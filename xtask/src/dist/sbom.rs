//! The list of components in CycloneDX, from cargo's metadata: every crate that is compiled into the program.

use super::Release;
use crate::workspace;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Writes `hakaru-vVERSION.cdx.json`.
pub(super) fn write(release: &Release) -> Result<()> {
    let mut cargo = workspace::cargo();
    cargo.args(["metadata", "--format-version=1", "--locked"]);
    let metadata: Value = serde_json::from_str(&workspace::output(&mut cargo)?)?;
    let lock = workspace::read("Cargo.lock")?.parse()?;
    let list = document(&metadata, &checksums(&lock), &release.version)?;
    let path = release
        .output
        .join(format!("hakaru-v{}.cdx.json", release.version));
    std::fs::write(path, serde_json::to_string_pretty(&list)? + "\n")?;
    Ok(())
}

/// SHA-256 sums of the crates from a registry, by name and version.
type Checksums<'a> = BTreeMap<(&'a str, &'a str), &'a str>;

fn checksums(lock: &toml::Table) -> Checksums<'_> {
    let mut sums = Checksums::new();
    let packages = lock.get("package").and_then(toml::Value::as_array);
    for package in packages.into_iter().flatten() {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str);
        if let (Some(name), Some(version), Some(sum)) =
            (text("name"), text("version"), text("checksum"))
        {
            sums.insert((name, version), sum);
        }
    }
    sums
}

/// Source: CycloneDX 1.5, JSON schema.
fn document(metadata: &Value, sums: &Checksums<'_>, version: &str) -> Result<Value> {
    let packages: BTreeMap<&str, &Value> = items(&metadata["packages"])
        .filter_map(|package| Some((package["id"].as_str()?, package)))
        .collect();
    let nodes: BTreeMap<&str, &Value> = items(&metadata["resolve"]["nodes"])
        .filter_map(|node| Some((node["id"].as_str()?, node)))
        .collect();
    let root = packages
        .iter()
        .find(|(_, package)| package["name"] == "hakaru")
        .map(|(id, _)| *id)
        .context("cargo metadata has no package hakaru")?;
    let edges: BTreeMap<&str, BTreeSet<&str>> = nodes
        .iter()
        .map(|(id, node)| (*id, compiled_dependencies(node)))
        .collect();
    let mut reached = BTreeSet::from([root]);
    let mut open = vec![root];
    while let Some(id) = open.pop() {
        for next in edges.get(id).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    let url = |id: &str| purl(packages[id]);
    let components: Vec<Value> = reached
        .iter()
        .filter(|id| **id != root)
        .map(|id| component(packages[id], "library", sums))
        .collect();
    let dependencies: Vec<Value> = reached
        .iter()
        .map(|id| {
            let on = edges.get(id).into_iter().flatten();
            let on: Vec<String> = on.map(|id| url(id)).collect();
            json!({"ref": url(id), "dependsOn": on})
        })
        .collect();
    let mut program = component(packages[root], "application", sums);
    program["version"] = json!(version);
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program},
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Dependencies that are neither for tests only nor for build scripts only, on Linux.
fn compiled_dependencies(node: &Value) -> BTreeSet<&str> {
    let is_compiled = |dependency: &&Value| {
        items(&dependency["dep_kinds"]).any(|kind| {
            let target = kind["target"].as_str().unwrap_or_default();
            let other_system = ["windows", "macos", "wasm", "apple"]
                .iter()
                .any(|system| target.contains(system) && !target.contains("not("));
            kind["kind"].is_null() && !other_system
        })
    };
    items(&node["deps"])
        .filter(is_compiled)
        .filter_map(|dependency| dependency["pkg"].as_str())
        .collect()
}

fn component(package: &Value, kind: &str, sums: &Checksums<'_>) -> Value {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let mut component = json!({
        "type": kind,
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
        "licenses": [{"expression": package["license"].as_str().unwrap_or("NOASSERTION").replace('/', " OR ")}],
    });
    if let Some(sum) = sums.get(&(text("name"), text("version"))) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    component
}

/// Package URL of a crate.
fn purl(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    format!("pkg:cargo/{}@{}", text("name"), text("version"))
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_compiled_in_is_listed() {
        let package = |name: &str| json!({"id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0"});
        let to = |name: &str, kind: Value| json!({"pkg": name, "dep_kinds": [{"kind": kind, "target": null}]});
        let packages = ["hakaru", "used", "deep", "tested", "apart"].map(package);
        let metadata = json!({
            "packages": packages,
            "resolve": {"nodes": [
                {"id": "hakaru", "deps": [to("used", Value::Null), to("tested", json!("dev"))]},
                {"id": "used", "deps": [to("deep", Value::Null)]},
            ]},
        });
        let lock = "[[package]]\nname = \"deep\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n\
                    [[package]]\nname = \"used\"\nversion = \"1.0.0\"";
        let lock = lock.parse().unwrap();
        let list = document(&metadata, &checksums(&lock), "2.0.0").unwrap();
        let names: Vec<&str> = items(&list["components"])
            .filter_map(|c| c["name"].as_str())
            .collect();
        assert_eq!(names, ["deep", "used"]);
        assert_eq!(list["metadata"]["component"]["version"], "2.0.0");
        assert_eq!(
            list["components"][0]["licenses"][0]["expression"],
            "MIT OR Apache-2.0"
        );
        assert_eq!(items(&list["dependencies"]).count(), 3);
        // Crates of the workspace are in no registry.
        assert_eq!(list["components"][0]["hashes"][0]["content"], "abc");
        assert!(list["components"][1]["hashes"].is_null());
    }
}
