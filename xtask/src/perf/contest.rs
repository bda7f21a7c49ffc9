//! A comparison of several programs that run the same I/O in turn.

use super::PerfOptions;
use crate::workspace::{self, output};
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::Command;

/// Files and programs that the contests need.
pub(crate) struct PerfSetup {
    pub(crate) ours: PathBuf,
    pub(crate) bare: PathBuf,
    pub(crate) fio: Option<PathBuf>,
    /// A second fio, if given.
    pub(crate) newer: Option<PathBuf>,
    pub(crate) t_io_uring: Option<PathBuf>,
    /// A file on tmpfs that supports direct I/O.
    pub(crate) tmpfs: PathBuf,
    /// A file on a disk, entirely in the page cache.
    pub(crate) cached: PathBuf,
    /// A RAM disk that fits in the CPU caches.
    pub(crate) small: PathBuf,
    /// A RAM disk larger than the CPU caches.
    pub(crate) large: PathBuf,
    /// A compressed RAM disk (zram).
    pub(crate) zram: Option<PathBuf>,
    /// The CPU that everything is pinned to.
    pub(crate) cpu: usize,
}

/// Size of each target in bytes.
pub(crate) const FILE: u64 = 256 << 20;

/// Size of the small RAM disk in bytes.
pub(crate) const SMALL: u64 = 16 << 20;

/// Size of the large RAM disk in bytes.
pub(crate) const LARGE: u64 = 1 << 30;

impl PerfSetup {
    /// Builds the programs and creates the files.
    pub(crate) fn prepare(newer: Option<PathBuf>) -> Result<PerfSetup> {
        let build = ["build", "--release", "-p", "hakaru", "-p", "hakaru-benches"];
        workspace::run(workspace::cargo().args(build))
            .context("the programs could not be built")?;
        let release = workspace::target().join("release");
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let fio = workspace::find_program("fio");
        if fio.is_none() {
            println!("SKIPPED: fio is not installed: its contestants are left out");
        }
        // From here on, dropping the setup removes the files, even if a later step fails.
        let mut bench = PerfSetup {
            ours: release.join("hakaru"),
            bare: release.join("hakaru-bare"),
            fio,
            newer,
            t_io_uring: workspace::find_program("t_io_uring")
                .or_else(|| workspace::find_program("fio-t_io_uring")),
            tmpfs: PathBuf::from("/dev/shm/hakaru-perf"),
            cached: release.join("hakaru-perf.data"),
            small: release.join("hakaru-perf-small.data"),
            large: release.join("hakaru-perf-large.data"),
            zram: None,
            cpu: cpus - 1,
        };
        for (file, size) in [
            (&bench.tmpfs, FILE),
            (&bench.cached, FILE),
            (&bench.small, SMALL),
            (&bench.large, LARGE),
        ] {
            let made = File::create(file).and_then(|out| fill(out, size));
            made.with_context(|| format!("cannot make {}", file.display()))?;
        }
        bench.zram = zram();
        if bench.zram.is_none() {
            println!(
                "SKIPPED: no zram disk can be made here (it takes root and the module): its contests are left out"
            );
        }
        Ok(bench)
    }
}

impl Drop for PerfSetup {
    fn drop(&mut self) {
        for file in [&self.tmpfs, &self.cached, &self.small, &self.large] {
            // The file may have been removed already.
            let _ = std::fs::remove_file(file);
        }
        if self.zram.is_some() {
            reset_zram();
        }
    }
}

/// Writes random content, because zram stores zeros in no space.
pub(super) fn fill(mut out: File, size: u64) -> std::io::Result<()> {
    let mut random = File::open("/dev/urandom")?.take(size);
    std::io::copy(&mut random, &mut out)?;
    out.sync_all()
}

/// Creates a zram disk if none is in use.
fn zram() -> Option<PathBuf> {
    let size = std::fs::read_to_string("/sys/block/zram0/disksize").ok()?;
    if size.trim() != "0" {
        return None;
    }
    std::fs::write("/sys/block/zram0/disksize", FILE.to_string()).ok()?;
    let device = PathBuf::from("/dev/zram0");
    let filled = File::options()
        .write(true)
        .open(&device)
        .and_then(|out| fill(out, FILE));
    if filled.is_err() {
        // The disk would keep its memory, and look used by another process later.
        reset_zram();
    }
    filled.ok().map(|()| device)
}

