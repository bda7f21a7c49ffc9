//! `cargo xtask dist-check`: installs the files of a release in minimal roots of other systems, runs them there, and
//! removes them again. Needs root and the files of `cargo xtask dist`.
//!
//! Programs for other processors run in the emulator of QEMU, which has no libaio and no io_uring. Kernels are booted in
//! the machines of the rig.

mod binfmt;
mod kernels;

pub(crate) use kernels::KERNELS;

use super::{TARGETS, size, sorted};
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A Debian or Ubuntu release for an architecture.
struct DebianSuite {
    /// Name of the check and of the directory of the root.
    name: &'static str,
    suite: &'static str,
    architecture: &'static str,
    mirror: &'static str,
}

const DEBIAN: &str = "http://deb.debian.org/debian";
const UBUNTU: &str = "http://archive.ubuntu.com/ubuntu";

#[rustfmt::skip] // A table, one root a line.
const SUITES: &[DebianSuite] = &[
    suite("bullseye", "bullseye", "amd64", DEBIAN),
    suite("bookworm", "bookworm", "amd64", DEBIAN),
    suite("trixie", "trixie", "amd64", DEBIAN),
    suite("focal", "focal", "amd64", UBUNTU),
    suite("bullseye-arm64", "bullseye", "arm64", DEBIAN),
    suite("bookworm-arm64", "bookworm", "arm64", DEBIAN),
    suite("trixie-arm64", "trixie", "arm64", DEBIAN),
    suite("bullseye-armhf", "bullseye", "armhf", DEBIAN),
    suite("bookworm-armhf", "bookworm", "armhf", DEBIAN),
    suite("trixie-armhf", "trixie", "armhf", DEBIAN),
];

const fn suite(
    name: &'static str,
    suite: &'static str,
    architecture: &'static str,
    mirror: &'static str,
) -> DebianSuite {
    DebianSuite {
        name,
        suite,
        architecture,
        mirror,
    }
}

/// A processor that QEMU emulates.
struct Emulated {
    triple: &'static str,
    /// Architecture of the roots of Debian in which the target's package is installed.
    debian: Option<&'static str>,
    emulator: &'static str,
    /// The oldest processor that the target is for, if QEMU's default has more instructions.
    cpu: Option<&'static str>,
}

const EMULATED: &[Emulated] = &[
    Emulated {
        triple: "aarch64-unknown-linux-musl",
        debian: Some("arm64"),
        emulator: "qemu-aarch64",
        cpu: Some("cortex-a53"),
    },
    Emulated {
        triple: "arm-unknown-linux-musleabihf",
        debian: Some("armhf"),
        emulator: "qemu-arm",
        cpu: Some("arm1176"),
    },
    Emulated {
        triple: "armv7-unknown-linux-musleabihf",
        debian: None,
        emulator: "qemu-arm",
        cpu: Some("cortex-a7"),
    },
    Emulated {
        triple: "riscv64gc-unknown-linux-musl",
        debian: None,
        emulator: "qemu-riscv64",
        cpu: None,
    },
];

/// What is run in each root; `$H` starts hakaru.
const STEPS: &[(&str, &str)] = &[
    ("version", "$H --version"),
    (
        "bench",
        "$H bench --quick --only=seq-write,rand-read --size=64MiB .",
    ),
    (
        "fio psync",
        "$H fio --name=a --rw=randrw --bs=4k --size=4m --ioengine=psync --filename=x",
    ),
    (
        "fio libaio",
        "$H fio --name=a --rw=randread --bs=4k --size=4m --ioengine=libaio --iodepth=8 --direct=1 --filename=x",
    ),
    ("iozone", "$H iozone -s 2m -r 64k -i 0 -i 1 -f y"),
    ("verify", "$H verify --size=16MiB ."),
    ("list", "$H list"),
    ("man", "$H man campaign run"),
    ("completions", "$H completions bash"),
    (
        "link",
        "$H link links && links/fio --version && links/iozone -v && $H link --remove links",
    ),
];

/// Steps that an emulator cannot run.
const NOT_EMULATED: &[&str] = &["fio libaio"];

