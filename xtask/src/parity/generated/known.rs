//! Known differences, each with its reason and the sets it explains.

use super::judge::Misfit;
use super::option_set::OptionSet;

/// A known difference.
pub(super) struct Known {
    /// Reason for the difference.
    pub(super) reason: &'static str,
    /// Whether it explains a value that does not match.
    explains: fn(&OptionSet, &Misfit) -> bool,
}

const fn known(reason: &'static str, explains: fn(&OptionSet, &Misfit) -> bool) -> Known {
    Known { reason, explains }
}

/// Values about the accesses in a log.
const IN_LOG: &[&str] = &[
    "accesses",
    "alignment",
    "longest",
    "mean",
    "offsets",
    "end of",
    "touched",
    "coverage",
    "blocks",
    "order",
];

/// All known differences.
pub(super) const KNOWN: &[Known] = &[
    known(
        "fio decides on a sync by what has completed: with a queue it repeats one until it lands, or leaves one out",
        |set, misfit| {
            let queued =
                ["libaio", "io_uring", "posixaio", "null"].contains(&set.value("ioengine"));
            let deep = set.has("iodepth") && set.value("iodepth") != "1";
            let of_syncs =
                set.has("fsync") && (misfit.is("sync.total_ios") || misfit.is("syncs in the log"));
            let of_others = set.has("fdatasync")
                && (misfit.is("read.short_ios") || misfit.is("syncs in the log"))
                || set.has("sync_file_range") && misfit.is("write.short_ios");
            queued && deep && (of_syncs || of_others)
        },
    ),
    known(
        "checks beside the job end it when their threads come to it: how many blocks are read by then is chance",
        |set, misfit| {
            let counts = [
                "io_bytes",
                "total_ios",
                "accesses",
                "mean offset",
                "coverage",
                "touched",
            ];
            let more = ["blocks", "order", "end of the last", "offsets in use"];
            let counted = counts.iter().chain(&more).any(|count| misfit.is(count));
            set.has("verify_async") && set.value("rw").contains("read") && counted
        },
    ),
    known(
        "whether a mix reads a block of a file that it makes before it has written it is drawn",
        |set, misfit| {
            let mix = ["rw", "randrw"]
                .iter()
                .any(|rw| set.value("rw").starts_with(rw));
            let ends = [
                "exit code",
                "error",
                "total_err",
                "total_ios",
                "io_bytes",
                "files",
                "written parts",
            ];
            let end = ends.iter().chain(IN_LOG).any(|part| misfit.is(part));
            set.has("create_on_open") && mix && end
        },
    ),
    known(
        "a job with create_on_open that ends early: fio makes each file at its first I/O, hakaru all of them at the start",
        |set, misfit| {
            let left_out = misfit.is("files") || misfit.is("written parts");
            set.has("create_on_open") && set.has("nrfiles") && left_out
        },
    ),
    known(
        "which blocks a job without a map of them comes to is drawn: the last may be left out",
        |set, misfit| set.has("norandommap") && misfit.is("end of the last byte"),
    ),
];

/// Returns the first known difference if known differences together explain all values that do not match.
pub(super) fn explanation(set: &OptionSet, misfits: &[Misfit]) -> Option<&'static Known> {
    let explains = |misfit: &Misfit| KNOWN.iter().find(|known| (known.explains)(set, misfit));
    let found: Option<Vec<_>> = misfits.iter().map(explains).collect();
    found?.first().copied()
}
