//! `hakaru verify`: checks capacity and data integrity of storage, and maps its speed by position.

use super::{erase, json, print, recover, size, width};
use crate::exit::{Exit, complain};
use crate::live;
use crate::names::LabelArgs;
use crate::place;
use crate::scan_reporter::ScanReporter;
use crate::status_reporter::ProgressFormat;
use anyhow::{Context, Result, bail};
use hakaru_campaign::errors;
use hakaru_device::guard::Candidate;
use hakaru_device::prepare::{Preparation, PrepareError, VerifyExtent};
use hakaru_device::verify::{self, VerifyError};
use hakaru_device::{FreeSpace, Roots};
use hakaru_model::facts::Identity;
use hakaru_model::integrity::{FORMAT, IntegrityVerdict, Scope, Verification};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_report::text::{self, FailedAction, VerifyUsage};
use hakaru_store::Store;
use hakaru_store::live::{LivePublisher, LiveVerb};
use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

const AFTER: &str = "A device is written and read back in full, and its content is lost: the device must not be in use, and must be confirmed by its id (--erase=ID) or by typing its name. --quick takes minutes instead of hours and finds every false capacity, but no bad blocks; --keep restores the content. In a directory, the free space is filled with unnamed files, so nothing is left behind whatever happens.

Exit codes: 0 good; 1 could not be verified; 2 usage error or no such path; 3 refused because data would be lost; 4 defects found; 130 interrupted (partial results are kept).";

/// Name of the clock that times the passes over a device.
const CLOCK: &str = "CLOCK_MONOTONIC";

/// Arguments of `hakaru verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct VerifyArgs {
    /// Block device, or directory whose free space is verified
    path: PathBuf,
    /// Test samples only: takes minutes and finds every false capacity, but no bad blocks
    #[arg(long)]
    quick: bool,
    /// With --quick: save the existing content and restore it afterwards (a kill or power cut in between loses it)
    #[arg(long, requires = "quick")]
    keep: bool,
    /// Permit overwriting the device identified by this serial number, CID or by-id name; prompts if ID is omitted
    #[arg(long, value_name = "ID", num_args = 0..=1, default_missing_value = "", require_equals = true)]
    erase: Option<String>,
    /// Use at most this much of the free space of a directory, such as 4GiB
    #[arg(long, value_parser = size)]
    size: Option<Bytes>,
    /// Seed of the written data [default: random]
    #[arg(long)]
    seed: Option<u64>,
    /// Show what would be done and what would be lost, and exit
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    names: LabelArgs,
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

/// Verifies a device or free space, stores the verdict, and prints it.
pub(crate) fn main(args: &VerifyArgs, db: Option<&Path>) -> Result<Exit> {
    if args.json && place::is_stdout(args.output.as_deref()) {
        return Ok(usage(text::verify_usage(&VerifyUsage::TwoOutputs)));
    }
    let kind = std::fs::metadata(&args.path).map(|metadata| metadata.file_type());
    match kind {
        Ok(kind) if kind.is_dir() => directory(args, db),
        Ok(kind) if kind.is_block_device() => device(args, db),
        Ok(_) => {
            let path = args.path.display().to_string();
            Ok(usage(text::verify_usage(&VerifyUsage::NotATarget(&path))))
        }
        Err(error) => Ok(usage(not_there(&args.path, &error))),
    }
}

/// Explains why a path cannot be inspected, with advice.
fn not_there(path: &Path, error: &std::io::Error) -> String {
    let path = path.display().to_string();
    let because = errors::message(error);
    text::verify_usage(&match error.kind() {
        ErrorKind::NotFound => VerifyUsage::NotThere(&path),
        ErrorKind::PermissionDenied => VerifyUsage::Denied(&path),
        _ => VerifyUsage::Unreadable(&path, &because),
    })
}

fn usage(text: String) -> Exit {
    complain(&anyhow::anyhow!(text));
    Exit::Usage
}

/// The target of a verification and its circumstances.
struct VerifyTarget {
    identity: Identity,
    scope: Scope,
    seed: u64,
    started_unix_ms: i64,
    begun: Instant,
}

impl VerifyTarget {
    fn new(args: &VerifyArgs, identity: Identity, scope: Scope) -> VerifyTarget {
        let started_unix_ms = hakaru_campaign::now_unix_ms();
        let label = args.names.label.clone().or(identity.label);
        let identity = Identity { label, ..identity };
        // Use a new seed each time: leftovers of an earlier run must not look like data of this run.
        let seed = args.seed.unwrap_or(started_unix_ms as u64);
        VerifyTarget {
            identity,
            scope,
            seed,
            started_unix_ms,
            begun: Instant::now(),
        }
    }

