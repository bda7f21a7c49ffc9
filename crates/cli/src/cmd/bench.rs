//! `hakaru bench`: benchmarks a directory or device with the standard suite.

use super::card::{self, CardFormat};
use super::{erase, json, print, size, width};
use crate::exit::{Ended, Exit, NamedPath, complain, not_there, usage};
use crate::names::LabelArgs;
use crate::{
    live, place,
    status_reporter::{ProgressFormat, StatusReporter},
    stop,
};
use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use hakaru_campaign::SessionError;
use hakaru_campaign::bench::{self, BenchError, BenchPlan, BenchRequest, BenchResult, BenchTarget};
use hakaru_campaign::suite::{DEEP, SuiteLength, SuiteWorkload};
use hakaru_device::Roots;
use hakaru_engine::RunError;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::IoEngine;
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};
use hakaru_report::plain;
use hakaru_report::text::{self, BenchPlace};
use hakaru_results::report::ReportJson;
use hakaru_store::Store;
use hakaru_store::live::LiveVerb;
use serde::Serialize;
use std::path::{Path, PathBuf};

const AFTER: &str = "The suite: sequential writes and reads (seq-write, seq-read: 1 MiB), random writes and reads \
(rand-write, rand-read: 4 KiB, one in flight), a mix (mixed: 1 MiB, half reads), writes with an fsync each (durable: \
4 KiB) and long sequential writes (sustained: 1 MiB). --deep adds 36 workloads such as read-4k-q32-j4. The short names \
are for --only, campaign files, JSON and CSV.\n\
In a directory, an unnamed temporary file is used, so nothing is left behind. A device is only read, unless --erase is given.";

/// Arguments of `hakaru bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct BenchArgs {
    /// Directory on the file system to measure, or block device
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Run three short rounds in under a minute (the default on the system disk)
    #[arg(long, conflicts_with = "standard")]
    quick: bool,
    /// Run each workload for a minute, as published comparisons do
    #[arg(long)]
    standard: bool,
    /// Repeat the suite N times; each repeat is stored as a run [default: 3 quick, 1 standard]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: Option<u32>,
    /// Size of the test file or of the region of a device, such as 512MiB [default: 256 MiB quick, 1 GiB standard, 16 GiB of a device]
    #[arg(long, value_parser = size)]
    size: Option<Bytes>,
    /// Run only these workloads (comma-separated)
    #[arg(long, value_delimiter = ',', value_name = "WORKLOAD",
          value_parser = PossibleValuesParser::new(SuiteWorkload::ALL.into_iter().chain(DEEP).map(SuiteWorkload::name)))]
    only: Vec<String>,
    /// Seed of all random offsets: the same seed repeats them
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Also run random reads, writes and 70/30 mixes of 4 KiB, 64 KiB and 1 MiB at queue depths 1 and 32 with 1 and 4 jobs
    #[arg(long)]
    deep: bool,
    /// How I/O is issued [default: psync; io_uring with --deep]
    #[arg(long, value_name = "ENGINE", value_parser = ["psync", "sync", "pvsync2", "libaio", "io_uring"])]
    ioengine: Option<String>,
    /// Permit erasing the device identified by this serial number, CID or by-id name; prompts if ID is omitted
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    erase: Option<String>,
    /// Benchmark a simulated card described by this device model (JSON), in virtual time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "erase"])]
    simulate: Option<PathBuf>,
    /// Trace one more round through file system, block layer and device, and report where bytes and time went
    #[arg(long, conflicts_with = "simulate")]
    trace: bool,
    /// Show what would be measured and what would be lost, and exit
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    names: LabelArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Print the rate card to post in a forum instead of the summary, or write it as a picture
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    card: Option<CardFormat>,
    /// Print progress for people, or as JSON lines, on standard error
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    progress: ProgressFormat,
    /// Suppress progress output
    #[arg(long, short)]
    quiet: bool,
    /// Write the HTML report to FILE; `-` for standard output instead of the summary [default: beside the database]
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
}

fn engine(name: &str) -> IoEngine {
    let known = [
        IoEngine::Sync,
        IoEngine::Pvsync2,
        IoEngine::Libaio,
        IoEngine::IoUring,
    ];
    known
        .into_iter()
        .find(|e| e.name() == name)
        .unwrap_or(IoEngine::Psync)
}