fn reset_zram() {
    // A disk that cannot be reset is in use; the error is ignored.
    let _ = std::fs::write("/sys/block/zram0/reset", "1");
}

/// A program under comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contestant {
    /// `hakaru fio` with these options.
    Ours(Vec<String>),
    /// The installed fio with these options.
    Fio(Vec<String>),
    /// The second fio with these options.
    Newer(Vec<String>),
    /// A minimal loop of `hakaru-bare` with these arguments.
    Bare(Vec<String>),
    /// fio's ring benchmark `t/io_uring` on no-operations.
    TIoUring,
}

/// Result of one run of one contestant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Score {
    pub(crate) iops: f64,
    pub(crate) user_ns: f64,
    pub(crate) system_ns: f64,
}

/// Scores by contestant, then by round.
pub(crate) type Measured = Vec<Vec<Score>>;

/// Programs that run the same I/O.
pub(crate) struct Contest {
    pub(crate) name: String,
    /// File to read before each run, so that all of it is in the page cache.
    pub(crate) warm: Option<PathBuf>,
    pub(crate) contestants: Vec<(String, Contestant)>,
    pub(crate) bounds: Vec<RatioBound>,
    pub(crate) programs: Programs,
}

/// Paths of the programs.
#[derive(Clone)]
pub(crate) struct Programs {
    pub(crate) ours: PathBuf,
    pub(crate) bare: PathBuf,
    pub(crate) fio: Option<PathBuf>,
    pub(crate) newer: Option<PathBuf>,
    pub(crate) t_io_uring: Option<PathBuf>,
    pub(crate) cpu: usize,
}

/// A required ratio between two contestants.
#[derive(Clone, Copy)]
pub(crate) struct RatioBound {
    pub(crate) name: &'static str,
    pub(crate) ours: usize,
    pub(crate) theirs: usize,
    pub(crate) figure: PerfFigure,
    pub(crate) at_least: Option<f64>,
    pub(crate) at_most: Option<f64>,
    /// The bare loop that makes the same system calls as `ours`, if it may lower `at_least`: no program that makes
    /// these calls is faster.
    pub(crate) ceiling: Option<usize>,
}

/// Share of the bare loop that is required where the bare loop itself does not reach a bound.
const SHARE_OF_BARE: f64 = 0.95;

/// A measured ratio and what is required of it.
pub(crate) struct JudgedRatio {
    pub(crate) ratio: Ratio,
    pub(crate) wanted: String,
    pub(crate) holds: bool,
}

/// The figure that a bound applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PerfFigure {
    Iops,
    /// Elapsed time per I/O.
    WallNs,
    UserNs,
    CpuNs,
}

/// A ratio over all rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    /// The median over the rounds; for CPU times, which kernels sample per tick, the ratio of their sums.
    pub(crate) middle: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl PerfFigure {
    fn of(self, score: &Score) -> f64 {
        match self {
            PerfFigure::Iops => score.iops,
            PerfFigure::WallNs => 1e9 / score.iops,
            PerfFigure::UserNs => score.user_ns,
            PerfFigure::CpuNs => score.user_ns + score.system_ns,
        }
    }
}

impl RatioBound {
    /// Computes ratios per round, because only runs close in time are comparable.
    fn ratio(&self, measured: &Measured) -> Ratio {
        let pairs = measured[self.ours].iter().zip(&measured[self.theirs]);
        let mut ratios: Vec<f64> = pairs
            .map(|(a, b)| over(self.figure.of(a), self.figure.of(b)))
            .collect();
        ratios.sort_by(f64::total_cmp);
        let sum = |who: usize| {
            measured[who]
                .iter()
                .map(|score| self.figure.of(score))
                .sum::<f64>()
        };
        let middle = match self.figure {
            // A round without a ratio does not count as a large one.
            _ if ratios.iter().any(|ratio| !ratio.is_finite()) => f64::NAN,
            PerfFigure::Iops | PerfFigure::WallNs => median(&ratios),
            PerfFigure::UserNs | PerfFigure::CpuNs => over(sum(self.ours), sum(self.theirs)),
        };
        Ratio {
            middle,
            min: ratios.first().copied().unwrap_or(f64::NAN),
            max: ratios.last().copied().unwrap_or(f64::NAN),
        }
    }