    fn verification(self, verdict: IntegrityVerdict) -> Verification {
        let sampled = matches!(self.scope, Scope::Samples { .. });
        Verification {
            format: FORMAT,
            id: hakaru_campaign::new_id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_ms: self.started_unix_ms,
            elapsed: Nanos(u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX)),
            target: self.identity,
            environment: hakaru_device::environment(&Roots::live(), CLOCK),
            scope: self.scope,
            seed: self.seed,
            // Sampling returns a verdict only when it is complete.
            completed: sampled || verdict.checked() == verdict.claimed,
            verdict,
        }
    }
}

fn device(args: &VerifyArgs, db: Option<&Path>) -> Result<Exit> {
    if args.size.is_some() {
        return Ok(usage(both!(
            "--size applies only to the free space of a directory; a device is verified as a whole",
            "--sizeはディレクトリの空き容量だけに使えます。デバイスは全体を検証します"
        )));
    }
    let roots = Roots::live();
    let candidate = erase::candidate(&args.path, &roots)?;
    let identity = hakaru_device::identify(&args.path, &roots);
    let size = candidate.size();
    let known = identity.device.known();
    let block = known.map_or(512, |device| device.logical_block);
    let extent = match (args.quick, args.keep) {
        (false, _) => VerifyExtent::Whole,
        (true, false) => VerifyExtent::Samples,
        (true, true) => VerifyExtent::SamplesRestored,
    };
    let sampled = args.quick && verify::is_sampled(size, block);
    if args.dry_run {
        let samples = sampled.then(|| verify::keeps(size, block));
        return dry_run(args, &candidate, samples);
    }
    if args.keep {
        enough_memory(verify::keeps(size, block), &roots)?;
    }
    let mut store = place::open(db)?;
    let id = args.erase.as_deref().unwrap_or_default();
    let erasable = erase::ask(&args.path, id)?;
    // The reporter takes signals, which must come before the journal: an interrupt at any later
    // moment undoes what the journal names.
    let live = live::begin_on(store.path(), LiveVerb::Verify, &identity);
    let mut reporter = ScanReporter::new(args.progress.mode(args.quiet), live.clone());
    let mut preparation = Preparation::begin(&recover::state_directory()?, roots)?;
    let restored = args.keep;
    let scope = match sampled {
        true => Scope::Samples { restored },
        false => Scope::Whole { restored },
    };
    let target = VerifyTarget::new(args, identity, scope);
    let mut report = |progress| reporter.report(progress);
    let found = preparation.verify(&erasable, extent, target.seed, &mut report);
    reporter.end();
    // Release the device before printing, which may wait for a pager.
    drop(erasable);
    let exit = match found {
        Ok(verdict) => finish(
            args,
            &mut store,
            &target.verification(verdict),
            live.as_ref(),
        ),
        Err(PrepareError::Verify(error)) => failed(error),
        Err(error) => return Err(error.into()),
    };
    Ok(live::ended(live.as_ref(), exit))
}

/// Checks for enough memory to keep the content that is restored afterwards.
fn enough_memory(needed: Bytes, roots: &Roots) -> Result<()> {
    let memory = hakaru_device::environment(roots, CLOCK).memory;
    if memory.0 > 0 && needed.0 > memory.0 / 2 {
        bail!(both!(
            "--keep needs {needed} of memory, and this host has {memory}; help: omit --keep, or \
            use a host with more memory",
            "--keepにはメモリが{needed}必要ですが、このホストは{memory}です; help: --keepを省くか、メモリの多いホストを使ってください"
        ));
    }
    Ok(())
}

fn dry_run(args: &VerifyArgs, candidate: &Candidate, samples: Option<Bytes>) -> Result<Exit> {
    let what = text::would_verify(samples, args.keep);
    if args.json {
        print(&erase::outlook_json(&args.path, &[what], !args.keep)?)?;
        return Ok(Exit::Ok);
    }
    let losses = match args.keep {
        true => String::new(),
        false => erase::losses(&args.path),
    };
    let called = erase::called(candidate);
    let nothing = text::nothing_done();
    print(&format!("{called}\n{what}\n{losses}{nothing}\n"))?;
    Ok(Exit::Ok)
}

