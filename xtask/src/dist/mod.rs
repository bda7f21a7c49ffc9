//! `cargo xtask dist`: static binaries of a release, as tarballs and Debian packages, with checksums and a list of
//! components.
//!
//! The same sources give the same bytes, in any directory: paths are remapped, and every time is that of the last
//! commit (or `SOURCE_DATE_EPOCH`).

mod build;
pub(crate) mod check;
mod deb;
mod sbom;
mod tarball;

use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A target of a release.
pub(crate) struct DistTarget {
    /// Name of the target in Rust.
    pub(crate) triple: &'static str,
    /// Architecture of the Debian package, if there is one.
    pub(crate) debian: Option<&'static str>,
    /// Whether code is in Thumb-2, as in Debian's armhf: a quarter smaller than in ARM instructions. ARMv6 lacks it.
    is_thumb: bool,
}

/// All targets. The armhf package has ARMv6 code, because Raspberry Pi OS uses that name for the Pi 1 and Zero too.
pub(crate) const TARGETS: &[DistTarget] = &[
    DistTarget {
        triple: "x86_64-unknown-linux-musl",
        debian: Some("amd64"),
        is_thumb: false,
    },
    DistTarget {
        triple: "aarch64-unknown-linux-musl",
        debian: Some("arm64"),
        is_thumb: false,
    },
    DistTarget {
        triple: "arm-unknown-linux-musleabihf",
        debian: Some("armhf"),
        is_thumb: false,
    },
    DistTarget {
        triple: "armv7-unknown-linux-musleabihf",
        debian: None,
        is_thumb: true,
    },
    DistTarget {
        triple: "riscv64gc-unknown-linux-musl",
        debian: None,
        is_thumb: false,
    },
];

/// What all files of a release have in common.
pub(crate) struct Release {
    version: String,
    /// Time of every file, in seconds since 1970.
    epoch: u64,
    /// Directory of the finished files.
    output: PathBuf,
    /// Manual pages and completions, which are the same for every target.
    pages: PathBuf,
}

/// Builds the named targets, or all.
///
/// # Errors
/// If a target is unknown, a tool is missing, or a step fails.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let targets = chosen(args)?;
    build::require_tools()?;
    let release = Release::prepare()?;
    let mut sizes = Vec::new();
    for target in targets {
        let program = build::build(target, &release)?;
        let mut files = vec![tarball::write(target, &release, &program)?];
        if let Some(architecture) = target.debian {
            files.push(deb::write(architecture, &release, &program)?);
        }
        sizes.push((target.triple, size(&program)?, files));
    }
    sbom::write(&release)?;
    write_checksums(&release.output)?;
    println!("{:<34} {:>10}", "target", "binary");
    for (triple, bytes, files) in &sizes {
        println!("{triple:<34} {bytes:>10}");
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            println!("  {name:<44} {:>10}", size(file)?);
        }
    }
    println!("written to {}", release.output.display());
    Ok(())
}

fn chosen(args: &[String]) -> Result<Vec<&'static DistTarget>> {
    let find = |name: &String| {
        let found = TARGETS.iter().find(|target| target.triple == name);
        found.with_context(|| {
            let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
            format!(
                "there is no target {name:?}; there are {}",
                known.join(", ")
            )
        })
    };
    match args {
        [] => Ok(TARGETS.iter().collect()),
        names => names.iter().map(find).collect(),
    }
}

impl Release {
    /// Determines version and time, and writes manual pages and completions with a program for this host.
    fn prepare() -> Result<Release> {
        let output = workspace::target().join("dist-files");
        // Files of an earlier version would get into the checksums.
        if output.exists() {
            std::fs::remove_dir_all(&output)
                .with_context(|| format!("cannot remove {}", output.display()))?;
        }
        let pages = output.join("pages");
        std::fs::create_dir_all(&pages)
            .with_context(|| format!("cannot create {}", pages.display()))?;
        let release = Release {
            version: version()?,
            epoch: epoch()?,
            output,
            pages,
        };
        release.write_pages()?;
        Ok(release)
    }

    /// Name of a release file without its ending, as cargo-binstall expects it.
    fn name(&self, target: &DistTarget) -> String {
        format!("hakaru-{}-v{}", target.triple, self.version)
    }

    fn write_pages(&self) -> Result<()> {
        let program = workspace::whole_program()?;
        let hakaru = || {
            let mut command = Command::new(&program);
            command.env("HAKARU_LANG", "en");
            command
        };
        workspace::run(hakaru().args(["man", "--dir"]).arg(self.pages.join("man")))?;
        let completions = self.pages.join("completions");
        std::fs::create_dir_all(&completions)?;
        for (shell, file) in [
            ("bash", "hakaru.bash"),
            ("zsh", "_hakaru"),
            ("fish", "hakaru.fish"),
        ] {
            let script = workspace::output(hakaru().args(["completions", shell]))?;
            std::fs::write(completions.join(file), script)?;
        }
        Ok(())
    }
}