/// Runs the checks of the named roots and targets, or of all whose files exist.
///
/// # Errors
/// If a check fails, or nothing could be checked.
pub(crate) fn main(args: &[String]) -> Result<()> {
    ensure!(
        rustix::process::geteuid().is_root(),
        "dist-check needs root, for chroot and debootstrap"
    );
    require_known(args)?;
    let files = workspace::target().join("dist-files");
    let wanted = |name: &str| args.is_empty() || args.iter().any(|arg| arg == name);
    let mut rows = Vec::new();
    for suite in SUITES.iter().filter(|suite| wanted(suite.name)) {
        rows.push((suite.name, check_suite(suite, &files)));
    }
    if wanted("busybox") {
        rows.push(("busybox", check_busybox(&files)));
    }
    for (name, release) in KERNELS.iter().filter(|(name, _)| wanted(name)) {
        rows.push((name, kernels::check(release, &files)));
    }
    for target in EMULATED.iter().filter(|target| wanted(target.triple)) {
        rows.push((target.triple, check_emulated(target, &files)));
    }
    let mut failed = 0;
    for (name, outcome) in &rows {
        match outcome {
            Ok(said) => println!("{name:<32} {said}"),
            Err(error) => {
                failed += 1;
                println!("{name:<32} FAILED: {error:#}");
            }
        }
    }
    ensure!(failed == 0, "{failed} of {} checks failed", rows.len());
    Ok(())
}

/// Refuses names that no check has, before any of them runs.
fn require_known(names: &[String]) -> Result<()> {
    let suites = SUITES.iter().map(|suite| suite.name);
    let kernels = KERNELS.iter().map(|(name, _)| *name);
    let emulated = EMULATED.iter().map(|target| target.triple);
    let known: Vec<&str> = suites
        .chain(["busybox"])
        .chain(kernels)
        .chain(emulated)
        .collect();
    let unknown = names.iter().find(|name| !known.contains(&name.as_str()));
    if let Some(unknown) = unknown {
        bail!(
            "there is no check {unknown:?}; the checks are {}",
            known.join(", ")
        );
    }
    Ok(())
}

/// Installs the Debian package in a minimal root, runs it and purges it.
///
/// The system of an emulated root runs on QEMU's default processor, hakaru on the oldest one that it is for.
fn check_suite(suite: &DebianSuite, files: &Path) -> Result<String> {
    let package = find(files, &format!("_{}.deb", suite.architecture))?;
    let is_same = |target: &&Emulated| target.debian == Some(suite.architecture);
    let emulated = EMULATED.iter().find(is_same);
    let _handler = emulated
        .map(|target| binfmt::Handler::register(target.emulator))
        .transpose()?;
    let root = roots()?.join(suite.name);
    if !root.join("bin/sh").exists() {
        let mut debootstrap = Command::new("debootstrap");
        debootstrap
            .arg(format!("--arch={}", suite.architecture))
            .args(["--variant=minbase", suite.suite])
            .arg(&root)
            .arg(suite.mirror)
            .stdout(Stdio::null());
        workspace::run(&mut debootstrap)?;
    }
    std::fs::copy(&package, root.join("hakaru.deb"))?;
    let before = listing(&root)?;
    in_root(&root, "dpkg -i /hakaru.deb")?;
    in_root(&root, "! command -v fio && ! command -v iozone")?;
    let cpu = emulated.and_then(|target| target.cpu);
    let program = cpu.map_or_else(
        || "hakaru".to_owned(),
        |cpu| format!("QEMU_CPU={cpu} hakaru"),
    );
    let passed = run_steps(&root, &program, emulated.is_some(), |script| {
        in_root(&root, script)
    })?;
    in_root(&root, "dpkg --purge hakaru")?;
    let libc = in_root(&root, "ldd --version | head -1")?;
    compare(&before, &listing(&root)?)?;
    let processor = cpu.map(|cpu| format!(" on {cpu}")).unwrap_or_default();
    Ok(format!(
        "installed, {passed} steps passed{processor}, purged without leftovers; {}",
        libc.trim()
    ))
}