fn directory(args: &VerifyArgs, db: Option<&Path>) -> Result<Exit> {
    if args.quick || args.erase.is_some() {
        return Ok(usage(text::verify_usage(&VerifyUsage::OnlyForDevices)));
    }
    let identity = hakaru_device::identify(&args.path, &Roots::live());
    if args.dry_run {
        return dry_run_of_free_space(args);
    }
    let mut store = place::open(db)?;
    let mut space = FreeSpace::take(&args.path, args.size).with_context(|| {
        text::cannot(&FailedAction::UseFreeSpace(
            &args.path.display().to_string(),
        ))
    })?;
    let announced = hakaru_device::BlockDev::size(&space);
    let folder = std::path::absolute(&args.path).unwrap_or_else(|_| args.path.clone());
    let live = live::begin_on(store.path(), LiveVerb::Verify, &identity);
    let target = VerifyTarget::new(args, identity, Scope::FreeSpace { folder });
    let mut reporter = ScanReporter::new(args.progress.mode(args.quiet), live.clone());
    let mut report = |progress| reporter.report(progress);
    let found = verify::verify(&mut space, target.seed, &mut report);
    reporter.end();
    drop(space);
    let exit = match found {
        Ok(verdict) => {
            if verdict.claimed < announced {
                let room = verdict.claimed;
                anstream::eprintln!("{}", text::free_space_taken(room, announced));
            }
            finish(
                args,
                &mut store,
                &target.verification(verdict),
                live.as_ref(),
            )
        }
        Err(error) => failed(error),
    };
    Ok(live::ended(live.as_ref(), exit))
}

fn dry_run_of_free_space(args: &VerifyArgs) -> Result<Exit> {
    let free = FreeSpace::at(&args.path).with_context(|| {
        text::cannot(&FailedAction::DetermineFreeSpace(
            &args.path.display().to_string(),
        ))
    })?;
    let taken = FreeSpace::usable(free, args.size);
    let said = text::would_fill_free_space(taken, free);
    match args.json {
        true => print(&erase::outlook_json(&args.path, &[said], false)?)?,
        false => print(&format!("{said}\n{}\n", text::nothing_done()))?,
    }
    Ok(Exit::Ok)
}

/// Prints why there is no verdict, and returns the exit code.
fn failed(error: VerifyError) -> Exit {
    let exit = match error {
        VerifyError::Interrupted { .. } => Exit::Interrupted,
        _ => Exit::Failed,
    };
    complain(&error.into());
    exit
}

/// Stores the verification first, then prints it. A failure of either does not hide the verdict.
fn finish(
    args: &VerifyArgs,
    store: &mut Store,
    verification: &Verification,
    live: Option<&LivePublisher>,
) -> Exit {
    let exit = match (verification.verdict.has_defects(), verification.completed) {
        (true, _) => Exit::Defective,
        (false, true) => Exit::Ok,
        (false, false) => Exit::Interrupted,
    };
    let stored = store.append_verification(verification);
    if let (Ok(_), Some(live)) = (&stored, live) {
        live.update(|state| state.stored = Some(verification.id.clone()));
    }
    // The page and the terminal show title and note.
    let described = args.names.text.store(store, &verification.id);
    exit.and(show(args, store, verification))
        .and(
            stored
                .map(|_| ())
                .context(text::cannot(&FailedAction::StoreResult)),
        )
        .and(described)
}

fn show(args: &VerifyArgs, store: &Store, verification: &Verification) -> Result<()> {
    // The result is printed even if the database has failed.
    let names = store.annotations(&verification.id).unwrap_or_default();
    let page = || hakaru_report::verification_html(verification, &names);
    if place::is_stdout(args.output.as_deref()) {
        return print(&page());
    }
    if args.json {
        let printed = json::print(json::VERIFICATION, verification);
        if args.output.is_some() {
            let path =
                place::write_report(store, args.output.as_deref(), &verification.id, &page())?;
            anstream::eprintln!("{}", text::report_at(&path.display().to_string()));
        }
        return printed;
    }
    let printed = print(&hakaru_report::verification_terminal(
        verification,
        &names,
        width(),
        true,
    ));
    let path = place::write_report(store, args.output.as_deref(), &verification.id, &page())?;
    printed?;
    print(&format!(
        "\n{}\n",
        text::report_at(&path.display().to_string())
    ))
}