/// The version of the workspace.
fn version() -> Result<String> {
    let manifest: toml::Table = workspace::read("Cargo.toml")?.parse()?;
    let package = manifest.get("workspace").and_then(|w| w.get("package"));
    let version = package
        .and_then(|package| package.get("version"))
        .and_then(toml::Value::as_str);
    Ok(version
        .context("Cargo.toml has no workspace.package.version")?
        .to_owned())
}

/// `SOURCE_DATE_EPOCH`, or the time of the last commit.
fn epoch() -> Result<u64> {
    let time = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(time) => time,
        Err(_) => {
            let mut git = Command::new("git");
            git.current_dir(workspace::root());
            workspace::output(git.args(["log", "-1", "--format=%ct"]))?
        }
    };
    let time = time.trim();
    time.parse()
        .with_context(|| format!("{time:?} is not a time in seconds"))
}

fn size(file: &Path) -> Result<u64> {
    let metadata = std::fs::metadata(file);
    Ok(metadata
        .with_context(|| format!("cannot read {}", file.display()))?
        .len())
}

/// Copies a file and sets its permissions.
fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let copied = || -> std::io::Result<()> {
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::copy(from, to)?;
        std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode))
    };
    copied().with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Files of a directory, sorted by name.
fn sorted(directory: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(directory)?;
        entries.map(|entry| Ok(entry?.path())).collect()
    };
    let mut files = read().with_context(|| format!("cannot list {}", directory.display()))?;
    files.sort();
    Ok(files)
}

/// A new, empty directory for the content of an archive.
fn staging(release: &Release, name: &str) -> Result<PathBuf> {
    let directory = release.output.join("staging").join(name);
    if directory.exists() {
        std::fs::remove_dir_all(&directory)?;
    }
    std::fs::create_dir_all(&directory)?;
    Ok(directory)
}

/// Packs the entries of a directory with tar: sorted, owned by root, all with the time of the release.
fn tar(release: &Release, directory: &Path, entry: &str, filter: &str) -> Result<Vec<u8>> {
    let mut tar = Command::new("tar");
    tar.current_dir(directory)
        .args(["--create", "--sort=name", "--format=gnu", "--owner=root:0"])
        .args(["--group=root:0", "--mode=u+rwX,go+rX,go-w"])
        .arg(format!("--mtime=@{}", release.epoch))
        .args(["--use-compress-program", filter, entry]);
    let out = tar.output().context("cannot start tar")?;
    ensure!(
        out.status.success(),
        "tar: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    Ok(out.stdout)
}

/// Writes `SHA256SUMS` for all files of the release.
fn write_checksums(output: &Path) -> Result<()> {
    for directory in ["staging", "pages"] {
        std::fs::remove_dir_all(output.join(directory)).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })?;
    }
    let mut sum = Command::new("sha256sum");
    sum.current_dir(output);
    for file in sorted(output)? {
        match file.file_name() {
            Some(name) if file.is_file() => sum.arg(name),
            _ => bail!("{} does not belong to a release", file.display()),
        };
    }
    let sums = workspace::output(&mut sum)?;
    print!("{sums}");
    std::fs::write(output.join("SHA256SUMS"), sums)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_chosen_by_name() {
        assert_eq!(chosen(&[]).unwrap().len(), TARGETS.len());
        let one = chosen(&["aarch64-unknown-linux-musl".to_owned()]).unwrap();
        assert_eq!(one[0].debian, Some("arm64"));
        let error = chosen(&["pdp11".to_owned()]).err().unwrap().to_string();
        assert!(error.contains("riscv64gc-unknown-linux-musl"), "{error}");
    }

    #[test]
    fn archives_of_the_same_files_are_the_same_bytes() {
        let packed = |order: [&str; 2]| {
            let folder = tempfile::tempdir().unwrap();
            for name in order {
                std::fs::create_dir_all(folder.path().join("a")).unwrap();
                std::fs::write(folder.path().join("a").join(name), name).unwrap();
            }
            let release = Release {
                version: "1.2.3".to_owned(),
                epoch: 1_700_000_000,
                output: folder.path().to_owned(),
                pages: folder.path().to_owned(),
            };
            tar(&release, folder.path(), "a", "gzip -9n").unwrap()
        };
        assert_eq!(packed(["x", "y"]), packed(["y", "x"]));
    }
}
