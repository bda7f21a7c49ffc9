//! Simulated `/sys`, `/proc`, `/dev` and `/etc` trees for tests, unpacked from `testdata/sysfs`
//! (format: see its README) into a temporary directory.

use crate::roots::Roots;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An unpacked tree, removed when dropped.
pub(crate) struct SysfsTree {
    folder: tempfile::TempDir,
    pub(crate) roots: Roots,
}

/// Unpacks a tree by name.
pub(crate) fn tree(name: &str) -> SysfsTree {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/sysfs")
        .join(format!("{name}.tree"));
    let text =
        std::fs::read_to_string(&source).unwrap_or_else(|e| panic!("{}: {e}", source.display()));
    let folder = tempfile::tempdir().unwrap();
    let tree = SysfsTree {
        roots: Roots::beneath(folder.path()),
        folder,
    };
    let mut short: BTreeMap<String, String> = BTreeMap::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((path, target)) = line.split_once(" -> ") {
            tree.link(&expand(path, &short), &expand(target, &short));
        } else if let Some(path) = line.strip_suffix(':') {
            let mut content = String::new();
            while let Some(more) = lines.next_if(|line| line.starts_with("    ") || line.is_empty())
            {
                content += more.strip_prefix("    ").unwrap_or(more);
                content += "\n";
            }
            tree.write(&expand(path, &short), &content);
        } else {
            let (path, content) = line
                .split_once(" =")
                .unwrap_or_else(|| panic!("{name}: `{line}` is no line"));
            match path.strip_prefix('$').filter(|name| !name.contains('/')) {
                Some(name) => drop(short.insert(name.to_owned(), expand(content.trim(), &short))),
                None => tree.write(&expand(path, &short), &format!("{}\n", content.trim())),
            }
        }
    }
    tree.link_devices(&tree.path("/sys/devices"));
    tree
}

fn expand(text: &str, short: &BTreeMap<String, String>) -> String {
    let Some(rest) = text.strip_prefix('$') else {
        return text.to_owned();
    };
    let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let long = short
        .get(name)
        .unwrap_or_else(|| panic!("`${name}` has no meaning"));
    format!("{long}{rest}")
}

impl SysfsTree {
    /// Maps a path in the tree to its real location.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path.trim_start_matches('/'))
    }

    /// Creates or replaces a file.
    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(self.path(target), path).unwrap();
    }

    /// Creates the links and nodes that the kernel provides for block devices.
    fn link_devices(&self, folder: &Path) {
        let Ok(entries) = std::fs::read_dir(folder) else {
            return;
        };
        for entry in entries
            .map(Result::unwrap)
            .filter(|entry| entry.file_type().unwrap().is_dir())
        {
            let below = entry.path();
            if let Ok(number) = std::fs::read_to_string(below.join("dev")) {
                let name = entry.file_name().into_string().unwrap();
                let target = below
                    .strip_prefix(self.folder.path())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                self.link(&format!("/sys/dev/block/{}", number.trim()), &target);
                self.link(&format!("/sys/class/block/{name}"), &target);
                self.link(&format!("/sys/block/{name}"), &target);
                self.write(&format!("/dev/{name}"), &number);
            }
            self.link_devices(&below);
        }
    }

    /// Serializes a value as JSON without the directory of the tree, so that the result is
    /// reproducible.
    pub(crate) fn masked(&self, value: &impl Serialize) -> String {
        let text = serde_json::to_string_pretty(value).unwrap();
        text.replace(&self.folder.path().display().to_string(), "")
    }
}
