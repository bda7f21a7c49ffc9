//! The types of the workspace as their source code defines them.

use crate::workspace;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Definitions of types, by name. `cargo xtask tidy` keeps the names of types unique in the workspace.
pub(super) struct SourceTypes(BTreeMap<String, syn::Item>);

impl SourceTypes {
    /// Reads the types of crates; of a name that several crates have, the first one counts.
    ///
    /// # Errors
    /// If a file cannot be read or is not Rust.
    pub(super) fn read(crates: &[&str]) -> Result<SourceTypes> {
        let mut types = SourceTypes(BTreeMap::new());
        for name in crates {
            let root = workspace::root().join("crates").join(name).join("src");
            for path in rust_files(&root)? {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                let file = syn::parse_file(&text)
                    .with_context(|| format!("cannot parse {}", path.display()))?;
                types.add(file.items);
            }
        }
        Ok(types)
    }

    /// Returns the definition of a type.
    pub(super) fn find(&self, name: &str) -> Option<&syn::Item> {
        self.0.get(name)
    }

    fn add(&mut self, items: Vec<syn::Item>) {
        for item in items {
            let name = match &item {
                syn::Item::Struct(of) => of.ident.to_string(),
                syn::Item::Enum(of) => of.ident.to_string(),
                syn::Item::Type(of) => of.ident.to_string(),
                _ => String::new(),
            };
            if let syn::Item::Mod(of) = item {
                let is_test = of.attrs.iter().any(|attr| attr.path().is_ident("cfg"));
                if let (false, Some((_, items))) = (is_test, of.content) {
                    self.add(items);
                }
                continue;
            }
            if !name.is_empty() {
                self.0.entry(name).or_insert(item);
            }
        }
    }
}

/// Returns the Rust files below a directory, in the order of their names.
fn rust_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let entries =
        std::fs::read_dir(root).with_context(|| format!("cannot read {}", root.display()));
    for entry in entries? {
        let path = entry?.path();
        match path.extension() {
            _ if path.is_dir() => files.extend(rust_files(&path)?),
            Some(kind) if kind == "rs" => files.push(path),
            _ => {}
        }
    }
    files.sort();
    Ok(files)
}