/// Unpacks the tarball in a root that contains nothing but busybox.
fn check_busybox(files: &Path) -> Result<String> {
    let tarball = find(files, "x86_64-unknown-linux-musl-v")?;
    let busybox = workspace::find_program("busybox").context("busybox is missing")?;
    let root = roots()?.join("busybox");
    let _ = std::fs::remove_dir_all(&root);
    for directory in ["bin", "proc", "sys", "dev", "tmp", "root"] {
        std::fs::create_dir_all(root.join(directory))?;
    }
    std::fs::copy(busybox, root.join("bin/busybox"))?;
    workspace::run(
        Command::new("chroot")
            .arg(&root)
            .args(["/bin/busybox", "--install", "/bin"]),
    )?;
    let before = listing(&root)?;
    let mut tar = Command::new("tar");
    workspace::run(tar.arg("-xzf").arg(&tarball).arg("-C").arg(&root))?;
    let name = directory_name(&tarball);
    let passed = run_steps(&root, &format!("/{name}/hakaru"), false, |script| {
        in_root(&root, script)
    })?;
    std::fs::remove_dir_all(root.join(name))?;
    compare(&before, &listing(&root)?)?;
    Ok(format!("unpacked, {passed} steps passed; no libc"))
}

/// Runs the program of a target in an emulator.
fn check_emulated(target: &Emulated, files: &Path) -> Result<String> {
    let tarball = find(files, &format!("{}-v", target.triple))?;
    let emulator = binfmt::emulator(target.emulator)?;
    let folder = tempfile::tempdir_in(roots()?)?;
    let mut tar = Command::new("tar");
    workspace::run(tar.arg("-xzf").arg(&tarball).arg("-C").arg(folder.path()))?;
    let program = folder.path().join(directory_name(&tarball)).join("hakaru");
    let cpu = target.cpu.map(|cpu| format!(" -cpu {cpu}"));
    let start = format!(
        "{}{} {}",
        emulator.display(),
        cpu.unwrap_or_default(),
        program.display()
    );
    let work = folder.path().join("work");
    std::fs::create_dir(&work)?;
    let steps = STEPS
        .iter()
        .filter(|(name, _)| !NOT_EMULATED.contains(name));
    let mut passed = 0;
    for (name, step) in steps {
        // A link cannot be started without the emulator.
        let step = step.replace(" && links/fio --version && links/iozone -v", "");
        let script = format!(
            "export HOME={0} HAKARU_DB={0}/h.db; cd {0}; {1}",
            work.display(),
            step.replace("$H", &start)
        );
        output(Command::new("sh").args(["-ec", &script])).with_context(|| (*name).to_owned())?;
        passed += 1;
    }
    let bytes = size(&program)?;
    Ok(format!(
        "{passed} steps passed in {}; {bytes} bytes",
        emulator.display()
    ))
}

/// Runs every step in a work directory of a root, which is removed afterwards; returns their number.
fn run_steps(
    root: &Path,
    program: &str,
    is_emulated: bool,
    run: impl Fn(&str) -> Result<String>,
) -> Result<usize> {
    let trial = root.join("trial");
    // An interrupted check has left its own.
    let _ = std::fs::remove_dir_all(&trial);
    std::fs::create_dir_all(&trial)?;
    let mut passed = 0;
    for (name, step) in STEPS {
        if is_emulated && NOT_EMULATED.contains(name) {
            continue;
        }
        let step = step.replace("$H", program);
        let script = format!(
            "export HOME=/trial/home HAKARU_DB=/trial/h.db HAKARU_LANG=en; cd /trial; {step}"
        );
        run(&script).with_context(|| (*name).to_owned())?;
        passed += 1;
    }
    std::fs::remove_dir_all(trial)?;
    Ok(passed)
}

/// Runs a shell command in a root with `/proc`, `/sys` and `/dev`, in mounts of its own, which end with it.
fn in_root(root: &Path, script: &str) -> Result<String> {
    let mounts = "mount -t proc proc \"$0/proc\" && mount --rbind /sys \"$0/sys\" && mount --rbind /dev \"$0/dev\" && \
                  exec chroot \"$0\" /bin/sh -ec \"$1\"";
    let mut command = Command::new("unshare");
    command
        .args(["--mount", "--propagation=private", "sh", "-c", mounts])
        .arg(root)
        .arg(script)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("DEBIAN_FRONTEND", "noninteractive");
    output(&mut command)
}

