//! `cargo xtask fuzz`: runs the parsers of untrusted input on random data.
//!
//! The targets are in `fuzz/`, a separate workspace. They are built with LLVM's coverage counters, which the stable
//! compiler can emit, in a separate directory `target/fuzz`. The corpus of a run is kept there for the next one;
//! failing inputs are kept and printed.

use crate::{parity, workspace};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A fuzz target: its name, the feature of its crate, and its initial inputs.
struct FuzzTarget {
    name: &'static str,
    feature: Option<&'static str>,
    seeds: fn() -> Result<Vec<Vec<u8>>>,
}

const TARGETS: &[FuzzTarget] = &[
    FuzzTarget {
        name: "fio_command_line",
        feature: None,
        seeds: || Ok(parity::command_lines()),
    },
    FuzzTarget {
        name: "fio_job_file",
        feature: None,
        seeds: || Ok(parity::job_files()),
    },
    FuzzTarget {
        name: "import",
        feature: None,
        seeds: printed_results,
    },
    FuzzTarget {
        name: "campaign_file",
        feature: Some("campaign"),
        seeds: || contents("crates/campaign/ready"),
    },
    FuzzTarget {
        name: "layout",
        feature: Some("layout"),
        seeds: media,
    },
    FuzzTarget {
        name: "record",
        feature: Some("records"),
        seeds: records,
    },
];

/// Targets that CI runs for a limited time.
const QUICK: &[&str] = &["fio_command_line", "fio_job_file"];

/// Coverage counters at each edge, with the operands of comparisons.
const FLAGS: &str = "-Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    --cfg fuzzing";

/// Maximum input length; longer inputs find nothing more and take longer.
const INPUT_MAX: &str = "16384";

/// Builds the targets and runs each for a limited time.
///
/// # Errors
/// If a target fails on an input, which the message names, or cannot be built.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let (mut seconds, mut names) = (60, Vec::new());
    for arg in args {
        match arg.strip_prefix("--seconds=") {
            Some(number) => {
                seconds = number
                    .parse()
                    .with_context(|| format!("{arg}: a whole number is expected"))?
            }
            None if TARGETS.iter().any(|target| target.name == arg) => names.push(arg.as_str()),
            None => {
                let known: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
                bail!(
                    "{arg} is not known; there are --seconds=60 and the targets {}",
                    known.join(", ")
                );
            }
        }
    }
    let wanted = |target: &&FuzzTarget| names.is_empty() || names.contains(&target.name);
    run(&TARGETS.iter().filter(wanted).collect::<Vec<_>>(), seconds)
}

/// The CI step: one minute for each target with few dependencies.
///
/// # Errors
/// See [`main`].
pub(crate) fn quick() -> Result<()> {
    run(&quick_targets(), 60)
}

/// Builds what [`quick`] runs.
///
/// # Errors
/// If it does not build.
pub(crate) fn build_quick() -> Result<()> {
    build(&quick_targets()).map(drop)
}

fn quick_targets() -> Vec<&'static FuzzTarget> {
    let is_quick = |target: &&FuzzTarget| QUICK.contains(&target.name);
    TARGETS.iter().filter(is_quick).collect()
}

fn run(targets: &[&FuzzTarget], seconds: u64) -> Result<()> {
    let folder = build(targets)?;
    let mut failed = Vec::new();
    // Each target uses one CPU.
    let at_once = std::thread::available_parallelism().map_or(1, usize::from);
    for together in targets.chunks(at_once) {
        let names: Vec<&str> = together.iter().map(|target| target.name).collect();
        eprintln!("--- {} for {seconds} s", names.join(", "));
        for (name, answer) in names.into_iter().zip(fuzz_all(together, &folder, seconds)) {
            if let Err(error) = answer {
                eprintln!("error: {name}: {error:#}");
                failed.push(name);
            }
        }
    }
    ensure!(
        failed.is_empty(),
        "{} failed; the failing inputs are in {}",
        failed.join(", "),
        home().display()
    );
    Ok(())
}

/// Fuzzes these targets at the same time.
fn fuzz_all(targets: &[&FuzzTarget], folder: &Path, seconds: u64) -> Vec<Result<()>> {
    std::thread::scope(|scope| {
        let start = |&target| scope.spawn(move || fuzz(target, folder, seconds));
        let threads: Vec<_> = targets.iter().map(start).collect();
        let panicked = |_| bail!("the thread that ran it panicked");
        let answers = threads.into_iter().map(|thread| thread.join());
        answers
            .map(|answer| answer.unwrap_or_else(panicked))
            .collect()
    })
}

/// Directory of the builds and the corpus.
fn home() -> PathBuf {
    workspace::target().join("fuzz")
}

