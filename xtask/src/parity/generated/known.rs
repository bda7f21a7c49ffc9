//! Differences that are known, each with its reason and the sets it explains.

use super::judge::Misfit;
use super::option_set::OptionSet;

/// A known difference.
pub(super) struct Known {
    /// Why both differ.
    pub(super) reason: &'static str,
    /// Whether it explains one value in which ours does not fit.
    explains: fn(&OptionSet, &Misfit) -> bool,
}

const fn known(reason: &'static str, explains: fn(&OptionSet, &Misfit) -> bool) -> Known {
    Known { reason, explains }
}

/// Values of the accesses in a log.
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

/// Every known difference.
pub(super) const KNOWN: &[Known] = &[
    known(
        "fio with a queue repeats or skips syncs between I/Os according to how many are in flight",
        |set, misfit| {
            let syncs = ["fsync", "fdatasync", "sync_file_range"];
            let queued =
                ["libaio", "io_uring", "posixaio", "vsync"].contains(&set.value("ioengine"));
            let counts = ["short_ios", "sync.total_ios", "syncs in the log"];
            let of_syncs = counts.iter().any(|count| misfit.is(count));
            queued && set.has("iodepth") && syncs.iter().any(|sync| set.has(sync)) && of_syncs
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
        "fio ends a random job with bs_is_seq_rand at the first offset at which its block does not fit",
        |set, _| {
            set.has("bs_is_seq_rand")
                && (set.value("rw").contains("rand") || set.has("percentage_random"))
        },
    ),
    known(
        "fio does no I/O with random_generator=lfsr and blockalign",
        |set, misfit| {
            let both = set.value("random_generator") == "lfsr" && set.has("blockalign");
            both && misfit.is_of_accesses()
        },
    ),
    known(
        "direct I/O of any number of bytes fails at the first that is no multiple of a sector: how many come before is drawn",
        |set, misfit| {
            let drawn = set.value("direct") == "1" && set.has("bs_unaligned");
            let counted = misfit.is("io_bytes") || misfit.is("total_ios");
            let left = misfit.is("written parts") || IN_LOG.iter().any(|part| misfit.is(part));
            drawn && (counted || left)
        },
    ),
];

/// The known differences that together explain every value in which ours does not fit; the first of them.
pub(super) fn explanation(set: &OptionSet, misfits: &[Misfit]) -> Option<&'static Known> {
    let explains = |misfit: &Misfit| KNOWN.iter().find(|known| (known.explains)(set, misfit));
    let found: Option<Vec<_>> = misfits.iter().map(explains).collect();
    found?.first().copied()
}