/// Plans and runs the benchmark, prints the summary, and writes the report.
pub(crate) fn main(args: &BenchArgs, db: Option<&Path>) -> Result<Exit> {
    let request = args.request();
    let printed = match (args.json, args.card) {
        (true, _) => Some("--json"),
        (false, Some(_)) => Some("--card"),
        (false, None) => None,
    };
    if let Some(option) = printed.filter(|_| place::is_stdout(args.output.as_deref())) {
        return Err(usage(both!(
            "{option} and --output=- both write to standard output; help: omit one, or name a file",
            "{option}と--output=-はどちらも標準出力に書き出します; help: どちらかを省くか、ファイルを指定してください"
        )));
    }
    let mut plan = plan(args, &request)?;
    plan.identity.label = args.names.label.clone().or(plan.identity.label);
    if (!args.quiet && args.progress == ProgressFormat::Auto) || args.dry_run {
        announce(&plan);
    }
    if args.dry_run {
        return dry_run(&plan, &request);
    }
    let erasable = match &args.erase {
        Some(id) if matches!(plan.place, BenchTarget::Device(_)) => {
            Some(erase::ask(&request.path, id)?)
        }
        _ => None,
    };
    let mut store = place::open(db)?;
    let phases = plan.suite.workloads.iter().map(|workload| workload.name());
    let live = live::begin_on(store.path(), LiveVerb::Bench, &plan.identity);
    let mode = args.progress.mode(args.quiet);
    let mut reporter = StatusReporter::new(mode, phases, live.clone());
    let measured = bench::run(
        &plan,
        erasable.as_ref(),
        Some(&mut store),
        stop::flag(),
        &mut reporter,
    );
    reporter.end();
    let BenchResult { records, error } = measured.map_err(ended)?;
    if let Some(first) = records.first() {
        args.names.text.store(&mut store, &first.series)?;
    }
    let shown = show(args, &store, &records);
    // Print the results before the error that ended the run.
    let exit = error.map_or_else(|| verdict(&records), refuse).and(shown);
    Ok(live::ended(live.as_ref(), exit))
}

/// Plans the benchmark, and refuses options that do not suit its target.
fn plan(args: &BenchArgs, request: &BenchRequest) -> Result<BenchPlan> {
    if args.simulate.is_none() && !args.path.exists() && args.path.symlink_metadata().is_err() {
        return Err(not_there(
            both!("{} does not exist; help: name a directory on the file system to measure, or a block \
            device", "{}はありません; help: 測定するファイルシステム上のディレクトリかブロックデバイスを指定してください"; args.path.display()),
        ));
    }
    let plan = match &args.simulate {
        Some(file) => bench::decide_simulated(request, read_device_model(file)?),
        None => bench::decide(request),
    };
    let plan = plan.map_err(ended)?;
    if let (Some(id), BenchTarget::Folder(path)) = (&args.erase, &plan.place) {
        let option = match id.as_str() {
            "" => "--erase".to_owned(),
            id => format!("--erase={id}"),
        };
        complain(&anyhow::anyhow!(
            both!("{option} needs a device, and {} is not one; help: omit {option}", "{option}にはデバイスが必要ですが、{}はデバイスではありません; help: {option}を省いてください"; path.display())
        ));
        return Err(Ended(Exit::Usage).into());
    }
    Ok(plan)
}

/// Prints why the benchmark cannot run.
fn ended(error: BenchError) -> Ended {
    Ended(refuse(error))
}

impl BenchArgs {
    fn request(&self) -> BenchRequest {
        let names = self.only.iter();
        let default_engine = if self.deep { "io_uring" } else { "psync" };
        BenchRequest {
            path: self.path.clone(),
            pace: match (self.quick, self.standard) {
                (true, _) => Some(SuiteLength::Quick),
                (_, true) => Some(SuiteLength::Standard),
                _ => None,
            },
            repeats: self.repeat,
            size: self.size,
            only: names
                .filter_map(|name| SuiteWorkload::from_name(name))
                .collect(),
            seed: self.seed,
            deep: self.deep,
            ioengine: engine(self.ioengine.as_deref().unwrap_or(default_engine)),
            erase: self.erase.is_some(),
            trace: self.trace,
        }
    }
}

/// Output of `hakaru bench --json`.
#[derive(Serialize)]
struct BenchJson<'a> {
    #[serde(flatten)]
    results: ReportJson<'a>,
    /// Path of the HTML report.
    report: String,
}

