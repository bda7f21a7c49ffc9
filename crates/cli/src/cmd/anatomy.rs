//! `hakaru anatomy`: finds what a card is made of, fits a device model, and says how to format the card.

use super::{erase, json, print, size, width};
use crate::exit::{Ended, Exit, NamedPath, complain, usage};
use crate::names::LabelArgs;
use crate::{live, place, stop};
use anyhow::{Context, Result};
use hakaru_campaign::anatomy::{
    self, DeviceError, DirectDevice, RunStep, SimulatedDevice, TimedDevice,
};
use hakaru_campaign::scratch::{Scratch, ScratchError};
use hakaru_device::guard::Erasable;
use hakaru_device::{FreeSpace, Roots};
use hakaru_model::anatomy::Experiment;
use hakaru_model::anatomy_record::{AnatomyRecord, AnatomyScope};
use hakaru_model::facts::Identity;
use hakaru_model::units::Bytes;
use hakaru_report::text;
use hakaru_results::lookup::{AdvisedAnatomy, anatomy_json};
use hakaru_store::Store;
use hakaru_store::live::LiveVerb;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const AFTER: &str = "\
A device is written and its content is lost: it must be confirmed by its id (--erase=ID) or by typing its name. With --read-only nothing is written, and only pages, units, mapping, queue and throttling are looked for. In a directory, an unnamed file is written; what a file can show depends on the file system.

The budget of time and written bytes is printed first and never exceeded. Ctrl-C keeps the findings of all experiments that have ended; --resume continues.

Examples:
  hakaru anatomy --read-only /dev/mmcblk0
  hakaru anatomy /dev/mmcblk0 --erase --export card.json
  hakaru anatomy --simulate card.json
  hakaru predict latest jobs.fio

Exit codes: 0 all experiments ended; 1 a request failed; 2 usage error or no such path; 3 refused because data would be lost; 130 interrupted (findings are kept).";

/// Part of the free space of a directory that a file takes, and its largest size.
const FREE_PART: u64 = 2;
const LARGEST_FILE: u64 = 8 << 30;

/// Arguments of `hakaru anatomy`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct AnatomyArgs {
    /// Block device, or directory in which a file is examined
    #[arg(required_unless_present = "simulate")]
    path: Option<PathBuf>,
    /// Only read: needs no permission to erase
    #[arg(long, conflicts_with = "erase")]
    read_only: bool,
    /// Permit overwriting the device identified by this serial number, CID or by-id name; prompts if ID is omitted
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    erase: Option<String>,
    /// Examine a simulated card described by this device model (JSON), in virtual time
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "erase"])]
    simulate: Option<PathBuf>,
    /// Size of the file in a directory, such as 4GiB [default: half of the free space, at most 8 GiB]
    #[arg(long, value_parser = size)]
    size: Option<Bytes>,
    /// Continue the unfinished anatomy of this device
    #[arg(long)]
    resume: bool,
    /// Also measure the advice against the default, in turn
    #[arg(long, conflicts_with = "read_only")]
    prove: bool,
    /// Seed of all places [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Show the budget and what would be lost, and exit
    #[arg(long)]
    dry_run: bool,
    /// Write the device model to FILE, for `--simulate`
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    names: LabelArgs,
    /// Suppress progress output
    #[arg(long, short)]
    quiet: bool,
    /// Write the HTML report to FILE; `-` for standard output instead of the summary [default: beside the database]
    #[arg(long, short, value_name = "FILE", value_parser = place::page_path())]
    output: Option<PathBuf>,
}

/// Examines the target, stores the anatomy, and prints it.
pub(crate) fn main(args: &AnatomyArgs, db: Option<&Path>) -> Result<Exit> {
    if args.json && place::is_stdout(args.output.as_deref()) {
        return Err(usage(both!(
            "--json and --output=- both write to standard output; help: omit one, or name a file",
            "--jsonと--output=-はどちらも標準出力に書き出します; help: どちらかを省くか、ファイルを指定してください"
        )));
    }
    match (&args.simulate, &args.path) {
        (Some(file), _) => simulated(args, file, db),
        (None, Some(path)) => real(args, path, db),
        (None, None) => Ok(Exit::Usage),
    }
}

