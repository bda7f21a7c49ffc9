//! `cargo xtask perf trace`: what tracing costs, and how many requests per second it follows.
//!
//! The device is a loop device over a file in tmpfs. While the cost is measured, no processor halts. The bound of the cost
//! is judged by what traced runs measure themselves, in interleaved pairs of short segments with and without recording:
//! a shared machine changes its speed all the time. Whole runs, untraced and traced in turn, are printed beside it.

mod ratio;

use super::contest::median;
use crate::workspace::{self, output};
use anyhow::{Context, Result, bail, ensure};
use ratio::{BoundVerdict, CostRatio, HIGHEST, MeasuredCost, middle_mean, sorted};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Default number of runs that measure their own cost (`--runs=N`), and seconds of each: long enough for most pairs of
/// segments that a run makes.
const RUNS: usize = 4;
const RUN_SECONDS: f64 = 62.0;
/// Default number of pairs of whole runs (`--pairs=N`) and seconds per run (`--seconds=S`).
const PAIRS: usize = 20;
const SECONDS: f64 = 0.5;
/// Median latency of the device for which the cost is bounded, in nanoseconds.
const LATENCY: f64 = 100_000.0;
/// Requests per second of two processors that tracing must follow.
const RATE: f64 = 200_000.0;
/// Requests after which a traced run keeps no more of them: memory can grow until then.
const KEPT: f64 = 1e6;
/// Growth of the peak memory from a run of 10 s to one of 60 s that is no growth.
const GROWTH: f64 = 1.1;
/// Size of the device in bytes.
const SIZE: u64 = 256 << 20;

/// Command-line options.
struct TracePerfOptions {
    runs: usize,
    pairs: usize,
    seconds: f64,
    /// Seconds of the short and of the long run at full rate.
    lengths: [u64; 2],
    /// A program that is built already.
    program: Option<PathBuf>,
}

impl TracePerfOptions {
    fn parse(words: &[String]) -> Result<TracePerfOptions> {
        let mut options = TracePerfOptions {
            runs: RUNS,
            pairs: PAIRS,
            seconds: SECONDS,
            lengths: [10, 60],
            program: None,
        };
        for word in words {
            match word.split_once('=') {
                Some(("--runs", n)) => options.runs = n.parse().context("--runs takes a number")?,
                Some(("--pairs", n)) => {
                    options.pairs = n.parse().context("--pairs takes a number")?
                }
                Some(("--seconds", n)) => {
                    options.seconds = n.parse().context("--seconds takes a number")?
                }
                Some(("--longest", n)) => {
                    options.lengths[1] = n.parse().context("--longest takes a number")?
                }
                Some(("--program", path)) => options.program = Some(PathBuf::from(path)),
                _ => bail!(
                    "perf trace takes --runs=N --pairs=N --seconds=S --longest=S --program=PATH, and not {word}"
                ),
            }
        }
        ensure!(options.pairs >= 4, "an interval needs at least 4 pairs");
        Ok(options)
    }
}

/// Measures, and prints a verdict for each bound.
pub(super) fn main(words: &[String]) -> Result<()> {
    let options = TracePerfOptions::parse(words)?;
    let device = TracedDevice::prepare(options.program.clone())?;
    println!("load of the host: {}", load());
    let busy = BusyProcessors::keep()?;
    let block = device.block_of(LATENCY)?;
    let cost = device.measured_cost(block, options.runs)?;
    let whole = [block, 4096].map(|block| (block, device.cost(block, &options)));
    drop(busy);
    println!(
        "cost at queue depth 1, {} KiB reads, measured by the runs: {cost}, wanted at most {:.0}%: {}",
        block >> 10,
        HIGHEST * 100.0,
        cost.verdict()
    );
    for (block, ratio) in whole {
        let ratio = ratio?;
        println!(
            "whole runs at queue depth 1, {} KiB reads of {:.1} µs: {ratio} (for information)",
            block >> 10,
            ratio.untraced / 1e3
        );
    }
    let mut missed = u32::from(cost.verdict() != BoundVerdict::Holds);
    for bound in device.follows(options.lengths)? {
        println!("{bound}");
        missed += u32::from(bound.verdict == BoundVerdict::Missed);
    }
    println!("load of the host: {}", load());
    match missed {
        0 => Ok(()),
        missed => bail!("{missed} bounds were missed or are undecided"),
    }
}