    /// Computes the ratio, and compares it with what is required. The bound does not hold if a figure is missing.
    pub(crate) fn judge(&self, measured: &Measured) -> JudgedRatio {
        let ratio = self.ratio(measured);
        let reach = self.ceiling.map(|ceiling| {
            let bare = RatioBound {
                ours: ceiling,
                ..*self
            };
            bare.ratio(measured).middle
        });
        let at_least = match (self.at_least, reach) {
            (Some(least), Some(reach)) => Some(least.min(SHARE_OF_BARE * reach)),
            (least, _) => least,
        };
        let wanted = match (at_least, self.at_most) {
            (Some(least), _) => format!("at least {}", short(least)),
            (_, Some(most)) => format!("at most {}", short(most)),
            _ => "no bound".to_owned(),
        };
        let reach = reach.map_or_else(String::new, |reach| {
            format!(" (the bare loop reaches {reach:.2})")
        });
        // Compared with two decimals, as printed.
        let (shown, least) = (rounded(ratio.middle), at_least.map(rounded));
        let holds = shown.is_finite()
            && least.is_none_or(|least| shown >= least)
            && self.at_most.is_none_or(|most| shown <= most);
        JudgedRatio {
            ratio,
            wanted: wanted + &reach,
            holds,
        }
    }
}

/// Rounds to two decimals.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Formats a number with at most two decimals.
fn short(value: f64) -> String {
    rounded(value).to_string()
}

/// A ratio; NaN if a value is missing.
fn over(ours: f64, theirs: f64) -> f64 {
    if theirs == 0.0 {
        f64::INFINITY
    } else {
        ours / theirs
    }
}

/// The median of sorted values.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => f64::midpoint(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

impl Contest {
    /// Runs every contestant once per round, in turn.
    pub(crate) fn run(&self, wishes: &PerfOptions) -> Result<Measured> {
        let mut measured: Measured = vec![Vec::new(); self.contestants.len()];
        for round in 0..wishes.rounds {
            for step in 0..self.contestants.len() {
                // Each round starts with a different contestant, so that none always follows the
                // same one.
                let index = (step + round) % self.contestants.len();
                let (name, contestant) = &self.contestants[index];
                if let Some(file) = &self.warm {
                    std::io::copy(&mut std::fs::File::open(file)?, &mut std::io::sink())?;
                }
                let score = contestant.run(&self.programs, wishes.seconds);
                measured[index].push(score.with_context(|| format!("{} in {}", name, self.name))?);
            }
        }
        Ok(measured)
    }
}

impl Contestant {
    fn run(&self, programs: &Programs, seconds: f64) -> Result<Score> {
        let mut command = Command::new("taskset");
        command.args(["-c", &programs.cpu.to_string()]);
        match self {
            Contestant::Ours(options) => {
                command.arg(&programs.ours).arg("fio").args(options);
                fio_score(&run_fio(&mut command, seconds)?)
            }
            Contestant::Fio(options) => {
                let fio = programs.fio.as_ref().context("fio is not installed")?;
                command.arg(fio).args(options);
                fio_score(&run_fio(&mut command, seconds)?)
            }
            Contestant::Newer(options) => {
                let fio = programs.newer.as_ref().context("no other fio was named")?;
                command.arg(fio).args(options);
                fio_score(&run_fio(&mut command, seconds)?)
            }
            Contestant::Bare(words) => {
                command
                    .arg(&programs.bare)
                    .args(words)
                    .arg(seconds.to_string());
                let json: Value = serde_json::from_str(&output(&mut command)?)?;
                let number = |key: &str| json[key].as_f64().unwrap_or(f64::NAN);
                let ios = number("ios");
                Ok(Score {
                    iops: ios * 1e9 / number("elapsed_ns"),
                    user_ns: number("user_ns") / ios,
                    system_ns: number("system_ns") / ios,
                })
            }
            Contestant::TIoUring => {
                let program = programs
                    .t_io_uring
                    .as_ref()
                    .context("t_io_uring is not installed")?;
                command.arg(program).args([
                    "-N1",
                    "-r2",
                    "-s32",
                    "-c32",
                    "-d32",
                    "-n1",
                    "/dev/null",
                ]);
                let text = output(&mut command)?;
                let iops = text
                    .rsplit("IOPS=")
                    .find_map(human_number)
                    .context("t_io_uring printed no IOPS")?;
                Ok(Score {
                    iops,
                    user_ns: f64::NAN,
                    system_ns: f64::NAN,
                })
            }
        }
    }
}

