//! Rules for manifests: each dependency, version and lint comes from the workspace table.

use super::{Problem, TextFile};
use toml::{Table, Value};

const KINDS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Keys that every package inherits from the workspace.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license"];

/// Checks every manifest except that of the workspace.
pub(crate) fn check(files: &[TextFile]) -> Vec<Problem> {
    let manifests = files
        .iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"));
    manifests.flat_map(check_manifest).collect()
}

fn check_manifest(file: &TextFile) -> Vec<Problem> {
    let manifest: Table = match file.text.parse() {
        Ok(table) => table,
        Err(error) => return vec![Problem::new(&file.path, error.to_string())],
    };
    // A separate workspace, such as that of the fuzz targets, has no table to inherit from.
    if manifest.contains_key("workspace") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut complain = |what: String| problems.push(Problem::new(&file.path, what));
    for (kind, name, value) in dependencies(&manifest) {
        if !from_workspace(value) {
            complain(format!(
                "{kind}: {name} does not come from [workspace.dependencies]; write {name}.workspace = true"
            ));
        }
    }
    let package = manifest.get("package").and_then(Value::as_table);
    let inherits = |key: &str| package?.get(key).map(from_workspace);
    for key in INHERITED.iter().filter(|key| inherits(key) != Some(true)) {
        complain(format!(
            "package.{key} does not come from the workspace; write {key}.workspace = true"
        ));
    }
    if !manifest.get("lints").is_some_and(from_workspace) {
        complain("the lints of the workspace are off; write [lints] workspace = true".to_owned());
    }
    problems
}

/// Returns all dependencies with their type, including target-specific ones.
fn dependencies(manifest: &Table) -> Vec<(&str, &str, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = std::iter::once(manifest).chain(
        targets
            .into_iter()
            .flat_map(Table::values)
            .filter_map(Value::as_table),
    );
    let mut found = Vec::new();
    for table in tables {
        for kind in KINDS {
            let entries = table
                .get(*kind)
                .and_then(Value::as_table)
                .into_iter()
                .flatten();
            found.extend(entries.map(|(name, value)| (*kind, name.as_str(), value)));
        }
    }
    found
}

fn from_workspace(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "[package]\nname = \"x\"\nversion.workspace = true\nedition.workspace = true\n\
                        rust-version.workspace = true\nlicense.workspace = true\n[lints]\nworkspace = true\n";

    fn complaints(body: &str) -> Vec<String> {
        let file = TextFile {
            path: "crates/x/Cargo.toml".to_owned(),
            text: format!("{HEAD}{body}"),
        };
        check(&[file])
            .into_iter()
            .map(|problem| problem.what)
            .collect()
    }

    #[test]
    fn dependencies_of_the_workspace_pass() {
        assert!(
            complaints("[dependencies]\nserde.workspace = true\nlibc = { workspace = true }\n")
                .is_empty()
        );
    }

    #[test]
    fn own_versions_are_found_in_every_table() {
        for table in [
            "dependencies",
            "dev-dependencies",
            "build-dependencies",
            "target.'cfg(unix)'.dependencies",
        ] {
            let found = complaints(&format!(
                "[{table}]\nlibc = \"0.2\"\nserde = {{ version = \"1\" }}\n"
            ));
            assert_eq!(found.len(), 2, "{table}: {found:?}");
        }
    }

    #[test]
    fn a_package_of_its_own_mind_is_found() {
        let file = TextFile {
            path: "crates/x/Cargo.toml".to_owned(),
            text: "[package]\nversion = \"2\"\n".to_owned(),
        };
        assert_eq!(check(&[file]).len(), INHERITED.len() + 1);
    }
}