/// Output of a command; an error has what it printed.
fn output(command: &mut Command) -> Result<String> {
    let out = command.stdin(Stdio::null()).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !out.status.success() {
        bail!("{}: {}{}", out.status, text(&out.stdout), text(&out.stderr));
    }
    Ok(text(&out.stdout))
}

/// Directory of the roots, which later checks use again.
fn roots() -> Result<PathBuf> {
    let path = workspace::target().join("dist-roots");
    std::fs::create_dir_all(&path)?;
    Ok(path)
}

/// The file of the release whose name contains a text.
fn find(files: &Path, part: &str) -> Result<PathBuf> {
    let known: Vec<&str> = TARGETS.iter().map(|target| target.triple).collect();
    let has = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().contains(part))
    };
    let found = sorted(files).ok().and_then(|all| all.into_iter().find(has));
    found.with_context(|| {
        format!(
            "{} has no file for {part}: run cargo xtask dist with one of {}",
            files.display(),
            known.join(", ")
        )
    })
}

/// Name of the directory in a tarball.
fn directory_name(tarball: &Path) -> String {
    let stem = tarball.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// All paths of a root, without those that dpkg and the mounts change.
fn listing(root: &Path) -> Result<BTreeSet<String>> {
    let mut find = Command::new("find");
    find.current_dir(root).args([
        ".",
        "(",
        "-path",
        "./proc",
        "-o",
        "-path",
        "./sys",
        "-o",
        "-path",
        "./dev",
        "-o",
        "-path",
        "./var/lib/dpkg",
        "-o",
        "-path",
        "./var/log",
        "-o",
        "-path",
        "./var/cache",
        ")",
        "-prune",
        "-o",
        "-print",
    ]);
    Ok(workspace::output(&mut find)?
        .lines()
        .map(str::to_owned)
        .collect())
}

fn compare(before: &BTreeSet<String>, after: &BTreeSet<String>) -> Result<()> {
    let left: Vec<&str> = after.difference(before).map(String::as_str).collect();
    let gone: Vec<&str> = before.difference(after).map(String::as_str).collect();
    ensure!(left.is_empty(), "left behind: {}", left.join(", "));
    ensure!(gone.is_empty(), "removed: {}", gone.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::version;

    #[test]
    fn an_unknown_check_is_refused_with_the_known_ones() {
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        assert!(require_known(&[]).is_ok());
        assert!(
            require_known(&names(&[
                "busybox",
                "focal",
                "riscv64gc-unknown-linux-musl"
            ]))
            .is_ok()
        );
        let error = require_known(&names(&["focal", "armv7"]))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("there is no check \"armv7\"; "),
            "{error}"
        );
        assert!(error.contains("bookworm-armhf, "), "{error}");
    }

    #[test]
    fn leftovers_are_found() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert!(compare(&set(&["a"]), &set(&["a"])).is_ok());
        let error = compare(&set(&["a"]), &set(&["a", "b"]))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "left behind: b");
        assert!(compare(&set(&["a"]), &set(&[])).is_err());
    }

    #[test]
    fn every_debian_package_is_installed_in_a_root() {
        for target in TARGETS {
            let Some(debian) = target.debian else {
                continue;
            };
            let has_root = SUITES.iter().any(|suite| suite.architecture == debian);
            assert!(has_root, "{debian}");
            let emulated = EMULATED.iter().find(|one| one.debian == Some(debian));
            let triple = emulated.map_or("x86_64-unknown-linux-musl", |one| one.triple);
            assert_eq!(triple, target.triple);
        }
    }

    #[test]
    fn files_are_found_by_target() {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("hakaru-{}-v{}.tgz", TARGETS[0].triple, version().unwrap());
        std::fs::write(folder.path().join(&name), "").unwrap();
        let found = find(folder.path(), "x86_64-unknown-linux-musl-v").unwrap();
        assert_eq!(directory_name(&found), name.trim_end_matches(".tgz"));
        assert!(find(folder.path(), "_amd64.deb").is_err());
    }
}