fn run_fio(command: &mut Command, seconds: f64) -> Result<Value> {
    command
        .args(["--output-format=json", "--time_based"])
        .arg(format!("--runtime={}ms", (seconds * 1000.0) as u64));
    let text = output(command)?;
    let start = text.find('{').context("no JSON was printed")?;
    Ok(serde_json::from_str(&text[start..])?)
}

/// Computes I/Os of all operations per runtime, and CPU time from the percentages that fio prints.
fn fio_score(json: &Value) -> Result<Score> {
    let job = &json["jobs"][0];
    let number = |op: &str, key: &str| job[op][key].as_f64().unwrap_or(0.0);
    let ios = number("read", "total_ios") + number("write", "total_ios");
    let runtime_ns = number("read", "runtime").max(number("write", "runtime")) * 1e6;
    if ios == 0.0 || runtime_ns == 0.0 {
        bail!("no I/O was done");
    }
    let share = |key: &str| job[key].as_f64().unwrap_or(f64::NAN) / 100.0 * runtime_ns / ios;
    Ok(Score {
        iops: ios * 1e9 / runtime_ns,
        user_ns: share("usr_cpu"),
        system_ns: share("sys_cpu"),
    })
}

/// Parses `9.30M`, `512K` or `12`.
fn human_number(text: &str) -> Option<f64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    Some(
        value
            * match text[end..].chars().next() {
                Some('K') => 1e3,
                Some('M') => 1e6,
                _ => 1.0,
            },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(iops: f64) -> Score {
        Score {
            iops,
            user_ns: f64::NAN,
            system_ns: f64::NAN,
        }
    }

    /// Regression: a figure missing in fio's output counted as almost 0, so that any ratio to it passed.
    #[test]
    fn a_figure_that_is_missing_passes_no_bound() {
        let bound = |at_least, at_most| RatioBound {
            name: "x",
            ours: 0,
            theirs: 1,
            figure: PerfFigure::Iops,
            at_least,
            at_most,
            ceiling: None,
        };
        let measured = |ours: f64, theirs: f64| vec![vec![score(ours)], vec![score(theirs)]];
        for (ours, theirs, holds) in [
            (2.0, 1.0, true),
            (2.0, f64::NAN, false),
            (f64::NAN, 1.0, false),
            (2.0, 0.0, false),
            (0.0, 0.0, false),
        ] {
            let judged = |bound: RatioBound| bound.judge(&measured(ours, theirs)).holds;
            assert_eq!(
                judged(bound(Some(1.0), None)),
                holds,
                "{ours} over {theirs}"
            );
            assert_eq!(
                judged(bound(None, Some(3.0))),
                holds,
                "{ours} over {theirs}"
            );
        }
    }

    #[test]
    fn a_bound_that_the_bare_loop_misses_is_lowered() {
        let bound = RatioBound {
            name: "x",
            ours: 0,
            theirs: 1,
            figure: PerfFigure::Iops,
            at_least: Some(2.0),
            at_most: None,
            ceiling: Some(2),
        };
        for (ours, bare, holds, wanted) in [
            (1.9, 2.6, false, "at least 2 (the bare loop reaches 2.60)"),
            (2.1, 2.6, true, "at least 2 (the bare loop reaches 2.60)"),
            (
                1.2,
                1.28,
                false,
                "at least 1.22 (the bare loop reaches 1.28)",
            ),
            (
                1.25,
                1.28,
                true,
                "at least 1.22 (the bare loop reaches 1.28)",
            ),
            (
                9.0,
                f64::NAN,
                true,
                "at least 2 (the bare loop reaches NaN)",
            ),
        ] {
            let measured = vec![vec![score(ours)], vec![score(1.0)], vec![score(bare)]];
            let judged = bound.judge(&measured);
            assert_eq!((judged.holds, judged.wanted.as_str()), (holds, wanted));
        }
    }
}