fn simulated(args: &AnatomyArgs, file: &Path, db: Option<&Path>) -> Result<Exit> {
    let model = super::bench::read_device_model(file)?;
    let identity = anatomy::simulated_identity(&model);
    let scope = match args.read_only {
        true => AnatomyScope::ReadOnly,
        false => AnatomyScope::Simulated,
    };
    let record = args.record(identity, scope, model.announced());
    if args.dry_run {
        return dry_run(args, &record, None);
    }
    let mut device = SimulatedDevice::new(model, record.seed).stopped_by(stop::flag());
    carry_out(args, record, &mut device, place::open(db)?)
}

fn real(args: &AnatomyArgs, path: &Path, db: Option<&Path>) -> Result<Exit> {
    let kind = std::fs::metadata(path)
        .named(|| both!("cannot examine {}", "{}を調べられません"; path.display()))?
        .file_type();
    if kind.is_dir() {
        return directory(args, path, db);
    }
    if !kind.is_block_device() {
        return Err(usage(both!(
            "{} is neither a block device nor a directory; help: name one, or its directory",
            "{}はブロックデバイスでもディレクトリでもありません; help: どちらかを指定してください"; path.display()
        )));
    }
    let roots = Roots::live();
    let identity = hakaru_device::identify(path, &roots);
    if args.read_only {
        let mut device = DirectDevice::read_only(path, stop::flag()).map_err(failed_to_open)?;
        let record = args.record(identity, AnatomyScope::ReadOnly, device.capacity());
        if args.dry_run {
            return dry_run(args, &record, None);
        }
        return carry_out(args, record, &mut device, place::open(db)?);
    }
    let candidate = erase::candidate(path, &roots)?;
    let record = args.record(identity, AnatomyScope::Device, candidate.size());
    if args.dry_run {
        return dry_run(args, &record, Some(path));
    }
    let store = place::open(db)?;
    let id = args.erase.as_deref().unwrap_or_default();
    let erasable: Erasable = erase::ask(path, id)?;
    let mut device = DirectDevice::erasable(&erasable, stop::flag()).map_err(failed_to_open)?;
    carry_out(args, record, &mut device, store)
}

fn directory(args: &AnatomyArgs, folder: &Path, db: Option<&Path>) -> Result<Exit> {
    if args.read_only || args.erase.is_some() {
        return Err(usage(both!(
            "--read-only and --erase apply to devices; in a directory a new file is written",
            "--read-onlyと--eraseはデバイスだけに使えます。ディレクトリには新しいファイルを書き込みます"
        )));
    }
    let identity = hakaru_device::identify(folder, &Roots::live());
    let filesystem = identity.filesystem.as_ref();
    let kind = filesystem.map_or_else(String::new, |fs| fs.fs_type.clone());
    let free = FreeSpace::at(folder)
        .with_context(|| both!("cannot examine {}", "{}を調べられません"; folder.display()))?;
    let wanted = args
        .size
        .unwrap_or(Bytes(LARGEST_FILE.min(free.0 / FREE_PART)));
    let usable = FreeSpace::usable(free, Some(wanted));
    let scope = AnatomyScope::File {
        folder: std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()),
    };
    if args.dry_run {
        return dry_run(args, &args.record(identity, scope, usable), None);
    }
    let store = place::open(db)?;
    let new = args.record(identity.clone(), scope.clone(), usable);
    let stored = args.resume.then(|| unfinished(&store, &new)).transpose()?;
    let capacity = stored.map(|stored| stored.anatomy.capacity);
    // A part is continued in a file as large as the first, even if the space of that is not free yet.
    let wanted = capacity.map_or(usable, |capacity| {
        let asked = args.size.unwrap_or(usable);
        asked.max(anatomy::file_size_for(capacity))
    });
    let stop = stop::flag();
    let mut file = Scratch::make(folder)?;
    reserve(args, &mut file, wanted)?;
    note(
        args,
        &both!(
            "writing a file of {wanted} first",
            "最初に{wanted}のファイルを書き込みます"
        ),
    );
    let mut is_wanted = |_| !stop.load(std::sync::atomic::Ordering::Relaxed);
    file.fill(wanted, wanted, None, &mut is_wanted)
        .map_err(failed_to_make)?;
    let device = DirectDevice::file(&file.path(), folder, &kind, capacity, stop);
    let mut device = device.map_err(failed_to_open)?;
    let record = args.record(identity, scope, device.capacity());
    carry_out(args, record, &mut device, store)
}

