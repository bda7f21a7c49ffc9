//! Debian packages, without maintainer scripts: nothing runs at installation, and removal leaves nothing.
//!
//! Source: deb(5), deb-control(5), Debian Policy 4.6, chapters 5, 9 and 12.

use super::tarball::DOCUMENTS;
use super::{Release, copy, sorted, staging, tar};
use crate::workspace;
use anyhow::{Context, Result, ensure};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Programs that format cards, and data that reports use if present. The program itself is static.
const RECOMMENDS: &str = "dosfstools, e2fsprogs, exfatprogs, f2fs-tools";
const SUGGESTS: &str = "btrfs-progs, fonts-dejavu-core, man-db, tzdata, xfsprogs";

const DESCRIPTION: &str = "storage benchmark for SD cards, SSDs and file systems\n \
hakaru measures cards, disks and file systems with its own I/O engine. It\n \
repeats each measurement, stores it together with its circumstances, and\n \
shows every number with its variation and its caveats. It also runs command\n \
lines of fio and iozone.";

/// The service of an agent, which `hakaru agent --install` enables.
const AGENT_UNIT: &str = include_str!("../../../crates/fleet/src/hakaru-agent.service");

/// Unit of `hakaru serve`, started by each user who wants it.
///
/// Source: systemd.service(5), systemd.kill(5). Measurements are children of the server and go on when it stops.
const SERVE_UNIT: &str = "[Unit]
Description=Results of hakaru in a browser
Documentation=man:hakaru-serve(1)

[Service]
ExecStart=/usr/bin/hakaru serve
KillMode=process
Restart=on-failure

[Install]
WantedBy=default.target
";

/// Writes the package of an architecture.
pub(super) fn write(architecture: &str, release: &Release, program: &Path) -> Result<PathBuf> {
    let root = staging(release, "deb")?;
    let data = root.join("data");
    fill(&data, release, program)?;
    let control = root.join("control");
    std::fs::create_dir_all(&control)?;
    let text = control_file(architecture, &release.version, installed_size(&data)?);
    std::fs::write(control.join("control"), text)?;
    std::fs::write(control.join("md5sums"), checksums(&data)?)?;
    let archive = ar(
        release.epoch,
        &[
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.xz", tar(release, &control, ".", "xz -6 -T1")?),
            (
                "data.tar.xz",
                tar(release, &data, ".", compression(architecture))?,
            ),
        ],
    );
    let name = format!("hakaru_{}-1_{architecture}.deb", release.version);
    let path = release.output.join(name);
    std::fs::write(&path, archive)?;
    Ok(path)
}

/// The compressor of an architecture: with a filter that makes addresses of calls absolute, so that calls of one function
/// are the same bytes.
///
/// Source: xz(1). Its filter for arm64 is missing, because Debian 11 and Ubuntu 20.04 cannot unpack it.
fn compression(architecture: &str) -> &'static str {
    match architecture {
        "amd64" => "xz -T1 --x86 --lzma2=preset=9e",
        "armhf" => "xz -T1 --arm --lzma2=preset=9e",
        _ => "xz -T1 -9e",
    }
}

/// Copies the files of the package to their places.
fn fill(data: &Path, release: &Release, program: &Path) -> Result<()> {
    copy(program, &data.join("usr/bin/hakaru"), 0o755)?;
    for page in sorted(&release.pages.join("man"))? {
        let name = page.file_name().unwrap_or_default().to_string_lossy();
        let to = data.join(format!("usr/share/man/man1/{name}.gz"));
        compress(&page, &to)?;
    }
    let completions = release.pages.join("completions");
    for (file, to) in [
        ("hakaru.bash", "bash-completion/completions/hakaru"),
        ("_hakaru", "zsh/vendor-completions/_hakaru"),
        ("hakaru.fish", "fish/vendor_completions.d/hakaru.fish"),
    ] {
        let to = data.join("usr/share").join(to);
        copy(&completions.join(file), &to, 0o644)?;
    }
    let units = data.join("usr/lib/systemd/user");
    std::fs::create_dir_all(&units)?;
    std::fs::write(units.join("hakaru-serve.service"), SERVE_UNIT)?;
    let units = data.join("usr/lib/systemd/system");
    std::fs::create_dir_all(&units)?;
    let unit = AGENT_UNIT.replace("/usr/local/bin/", "/usr/bin/");
    std::fs::write(units.join("hakaru-agent.service"), unit)?;
    let documents = data.join("usr/share/doc/hakaru");
    for name in DOCUMENTS {
        let from = workspace::root().join(name);
        match name {
            "CHANGELOG.md" => compress(&from, &documents.join("changelog.gz"))?,
            "LICENSE-MIT" => copy(&from, &documents.join("copyright"), 0o644)?,
            "LICENSE-APACHE" => compress(&from, &documents.join("LICENSE-APACHE.gz"))?,
            name => copy(&from, &documents.join(name), 0o644)?,
        }
    }
    Ok(())
}