/// rustc's host triple. Passing it as the target keeps the counters out of macros and build scripts.
fn host() -> Result<String> {
    let text = workspace::output(Command::new("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc -vV does not say its host")?.to_owned())
}

/// Builds the targets in one call. Returns their directory.
fn build(targets: &[&FuzzTarget]) -> Result<PathBuf> {
    let host = host()?;
    let mut cargo = workspace::cargo();
    cargo.args([
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        &host,
    ]);
    cargo
        .arg("--target-dir")
        .arg(home())
        .env("RUSTFLAGS", FLAGS)
        .env_remove("CARGO_TARGET_DIR");
    let features: Vec<&str> = targets.iter().filter_map(|target| target.feature).collect();
    cargo.arg("--features").arg(features.join(","));
    for target in targets {
        cargo.args(["--bin", target.name]);
    }
    workspace::run(&mut cargo)?;
    Ok(home().join(host).join("release"))
}

fn fuzz(target: &FuzzTarget, folder: &Path, seconds: u64) -> Result<()> {
    let (learnt, seeds) = (
        home().join("learnt").join(target.name),
        home().join("seeds").join(target.name),
    );
    fs::create_dir_all(&learnt)?;
    // Seeds are rewritten, so that seeds of removed jobs disappear.
    if seeds.exists() {
        fs::remove_dir_all(&seeds)?;
    }
    fs::create_dir_all(&seeds)?;
    for (number, seed) in (target.seeds)()?.iter().enumerate() {
        fs::write(seeds.join(number.to_string()), seed)?;
    }
    let mut command = Command::new(folder.join(target.name));
    command.current_dir(home()).arg(&learnt).arg(&seeds);
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-max_len={INPUT_MAX}"));
    command.arg(format!("-artifact_prefix={}-", target.name));
    command.args([
        "-timeout=10",
        "-rss_limit_mb=1024",
        "-print_final_stats=1",
        "-verbosity=0",
        "-use_value_profile=1",
    ]);
    workspace::run(&mut command)
}

/// Content of every file in a directory of the workspace.
fn contents(folder: &str) -> Result<Vec<Vec<u8>>> {
    let folder = workspace::root().join(folder);
    let entries =
        fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    entries.map(|entry| Ok(fs::read(entry?.path())?)).collect()
}

/// Printed results, each after a first line with its file name.
fn printed_results() -> Result<Vec<Vec<u8>>> {
    let named = |text: Vec<u8>| [b"result.txt\n".as_slice(), &text].concat();
    let mut all: Vec<Vec<u8>> = contents("crates/dialects/tests/logs")?
        .into_iter()
        .map(named)
        .collect();
    all.extend(
        contents("crates/dialects/tests/pasted")?
            .into_iter()
            .map(named),
    );
    all.extend(contents("testdata/published")?.into_iter().map(named));
    all.push(b"out_bw.1.log\n0, 1024, 0, 4096, 0\n500, 2048, 0, 4096, 4096\n".to_vec());
    all.push(b"out_clat.1.log\n1, 98123, 0, 4096\n2, 110022, 1, 4096\n".to_vec());
    Ok(all)
}

/// First sectors of new file systems, as far as the tools that make them are installed.
fn media() -> Result<Vec<Vec<u8>>> {
    let makers = [
        "mke2fs -q -F -t ext4 -b 1024",
        "mke2fs -q -F -t ext3 -b 4096",
        "mkfs.fat -F 12 -S 4096 -s 32",
        "mkfs.fat -F 16",
        "mkfs.fat -F 32 -s 1",
        "mkfs.exfat",
        "mkfs.f2fs -q -f",
        "mkfs.xfs -q -f",
    ];
    let image = home().join("image");
    let mut all = vec![b"XFSB".to_vec()];
    for maker in makers {
        fs::File::create(&image)?.set_len(320 << 20)?;
        let mut words = maker.split(' ');
        let made = Command::new(words.next().unwrap_or_default())
            .args(words)
            .arg(&image)
            .stdout(std::process::Stdio::null())
            .status();
        if made.is_ok_and(|status| status.success()) {
            let mut start = vec![0; 16384];
            fs::File::open(&image)?.read_exact(&mut start)?;
            all.push(start);
        }
    }
    fs::remove_file(&image)?;
    Ok(all)
}

/// Stored records as separate lines, and histograms.
fn records() -> Result<Vec<Vec<u8>>> {
    let text = workspace::read("testdata/store/record-format-1.jsonl")?;
    let mut all: Vec<Vec<u8>> = text.lines().map(|line| line.as_bytes().to_vec()).collect();
    all.extend([
        b"[]".to_vec(),
        b"[0,1,5,2,100,3]".to_vec(),
        b"[4991,1]".to_vec(),
    ]);
    Ok(all)
}