fn show(args: &BenchArgs, store: &Store, records: &[RunRecord]) -> Result<()> {
    let summary = super::summarize(store, records)?;
    let findings = super::findings(&summary, &super::reference::load(store));
    let page = hakaru_report::html_with(
        std::slice::from_ref(&summary),
        std::slice::from_ref(&findings),
    );
    if place::is_stdout(args.output.as_deref()) {
        return print(&page);
    }
    if args.json {
        let path = place::write_report(store, args.output.as_deref(), &summary.series, &page)?;
        let body = BenchJson {
            results: ReportJson::of(
                std::slice::from_ref(&summary),
                std::slice::from_ref(&findings),
            ),
            report: path.display().to_string(),
        };
        return json::print(json::BENCH, &body);
    }
    let printed = match args.card {
        Some(format) => card::post(store, std::slice::from_ref(&summary), format, None),
        None => print(&hakaru_report::terminal_with(
            &summary,
            &findings,
            width(),
            true,
        )),
    };
    let path = place::write_report(store, args.output.as_deref(), &summary.series, &page)?;
    printed?;
    print(&format!(
        "\n{}\n",
        text::report_at(&path.display().to_string())
    ))
}

/// Write speed that the estimate of written bytes is given for, in bytes per second.
const SPEED: u64 = 100_000_000;

fn announce(plan: &BenchPlan) {
    let (size, workloads) = (plan.suite.size, plan.suite.workloads.len());
    let name = plain(&plan.identity.display_name());
    let path = match &plan.place {
        BenchTarget::Folder(path) | BenchTarget::Device(path) => path.display().to_string(),
        BenchTarget::Sim(_) => String::new(),
    };
    let place = match &plan.place {
        BenchTarget::Folder(path) if path == Path::new(".") => BenchPlace::CurrentDirectory,
        BenchTarget::Folder(_) => BenchPlace::Directory(&path),
        BenchTarget::Device(_) => BenchPlace::Device(&path),
        BenchTarget::Sim(_) => BenchPlace::Simulated,
    };
    anstream::eprintln!("{}", text::measuring(&name, place, size));
    for remark in &plan.remarks {
        anstream::eprintln!("  {remark}");
    }
    let time = Nanos(plan.suite.duration().0 * u64::from(plan.repeats + u32::from(plan.trace)));
    let rounds = u64::from(plan.repeats);
    let extent = text::bench_rounds(rounds, plan.trace, workloads as u64, time);
    anstream::eprintln!("  {extent}");
    let rounds = rounds + u64::from(plan.trace);
    let written = Bytes(plan.suite.written_at(SPEED).0 * rounds);
    if written.0 > 0 {
        anstream::eprintln!(
            "  {}",
            text::bench_writes(written, BytesPerSec(SPEED as f64))
        );
    }
    anstream::eprintln!();
}

pub(crate) fn read_device_model(file: &Path) -> Result<DeviceModel> {
    let text = std::fs::read_to_string(file)
        .named(|| both!("cannot read the device model {}", "デバイスモデル{}を読み込めません"; file.display()))?;
    let model: DeviceModel = hakaru_model::json::from_str(&text).with_context(
        || both!("{} is not a device model", "{}はデバイスモデルではありません"; file.display()),
    )?;
    model
        .check()
        .map_err(|why| anyhow::anyhow!(both!("{} is not a device model: {why}", "{}はデバイスモデルではありません（{why}）"; file.display())))?;
    Ok(model)
}

/// Prints the plan and the data that would be lost, without changing anything.
fn dry_run(plan: &BenchPlan, request: &BenchRequest) -> Result<Exit> {
    let names: Vec<&str> = plan.suite.workloads.iter().map(|w| w.name()).collect();
    let mut said = text::would_run(&names) + "\n";
    if matches!(plan.place, BenchTarget::Device(_)) && request.erase {
        erase::candidate(&request.path, &Roots::live())?;
        said += &erase::losses(&request.path);
    }
    print(&(said + text::nothing_done() + "\n"))?;
    Ok(Exit::Ok)
}

/// Prints why the benchmark cannot run, and returns the matching exit code.
fn refuse(error: BenchError) -> Exit {
    let code = match &error {
        BenchError::WouldDestroy { .. } => Exit::Refused,
        BenchError::Session(SessionError::Run(RunError::StoppedEarly)) => Exit::Interrupted,
        BenchError::Scratch(hakaru_campaign::scratch::ScratchError::Stopped) => Exit::Interrupted,
        BenchError::Scratch(_)
        | BenchError::InUse { .. }
        | BenchError::Session(_)
        | BenchError::Unstored(_)
        | BenchError::Changed(_) => Exit::Failed,
        _ => Exit::Usage,
    };
    complain(&error.into());
    code
}

fn verdict(records: &[RunRecord]) -> Exit {
    let outcomes = || records.iter().map(|record| &record.outcome);
    if outcomes().any(|o| *o == Outcome::Interrupted) {
        return Exit::Interrupted;
    }
    match records.iter().find_map(hakaru_report::text::failed_run) {
        Some(error) => {
            complain(&anyhow::anyhow!(text::partial_results_kept(&error)));
            Exit::Failed
        }
        None => Exit::Ok,
    }
}
