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

/// Whether the first job has several files.
fn has_files(set: &OptionSet) -> bool {
    set.has("nrfiles") || set.value("filename").contains(':')
}

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
        "fio ends single clones whose offset_increment goes past the end of a device; ours leaves out the whole job",
        |set, _| set.has("offset_increment") && set.value("filename") == "{loop}",
    ),
    known(
        "fio with mmap ends zones where `size` ends, other engines where the file or device ends",
        |set, misfit| {
            set.value("ioengine") == "mmap" && set.has("zonesize") && misfit.is_of_accesses()
        },
    ),
    known(
        "fio takes an offset in percent anew in each pass, of the file that the first pass made",
        |set, misfit| {
            let percent = set.value("offset").ends_with('%');
            let passes = set.has("loops") || set.has("io_size");
            let made = set.existing().is_none() && set.value("filename").is_empty();
            percent && passes && made && misfit.is_of_accesses()
        },
    ),
    known(
        "fio spreads a job of ioengine=null over its files by name; ours gives it one without a name",
        |set, misfit| {
            let named = has_files(set) || set.has("filename");
            let counts = misfit.is("io_bytes") || misfit.is("total_ios");
            set.value("ioengine") == "null" && named && misfit.is_of_accesses() && !counts
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
        "fio cuts random I/Os of several sizes where they meet blocks already done; ours keep their sizes",
        |set, misfit| {
            let sizes = set.has("bsrange") || set.has("bssplit");
            sizes && set.value("rw").starts_with("rand") && misfit.is("mean length")
        },
    ),
    known(
        "fio begins direct I/O at an odd offset and fails at the first; ours refuses the job beforehand",
        |set, misfit| {
            let odd = set.value("offset_increment") == "50001"
                || set.value("offset") == "50001"
                || set.value("bs") == "1000";
            set.value("direct") == "1" && odd && !misfit.is("result")
        },
    ),
    known(
        "fio logs an I/O as it is issued; ours leaves one out of the log that fails",
        |set, misfit| {
            let fails = set.value("rw").contains("trim") && set.value("offset") == "50001";
            let in_log = [
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
            fails && in_log.iter().any(|part| misfit.is(part))
        },
    ),
];

/// The known differences that together explain every value in which ours does not fit; the first of them.
pub(super) fn explanation(set: &OptionSet, misfits: &[Misfit]) -> Option<&'static Known> {
    let explains = |misfit: &Misfit| KNOWN.iter().find(|known| (known.explains)(set, misfit));
    let found: Option<Vec<_>> = misfits.iter().map(explains).collect();
    found?.first().copied()
}
