//! Messages of the commands.

use super::counted;
use crate::naming::workload_words;
use crate::text::{BenchPlace, EraseTarget, FailedAction, VerifyUsage};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, BytesPerSec, Nanos};

pub(in crate::text) fn refused(what: &str) -> String {
    format!("refused: {what}")
}

pub(in crate::text) fn would_erase_all(device: &str) -> String {
    format!("refused: this would erase all data on {device}")
}

pub(in crate::text) fn type_to_erase(name: &str) -> String {
    format!("Type {name} or its ID to erase it: ")
}

pub(in crate::text) fn pass_one_of(options: &[String]) -> String {
    format!("pass {}", options.join(" or "))
}

pub(in crate::text) fn erase_without_id(name: &str) -> String {
    format!(
        "it has no serial number, CID or /dev/disk/by-id name: run this on a terminal, and type its name, {name}, when asked"
    )
}

pub(in crate::text) fn losses(path: &str, lines: &[String]) -> String {
    match lines {
        [] => format!("No known content on {path}.\n"),
        lines => format!("Data that would be lost on {path}:\n{}", lines.concat()),
    }
}

pub(in crate::text) fn nothing_done() -> &'static str {
    "Nothing was done."
}

pub(in crate::text) fn would_run(workloads: &[&str]) -> String {
    let words = |name: &&str| format!("{} ({name})", workload_words(name));
    let workloads: Vec<String> = workloads.iter().map(words).collect();
    format!("Would run: {}", workloads.join(", "))
}

pub(in crate::text) fn measuring(name: &str, place: BenchPlace<'_>, size: Bytes) -> String {
    match place {
        BenchPlace::CurrentDirectory => {
            format!("Measuring {name} in the current directory, on a file of {size}")
        }
        BenchPlace::Directory(path) => format!("Measuring {name} in {path}, on a file of {size}"),
        BenchPlace::Device(path) => format!("Measuring {name}, the first {size} of {path}"),
        BenchPlace::Simulated => format!("Measuring {name}, the first {size}"),
    }
}

pub(in crate::text) fn bench_rounds(
    rounds: u64,
    traced: bool,
    workloads: u64,
    time: Nanos,
) -> String {
    let traced = if traced { " and a traced one" } else { "" };
    format!(
        "{}{traced} of {}, about {time} in total",
        counted(rounds, "round"),
        counted(workloads, "workload")
    )
}

pub(in crate::text) fn bench_writes(written: Bytes, speed: BytesPerSec) -> String {
    format!("Writes about {written} in total for each {speed} of write speed")
}

pub(in crate::text) fn traced_round() -> &'static str {
    "traced"
}

pub(in crate::text) fn report_at(path: &str) -> String {
    format!("Report: {path}")
}

pub(in crate::text) fn round_of(number: u32, of: u32) -> String {
    format!("round {number}/{of}")
}

pub(in crate::text) fn in_ramp() -> &'static str {
    "(ramp)"
}

pub(in crate::text) fn operation(op: Op) -> &'static str {
    op.name()
}

pub(in crate::text) fn time_left(time: &str) -> String {
    format!("{time} left")
}

pub(in crate::text) fn laying_out() -> &'static str {
    "laying out the file"
}

pub(in crate::text) fn done_of(done: Bytes, total: Bytes) -> String {
    format!("{done} of {total}")
}

pub(in crate::text) fn runs_interrupted(count: u64) -> String {
    match count {
        1 => "1 run was interrupted; `hakaru recover` stores what it measured".to_owned(),
        count => {
            format!("{count} runs were interrupted; `hakaru recover` stores what they measured")
        }
    }
}

pub(in crate::text) fn nothing_listed(empty: bool) -> &'static str {
    match empty {
        true => "No runs are stored yet; create one with `hakaru bench`.",
        false => "No stored run matches; `hakaru list` shows the latest runs.",
    }
}

pub(in crate::text) fn partial_results_kept(error: &str) -> String {
    format!("{error}; partial results are kept")
}

pub(in crate::text) fn would_verify(samples: Option<Bytes>, restores: bool) -> String {
    match (samples, restores) {
        (None, false) => "Would write the whole device and read it back.".to_owned(),
        (None, true) => {
            "Would write the whole device, read it back and restore its content.".to_owned()
        }
        (Some(bytes), false) => {
            format!("Would write samples of up to {bytes} in total and read them back.")
        }
        (Some(bytes), true) => format!(
            "Would write samples of up to {bytes} in total, read them back and restore the content."
        ),
    }
}

pub(in crate::text) fn would_fill_free_space(taken: Bytes, free: Bytes) -> String {
    format!(
        "Would fill {taken} of {free} of free space with unnamed files, read them back and delete them."
    )
}

pub(in crate::text) fn free_space_taken(room: Bytes, announced: Bytes) -> String {
    format!("Only {room} of {announced} could be written: the rest was used up meanwhile.")
}

pub(in crate::text) fn erase_target(of: &EraseTarget<'_>) -> String {
    let EraseTarget {
        partition,
        mapping,
        name,
        size,
        path,
    } = of;
    match (partition, mapping, name == path) {
        (Some(number), ..) => format!("partition {number} of {name}, {size}, {path}"),
        (None, Some(mapping), true) => format!("the mapping {mapping}, {size}, {path}"),
        (None, Some(mapping), false) => {
            format!("the mapping {mapping} on {name}, {size}, {path}")
        }
        (None, None, true) => format!("{name}, {size}"),
        (None, None, false) => format!("{name}, {size}, {path}"),
    }
}

pub(in crate::text) fn verify_usage(error: &VerifyUsage<'_>) -> String {
    match error {
        VerifyUsage::TwoOutputs => {
            "--json and --output=- both write to standard output; help: omit one, or name a file"
                .to_owned()
        }
        VerifyUsage::NotATarget(path) => {
            format!("{path} is neither a device nor a directory; help: name its directory")
        }
        VerifyUsage::NotThere(path) => format!(
            "{path} does not exist; help: name a device listed by `hakaru info`, or a directory whose free space is to be \
             verified"
        ),
        VerifyUsage::Denied(path) => {
            format!("cannot access {path}: no permission for a parent directory; help: run as root")
        }
        VerifyUsage::Unreadable(path, error) => {
            format!("cannot access {path}: {error}; help: name a device or a directory")
        }
        VerifyUsage::OnlyForDevices => {
            "--quick, --keep and --erase apply only to devices; for free space, use --size"
                .to_owned()
        }
    }
}

pub(in crate::text) fn cannot(what: &FailedAction<'_>) -> String {
    match what {
        FailedAction::Read(name) => format!("cannot read {name}"),
        FailedAction::ReadAsText(name) => format!("cannot read {name} as text"),
        FailedAction::ReadStored(what, id) => format!("skipped: cannot read {what} {id}"),
        FailedAction::Write(path) => format!("cannot write {path}"),
        FailedAction::WriteReport(path) => {
            format!("cannot write the report to {path}; help: name a file with --output")
        }
        FailedAction::CreateReportDirectory(path) => {
            format!(
                "cannot create the directory {path} for reports; help: name a file with --output"
            )
        }
        FailedAction::UseFreeSpace(path) => format!("cannot use the free space of {path}"),
        FailedAction::DetermineFreeSpace(path) => {
            format!("cannot determine the free space of {path}")
        }
        FailedAction::StoreResult => "cannot store the result".to_owned(),
    }
}