/// A bound other than that of the cost.
struct TraceBound {
    text: String,
    verdict: BoundVerdict,
}

impl std::fmt::Display for TraceBound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.text, self.verdict)
    }
}

fn load() -> String {
    std::fs::read_to_string("/proc/loadavg")
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// What a run traces.
#[derive(Clone, Copy)]
enum Tracing {
    Off,
    /// The part that is left after measuring the cost.
    WithCost,
    /// All of it.
    Whole,
}

/// Result of one run.
struct TracedRun {
    /// Mean of the latencies without the extremes, in nanoseconds.
    latency: f64,
    /// Requests per second.
    iops: f64,
    /// Peak memory in KiB.
    peak: f64,
}

/// A loop device over a file in tmpfs, and the program that reads it. Dropping it removes both.
struct TracedDevice {
    program: PathBuf,
    image: PathBuf,
    database: PathBuf,
    node: String,
}

impl Drop for TracedDevice {
    fn drop(&mut self) {
        if !self.node.is_empty() {
            let _ = Command::new("losetup").args(["-d", &self.node]).status();
        }
        for file in [&self.image, &self.database] {
            // It may not have been created.
            let _ = std::fs::remove_file(file);
        }
        let _ = std::fs::remove_dir_all(format!("{}.spool", self.database.display()));
    }
}

/// Processes that keep each processor from halting, at the lowest priority there is. A virtual processor takes 20 to 50 µs
/// to wake up, which at depth 1 is most of the latency of a loop device, and differs from run to run.
struct BusyProcessors(Vec<std::process::Child>);

impl BusyProcessors {
    fn keep() -> Result<BusyProcessors> {
        let mut busy = BusyProcessors(Vec::new());
        for cpu in 0..std::thread::available_parallelism()?.get() {
            let mut command = Command::new("chrt");
            command.args(["--idle", "0", "taskset", "-c", &cpu.to_string()]);
            command.args(["sh", "-c", "while :; do :; done"]);
            busy.0.push(command.spawn().context("chrt is missing")?);
        }
        Ok(busy)
    }
}

impl Drop for BusyProcessors {
    fn drop(&mut self) {
        for process in &mut self.0 {
            // It may have ended already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

impl TracedDevice {
    fn prepare(program: Option<PathBuf>) -> Result<TracedDevice> {
        let program = match program {
            Some(program) => program,
            None => {
                workspace::run(workspace::cargo().args(["build", "--release", "-p", "hakaru"]))?;
                workspace::target().join("release/hakaru")
            }
        };
        let own =
            |name: &str| PathBuf::from(format!("/dev/shm/hakaru-{name}-{}", std::process::id()));
        // From here on, dropping it removes the files, even if a later step fails.
        let mut device = TracedDevice {
            program,
            image: own("trace.img"),
            database: own("trace.db"),
            node: String::new(),
        };
        let image = std::fs::File::create(&device.image)?;
        super::contest::fill(image, SIZE)?;
        let node = output(
            Command::new("losetup")
                .args(["--find", "--show"])
                .arg(&device.image),
        );
        device.node = node.context("a loop device takes root")?.trim().to_owned();
        Ok(device)
    }

    /// Runs random reads on these processors, and returns what they did.
    fn read(&self, tracing: Tracing, seconds: f64, cpus: &str, options: &str) -> Result<TracedRun> {
        let mut command = Command::new("taskset");
        command.args(["-c", cpus]).arg(&self.program);
        command.arg("fio").args(options.split_whitespace());
        command.arg(match tracing {
            Tracing::Off => "--hakaru-store",
            Tracing::WithCost => "--hakaru-trace",
            Tracing::Whole => "--hakaru-trace=whole",
        });
        command.args([
            "--name=job",
            "--rw=randread",
            "--direct=1",
            "--time_based",
            "--group_reporting",
        ]);
        command.args(["--output-format=json+", "--size=100%"]);
        command.arg(format!("--filename={}", self.node));
        command.arg(format!("--runtime={}ms", (seconds * 1000.0) as u64));
        command
            .env("HAKARU_DB", &self.database)
            .stderr(Stdio::null());
        let (text, peak) = output_and_peak(&mut command)?;
        let start = text.find('{').context("no JSON was printed")?;
        let json: Value = serde_json::from_str(&text[start..])?;
        let read = &json["jobs"][0]["read"];
        Ok(TracedRun {
            latency: middle_mean(&read["clat_ns"]["bins"]).context("there are no latencies")?,
            iops: read["iops"].as_f64().context("there are no IOPS")?,
            peak,
        })
    }

    fn at_depth_1(&self, tracing: Tracing, block: u64, seconds: f64) -> Result<f64> {
        let options = format!("--ioengine=psync --bs={block}");
        Ok(self.read(tracing, seconds, "0-1023", &options)?.latency)
    }

    /// Returns the block size in bytes whose latency is nearest to that in nanoseconds.
    fn block_of(&self, latency: f64) -> Result<u64> {
        let mut nearest = (f64::INFINITY, 4096);
        for step in 1..=16 {
            let block = step * (32 << 10);
            let of_block = (0..3)
                .map(|_| self.at_depth_1(Tracing::Off, block, 0.2))
                .collect::<Result<Vec<f64>>>()?;
            let of_block = median(&sorted(of_block.into_iter()));
            let distance = (of_block / latency).ln().abs();
            if distance < nearest.0 {
                nearest = (distance, block);
            }
            if of_block > 2.0 * latency {
                break;
            }
        }
        Ok(nearest.1)
    }

    /// Returns the cost that so many traced runs measured themselves.
    fn measured_cost(&self, block: u64, runs: usize) -> Result<MeasuredCost> {
        let mut costs = Vec::with_capacity(runs);
        for _ in 0..runs {
            self.at_depth_1(Tracing::WithCost, block, RUN_SECONDS)?;
            let record = self.record()?;
            let cost = &record["phases"][0]["paths"][0]["cost"];
            let number = |key: &str| cost[key].as_f64();
            let measured = number("mean").zip(number("margin"));
            let (mean, margin) =
                measured.with_context(|| format!("a run did not measure its cost: {cost}"))?;
            println!(
                "a run: {:.2} ± {:.2}%, load {}",
                mean * 100.0,
                margin * 100.0,
                load()
            );
            costs.push((mean, margin));
        }
        MeasuredCost::of(&costs).context("no run measured its cost")
    }

    /// Runs the pairs; the order within a pair alternates.
    fn cost(&self, block: u64, options: &TracePerfOptions) -> Result<CostRatio> {
        let mut pairs = Vec::with_capacity(options.pairs);
        for number in 0..options.pairs {
            let run = |tracing| self.at_depth_1(tracing, block, options.seconds);
            pairs.push(match number % 2 {
                0 => (run(Tracing::Off)?, run(Tracing::Whole)?),
                _ => {
                    let with = run(Tracing::Whole)?;
                    (run(Tracing::Off)?, with)
                }
            });
        }
        Ok(CostRatio::of(&pairs))
    }

    /// Reads as fast as two processors can, traced, for a short and for a long time.
    fn follows(&self, lengths: [u64; 2]) -> Result<Vec<TraceBound>> {
        let options = "--ioengine=io_uring --iodepth=64 --bs=4k --numjobs=2";
        let untraced = self.read(Tracing::Off, lengths[0] as f64, "0,1", options)?;
        let mut bounds = Vec::new();
        let mut peaks = Vec::new();
        let mut fewest = f64::INFINITY;
        for length in lengths {
            let run = self.read(Tracing::Whole, length as f64, "0,1", options)?;
            let lost = EventLoss::of(&self.record()?)?;
            bounds.push(TraceBound {
                text: format!(
                    "{length} s of 4 KiB reads with 2 jobs at depth 64 on 2 processors: {:.0} requests/s traced, {:.0} \
                     untraced, {lost}",
                    run.iops, untraced.iops
                ),
                verdict: match lost {
                    _ if !lost.adds_up => BoundVerdict::Missed,
                    _ if run.iops < RATE => BoundVerdict::NotReached,
                    _ => BoundVerdict::Holds,
                },
            });
            peaks.push(run.peak);
            fewest = fewest.min(run.iops * length as f64);
        }
        bounds.push(TraceBound {
            text: format!(
                "peak memory: {:.0} MiB untraced, {:.0} MiB traced for {} s, {:.0} MiB for {} s, wanted at most {GROWTH} \
                 times as much",
                untraced.peak / 1024.0,
                peaks[0] / 1024.0,
                lengths[0],
                peaks[1] / 1024.0,
                lengths[1]
            ),
            verdict: match peaks[1] <= GROWTH * peaks[0] {
                true => BoundVerdict::Holds,
                false if fewest <= KEPT => BoundVerdict::NotReached,
                false => BoundVerdict::Missed,
            },
        });
        Ok(bounds)
    }

    /// Returns the record of the last run.
    fn record(&self) -> Result<Value> {
        let mut command = Command::new(&self.program);
        command
            .args(["show", "latest", "--json"])
            .env("HAKARU_DB", &self.database);
        Ok(serde_json::from_str(&output(&mut command)?)?)
    }
}

/// Events of a traced run.
#[derive(Clone, Copy)]
struct EventLoss {
    counted: u64,
    lost: u64,
    /// Whether each event was received, or counted as lost.
    adds_up: bool,
}

impl EventLoss {
    fn of(record: &Value) -> Result<EventLoss> {
        let events = record["phases"][0]["paths"][0]["tracer"]["events"].as_array();
        let events = events.context("the run was not traced")?;
        let sum = |key: &str| {
            events
                .iter()
                .filter_map(|event| event[key].as_u64())
                .sum::<u64>()
        };
        let (counted, recorded, lost) = (
            sum("counted"),
            sum("recorded"),
            sum("lost") + sum("missing"),
        );
        Ok(EventLoss {
            counted,
            lost,
            adds_up: counted > 0 && counted == recorded + lost,
        })
    }
}

impl std::fmt::Display for EventLoss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = self.lost as f64 / self.counted.max(1) as f64 * 100.0;
        write!(
            f,
            "{} of {} events lost ({share:.4}%)",
            self.lost, self.counted
        )
    }
}

/// Runs a program. Returns its standard output and its peak memory in KiB, sampled while it runs.
fn output_and_peak(command: &mut Command) -> Result<(String, f64)> {
    let child = command.stdout(Stdio::piped()).spawn()?;
    let status = Path::new("/proc")
        .join(child.id().to_string())
        .join("status");
    let watch = std::thread::spawn(move || {
        let mut peak: f64 = 0.0;
        // The memory of a program that has ended is not shown any more.
        while let Some(now) = high_water(&status) {
            peak = peak.max(now);
            std::thread::sleep(Duration::from_millis(50));
        }
        peak
    });
    let out = child.wait_with_output()?;
    let peak = watch.join().unwrap_or(f64::NAN);
    ensure!(out.status.success(), "the run ended with {}", out.status);
    Ok((String::from_utf8(out.stdout)?, peak))
}

fn high_water(status: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