/// Longest wait for the space of a file that was just deleted.
const PATIENCE: Duration = Duration::from_secs(60);

/// Allocates the file, and waits while there is no space for it.
fn reserve(args: &AnatomyArgs, file: &mut Scratch, size: Bytes) -> Result<()> {
    let stop = stop::flag();
    let mut is_told = false;
    let mut waits = || {
        if !std::mem::replace(&mut is_told, true) {
            note(
                args,
                &both!(
                    "waiting for {size} of free space: the file of an interrupted run may not be deleted yet",
                    "{size}の空き容量を待っています。中断された測定のファイルがまだ削除されていない可能性があります"
                ),
            );
        }
        !stop.load(std::sync::atomic::Ordering::Relaxed)
    };
    file.reserve(size, PATIENCE, &mut waits)
        .map_err(failed_to_make)
}

/// Ctrl-C before the first experiment is an interruption, and no failure.
fn failed_to_make(error: ScratchError) -> anyhow::Error {
    let exit = match error {
        ScratchError::Stopped => Exit::Interrupted,
        _ => Exit::Failed,
    };
    complain(&error.into());
    Ended(exit).into()
}

fn failed_to_open(error: anatomy::DirectError) -> Ended {
    complain(&error.into());
    Ended(Exit::Failed)
}

impl AnatomyArgs {
    fn record(&self, identity: Identity, scope: AnatomyScope, capacity: Bytes) -> AnatomyRecord {
        let label = self.names.label.clone().or_else(|| identity.label.clone());
        let identity = Identity { label, ..identity };
        let seed = self
            .seed
            .unwrap_or_else(|| hakaru_campaign::now_unix_ms() as u64);
        anatomy::new_record(identity, scope, capacity, seed)
    }
}

fn note(args: &AnatomyArgs, line: &str) {
    if !args.quiet {
        anstream::eprintln!("{}", hakaru_report::plain(line));
    }
}

/// The budget in one sentence.
fn budget_text(args: &AnatomyArgs, record: &AnatomyRecord) -> String {
    let budget = &record.budget;
    let (minutes, written, copied) = (
        budget.time.0 / 60_000_000_000,
        budget.written,
        budget.copied,
    );
    let mut said = match record.anatomy.read_only {
        true => both!(
            "budget: at most {minutes} minutes, nothing is written",
            "予算: {minutes}分以内、書き込みなし"
        ),
        false => both!(
            "budget: at most {minutes} minutes, {written} written, and {copied} copied inside of the card",
            "予算: {minutes}分以内、書き込み{written}以内、カード内部のコピー{copied}以内"
        ),
    };
    if args.prove {
        let more = anatomy::trial_bytes(record.anatomy.capacity);
        said += &both!(
            "; {more} more for the trials of the advice",
            "。助言の測定にさらに{more}"
        );
    }
    said
}

fn dry_run(args: &AnatomyArgs, record: &AnatomyRecord, lost: Option<&Path>) -> Result<Exit> {
    let budget = budget_text(args, record);
    if args.json {
        let path = args.path.as_deref().or(args.simulate.as_deref());
        let path = path.unwrap_or(Path::new(""));
        print(&erase::outlook_json(path, &[budget], lost.is_some())?)?;
        return Ok(Exit::Ok);
    }
    let name = text::anatomy_of(&record.target.display_name());
    let losses = lost.map(erase::losses).unwrap_or_default();
    let nothing = text::nothing_done();
    print(&format!(
        "{}\n{budget}\n{losses}{nothing}\n",
        hakaru_report::plain(&name)
    ))?;
    Ok(Exit::Ok)
}