/// Compresses a file without its name and time.
fn compress(from: &Path, to: &Path) -> Result<()> {
    let input =
        std::fs::File::open(from).with_context(|| format!("cannot read {}", from.display()))?;
    let out = Command::new("gzip")
        .args(["-9", "-n", "--stdout"])
        .stdin(input)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start gzip")?;
    ensure!(out.status.success(), "gzip ended with {}", out.status);
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(to, out.stdout)?;
    Ok(())
}

fn control_file(architecture: &str, version: &str, kib: u64) -> String {
    format!(
        "Package: hakaru\nVersion: {version}-1\nArchitecture: {architecture}\nMaintainer: The hakaru contributors\n\
         Section: utils\nPriority: optional\nInstalled-Size: {kib}\nRecommends: {RECOMMENDS}\nSuggests: {SUGGESTS}\n\
         Description: {DESCRIPTION}\n"
    )
}

/// All files below a directory, with their paths relative to it, sorted.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for path in sorted(&next)? {
            match path.is_dir() {
                true => open.push(path),
                false => found.push(path.strip_prefix(directory)?.to_owned()),
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Size of all files in KiB, each rounded up.
fn installed_size(data: &Path) -> Result<u64> {
    let sizes = files(data)?
        .into_iter()
        .map(|file| super::size(&data.join(file)));
    sizes.map(|size| Ok(size?.div_ceil(1024))).sum()
}

/// Checksums of all files, as dpkg verifies them.
fn checksums(data: &Path) -> Result<String> {
    workspace::output(Command::new("md5sum").current_dir(data).args(files(data)?))
}

/// An ar archive whose members all have the same time.
fn ar(epoch: u64, members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, content) in members {
        // Ignored: writing to memory does not fail.
        let _ = writeln!(
            archive,
            "{name:<16}{epoch:<12}{:<6}{:<6}{:<8}{:<10}`",
            0,
            0,
            100_644,
            content.len()
        );
        archive.extend(content);
        if content.len() % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ar_members_have_headers_of_60_bytes_at_even_offsets() {
        let archive = ar(
            1_700_000_000,
            &[("a", b"xyz".to_vec()), ("b", b"12".to_vec())],
        );
        assert_eq!(archive.len(), 8 + 60 + 4 + 60 + 2);
        assert_eq!(&archive[8..10], b"a ");
        assert_eq!(&archive[66..71], b"`\nxyz");
        assert_eq!(&archive[72..74], b"b ");
        assert_eq!(&archive[archive.len() - 2..], b"12");
    }

    #[test]
    fn control_fields_are_complete() {
        let text = control_file("armhf", "1.2.3", 42);
        for field in [
            "Package: hakaru",
            "Version: 1.2.3-1",
            "Architecture: armhf",
            "Installed-Size: 42",
        ] {
            assert!(text.lines().any(|line| line == field), "{field}");
        }
        let continued = text
            .lines()
            .skip_while(|line| !line.starts_with("Description"));
        assert!(
            continued.skip(1).all(|line| line.starts_with(' ')),
            "{text}"
        );
        assert!(
            !text.contains("Depends"),
            "a static program depends on nothing"
        );
    }
}
