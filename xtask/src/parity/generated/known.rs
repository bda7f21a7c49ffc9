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

/// Every known difference.
pub(super) const KNOWN: &[Known] = &[
    known("fio counts sync_file_range and fdatasync calls as short I/Os", |set, misfit| {
        let syncs = set.has("sync_file_range") || set.has("fdatasync");
        syncs && (misfit.is("short_ios") || misfit.is("sync.total_ios"))
    }),
    known("fio with vsync does not count what is left in its queue at the end", |set, misfit| {
        set.value("ioengine") == "vsync" && (misfit.is("io_bytes") || misfit.is("total_ios") || misfit.is("accesses"))
    }),
    known("fio with verify=pattern and no pattern fails an assertion of its own and ends with 0", |set, _| {
        set.value("verify") == "pattern" && !set.has("verify_pattern")
    }),
    known("fio 3.33 has no verify=pattern_hdr, later versions have", |set, _| set.value("verify") == "pattern_hdr"),
    known("fio ends a random job with bs_is_seq_rand at the first offset at which its block does not fit", |set, _| {
        set.has("bs_is_seq_rand") && (set.value("rw").contains("rand") || set.has("percentage_random"))
    }),
    known("the options are documented as refused: no memory is locked, and directories are not searched", |set, _| {
        set.has("lockmem") || set.has("opendir")
    }),
    known(
        "fio gives its clones their offset_increment in another order, and takes percents of half-made files",
        |set, misfit| set.has("offset_increment") && !misfit.is("exit code"),
    ),
];

/// The known differences that together explain every value in which ours does not fit; the first of them.
pub(super) fn explanation(set: &OptionSet, misfits: &[Misfit]) -> Option<&'static Known> {
    let explains = |misfit: &Misfit| KNOWN.iter().find(|known| (known.explains)(set, misfit));
    let found: Option<Vec<_>> = misfits.iter().map(explains).collect();
    found?.first().copied()
}
