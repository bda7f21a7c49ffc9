//! Downloads packages from Debian's archive for any CPU, without root and without changing the system's package lists.

use super::arch::Arch;
use super::error::{KitError, clear, io_error};
use super::tools::{RigToolError, command, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The archive for one architecture.
#[derive(Debug)]
pub(super) struct DebianArchive {
    dir: PathBuf,
    arch: Arch,
    /// List of sources, if they are not the host's.
    sources: Option<PathBuf>,
}

/// Debian's own archive, for releases other than the host's.
const ARCHIVE: &str = "http://deb.debian.org/debian";

impl DebianArchive {
    /// Downloads the package lists of a release, or of the host's sources, into a private directory.
    pub(super) fn open(
        dir: &Path,
        arch: Arch,
        release: Option<&str>,
        report: &mut dyn FnMut(&str),
    ) -> Result<DebianArchive, KitError> {
        clear(dir)?;
        let dir = dir.canonicalize().map_err(io_error("cannot find", dir))?;
        for part in ["state/lists/partial", "cache/archives/partial", "packages"] {
            let part = dir.join(part);
            std::fs::create_dir_all(&part).map_err(io_error("cannot make", &part))?;
        }
        // An empty status file: apt sees no installed packages.
        let status = dir.join("status");
        std::fs::write(&status, "").map_err(io_error("cannot write", &status))?;
        let sources = release.map(|_| dir.join("sources.list"));
        if let (Some(file), Some(release)) = (&sources, release) {
            std::fs::write(file, format!("deb {ARCHIVE} {release} main\n"))
                .map_err(io_error("cannot write", file))?;
        }
        let archive = DebianArchive { dir, arch, sources };
        report(&format!("fetching the package lists for {}", arch.debian()));
        run(archive.apt("apt-get").args(["-q", "update"]))?;
        Ok(archive)
    }

    /// The name of a dependency whose name contains a changing version.
    pub(super) fn dependency(&self, package: &str, prefix: &str) -> Result<String, KitError> {
        let out = run(self.apt("apt-cache").args(["depends", package]))?;
        let text = String::from_utf8_lossy(&out);
        let mut names = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("Depends: "));
        let found = names
            .find(|name| name.starts_with(prefix))
            .map(str::to_owned);
        found.ok_or_else(|| KitError::Unusable {
            path: PathBuf::from(package),
            because: format!("the package depends on no {prefix}…"),
        })
    }

    /// Downloads a package; apt checks its signature.
    pub(super) fn fetch(&self, package: &str) -> Result<PathBuf, KitError> {
        let packages = self.dir.join("packages");
        run(self
            .apt("apt-get")
            .args(["-q", "download", package])
            .current_dir(&packages))?;
        let start = format!("{package}_");
        let mut files = std::fs::read_dir(&packages)
            .map_err(io_error("cannot list", &packages))?
            .flatten();
        let file = files.find(|file| file.file_name().to_string_lossy().starts_with(&start));
        file.map(|file| file.path()).ok_or_else(|| {
            let because = format!("apt-get download {package} left no file there");
            KitError::Unusable {
                path: packages.clone(),
                because,
            }
        })
    }

    /// Removes lists and packages.
    pub(super) fn discard(self) -> Result<(), KitError> {
        std::fs::remove_dir_all(&self.dir).map_err(io_error("cannot remove", &self.dir))
    }

    fn apt(&self, program: &str) -> Command {
        let dir = self.dir.display();
        let arch = self.arch.debian();
        let mut command = command(program);
        for option in [
            format!("Dir::State={dir}/state"),
            format!("Dir::State::status={dir}/status"),
            format!("Dir::Cache={dir}/cache"),
            format!("APT::Architecture={arch}"),
            format!("APT::Architectures::={arch}"),
            // Without privilege drop to its own user, apt needs no directory accessible to that
            // user.
            "APT::Sandbox::User=".to_owned(),
            "Debug::NoLocking=1".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            "Acquire::Retries=3".to_owned(),
        ] {
            command.arg("-o").arg(option);
        }
        if let Some(file) = &self.sources {
            let list = format!("Dir::Etc::sourcelist={}", file.display());
            command.args(["-o", &list, "-o", "Dir::Etc::sourceparts=-"]);
        }
        command
    }
}

/// Unpacks the files of a package whose paths match one of the patterns.
pub(super) fn unpack(package: &Path, patterns: &[String], into: &Path) -> Result<(), KitError> {
    let mut tree = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(package)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .map_err(RigToolError::start("dpkg-deb"))?;
    let mut tar = command("tar");
    tar.args(["-x", "--no-same-owner", "-C"])
        .arg(into)
        .arg("--wildcards")
        .args(patterns);
    if let Some(pipe) = tree.stdout.take() {
        tar.stdin(pipe);
    }
    let unpacked = run(&mut tar);
    // It exits by itself when its output is no longer read.
    let _ = tree.wait();
    unpacked?;
    Ok(())
}
