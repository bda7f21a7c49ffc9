//! The tarball of a target: program, manual pages, completions, licenses.

use super::{DistTarget, Release, copy, sorted, staging, tar};
use crate::workspace;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Files of the workspace that every archive contains.
pub(super) const DOCUMENTS: [&str; 4] =
    ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Writes `hakaru-TARGET-vVERSION.tgz`, which contains a directory of the same name.
pub(super) fn write(target: &DistTarget, release: &Release, program: &Path) -> Result<PathBuf> {
    let name = release.name(target);
    let staging = staging(release, "tarball")?;
    let root = staging.join(&name);
    copy(program, &root.join("hakaru"), 0o755)?;
    for document in DOCUMENTS {
        copy(
            &workspace::root().join(document),
            &root.join(document),
            0o644,
        )?;
    }
    for directory in ["man", "completions"] {
        for file in sorted(&release.pages.join(directory))? {
            let to = root
                .join(directory)
                .join(file.file_name().unwrap_or_default());
            copy(&file, &to, 0o644)?;
        }
    }
    let path = release.output.join(format!("{name}.tgz"));
    std::fs::write(&path, tar(release, &staging, &name, "gzip -9n")?)?;
    Ok(path)
}