/// Runs the experiments, stores the record after each of them, and prints the result.
fn carry_out(
    args: &AnatomyArgs,
    record: AnatomyRecord,
    device: &mut dyn TimedDevice,
    mut store: Store,
) -> Result<Exit> {
    let mut record = match args.resume {
        true => unfinished(&store, &record)?,
        false => record,
    };
    note(args, &budget_text(args, &record));
    let live = live::begin_on(store.path(), LiveVerb::Anatomy, &record.target);
    let doing = |what: &str| {
        if let Some(live) = &live {
            live::doing(live, what);
        }
    };
    let mut unstored = None;
    let outcome = anatomy::examine(device, &mut record, &mut |step, so_far| match step {
        RunStep::Begins(experiment) => {
            let number = Experiment::ALL.iter().position(|e| *e == experiment);
            let (number, of) = (number.unwrap_or(0) + 1, Experiment::ALL.len());
            let name = text::anatomy_experiment(experiment);
            note(args, &format!("{number}/{of} {name}"));
            doing(name);
        }
        RunStep::Ended(_) => {
            let stored = store.put_anatomy(so_far);
            unstored = stored.err();
        }
    });
    let proved = match (&outcome, args.prove) {
        (Ok(()), true) => {
            let name = both!("measuring the advice", "助言を測定しています");
            note(args, &name);
            doing(&name);
            anatomy::prove(device, &mut record)
        }
        _ => Ok(()),
    };
    store.put_anatomy(&record)?;
    if let Some(live) = &live {
        live.update(|state| state.stored = Some(record.id.clone()));
    }
    args.names.text.store(&mut store, &record.id)?;
    let shown = show(args, &store, &record);
    let exit = match outcome.and(proved) {
        Ok(()) => Exit::Ok,
        Err(DeviceError::Stopped) => Exit::Interrupted,
        Err(error) => {
            complain(&error.into());
            Exit::Failed
        }
    };
    if let Some(error) = unstored {
        complain(&error.into());
    }
    Ok(live::ended(live.as_ref(), exit.and(shown)))
}

/// Returns the unfinished anatomy of the same device.
fn unfinished(store: &Store, record: &AnatomyRecord) -> Result<AnatomyRecord> {
    let stored = store.anatomies(u32::MAX)?.records.into_iter();
    let found = stored
        .into_iter()
        .find(|stored| anatomy::continues(stored, record));
    found.ok_or_else(|| {
        usage(both!(
            "there is no unfinished anatomy of this device; help: omit --resume",
            "このデバイスの未完了の調査はありません; help: --resumeを省いてください"
        ))
    })
}

fn show(args: &AnatomyArgs, store: &Store, record: &AnatomyRecord) -> Result<()> {
    if let Some(file) = &args.export {
        export(record, file)?;
    }
    let annotations = store.annotations(&record.id)?;
    let advice = anatomy::advise(&record.anatomy);
    let page = hakaru_report::anatomy_html(record, &advice, &annotations);
    if place::is_stdout(args.output.as_deref()) {
        return print(&page);
    }
    let path = place::write_report(store, args.output.as_deref(), &record.id, &page)?;
    if args.json {
        return json::print(json::ANATOMY, &AdvisedAnatomy::new(record, annotations));
    }
    let summary = hakaru_report::anatomy_terminal(record, &advice, &annotations, width(), true);
    let report = text::report_at(&path.display().to_string());
    print(&format!("{summary}\n{report}\n"))
}

/// Writes the device model of an anatomy.
fn export(record: &AnatomyRecord, file: &Path) -> Result<()> {
    let Some(model) = &record.anatomy.model else {
        anstream::eprintln!(
            "{}",
            both!(
                "note: too little is known for a device model: {} was not written",
                "参考: デバイスモデルに必要な値が不明のため、{}は書き出していません"; file.display()
            )
        );
        return Ok(());
    };
    place::write_page(file, json::pretty(model)?.as_bytes())
}

/// Prints a stored anatomy.
pub(crate) fn print_stored(store: &Store, record: &AnatomyRecord, as_json: bool) -> Result<()> {
    if as_json {
        return print(&anatomy_json(store, &record.id)?);
    }
    let annotations = store.annotations(&record.id)?;
    let advice = anatomy::advise(&record.anatomy);
    let (width, color) = (width(), true);
    print(&hakaru_report::anatomy_terminal(
        record,
        &advice,
        &annotations,
        width,
        color,
    ))
}
