//! The plan of a campaign, and what is left of it.

use super::counted;
use crate::number;
use crate::text::enumerated;
use crate::text::{
    PlannedExtent, PlannedJob, PlannedPlace, PlannedRecheck, PlannedRuns, Selected, StoredRuns,
    TurnPreparation,
};

pub(in crate::text) fn campaign_title(name: &str, id: &str) -> String {
    match name == id {
        true => name.to_owned(),
        false => format!("{name} (stored as {id})"),
    }
}

pub(in crate::text) fn planned_extent(of: &PlannedExtent) -> String {
    let counts = [
        selected(of.cards, "card"),
        selected(of.layers, "layer"),
        selected(of.workloads, "workload"),
        super::each_point(of.repeats),
    ];
    counts.join(", ") + "."
}

fn selected(of: Selected, what: &str) -> String {
    let all = counted(of.all, what);
    match of.chosen < of.all {
        true => format!("{} of {all}", of.chosen),
        false => all,
    }
}

pub(in crate::text) fn planned_runs(of: PlannedRuns) -> String {
    let (most, done) = (counted(of.most, "run"), number::grouped(of.done));
    format!("{most} at most, {done} stored.")
}

pub(in crate::text) fn runs_with_other_settings(n: u64) -> String {
    let do_not = if n == 1 { "does not" } else { "do not" };
    let were = if n == 1 { "it was" } else { "they were" };
    format!(
        "{} {do_not} count: {were} measured with different settings.",
        counted(n, "stored run")
    )
}

pub(in crate::text) fn unfinished_runs(n: u64) -> String {
    let do_not = if n == 1 { "does not" } else { "do not" };
    format!("{} did not finish and {do_not} count.", counted(n, "run"))
}

pub(in crate::text) fn progress_of_campaign(of: StoredRuns, time: &str) -> String {
    let stored = counted(of.stored, "run");
    let open = number::grouped(of.open);
    match (of.open, of.may_end_early) {
        (0, _) => format!("{stored} stored, complete."),
        (_, true) => format!("{stored} stored, at most {open} left: about {time}."),
        (_, false) => format!("{stored} stored, {open} left: about {time}."),
    }
}

pub(in crate::text) fn not_measured_yet() -> &'static str {
    "not measured yet"
}

pub(in crate::text) fn planned_card(
    place: &PlannedPlace<'_>,
    layers: &[&str],
    time: &str,
) -> String {
    let place = match place {
        PlannedPlace::Simulated => "simulated".to_owned(),
        PlannedPlace::Directory(path) => format!("the directory {path}"),
        PlannedPlace::Device(node, Some(size)) => format!("at {node}, {size}"),
        PlannedPlace::Device(node, None) => format!("at {node}"),
        PlannedPlace::Absent(why) => format!("to be inserted ({why})"),
    };
    format!("{place}; {}; about {time}", layers.join(", "))
}

pub(in crate::text) fn planned_erasure(content: Option<&[String]>) -> String {
    match content {
        None => "WILL BE ERASED".to_owned(),
        Some([]) => "WILL BE ERASED: no known content".to_owned(),
        Some(found) => format!("WILL BE ERASED: {}", found.join("; ")),
    }
}

pub(in crate::text) fn planned_job(job: &PlannedJob) -> String {
    let order = if job.random { "random" } else { "sequential" };
    let op = match job.mix {
        (100, _) => "read".to_owned(),
        (_, 100) => "write".to_owned(),
        (read, _) => format!("mix ({read}% reads)"),
    };
    let mut parts = vec![format!("{order} {op}, {}", job.block)];
    if job.numjobs > 1 {
        parts.push(counted(job.numjobs.into(), "job"));
    }
    if job.iodepth > 1 {
        parts.push(format!("queue depth {}", job.iodepth));
    }
    let cache = if job.direct {
        "direct I/O"
    } else {
        "page cache"
    };
    parts.push(format!("engine {}, {cache}", job.ioengine));
    if let Some((runtime, at_most)) = job.runtime {
        let most = if at_most { "at most " } else { "" };
        parts.push(match job.ramp {
            None => format!("{most}{runtime}"),
            Some(ramp) => format!("{ramp} ramp, {most}{runtime}"),
        });
    }
    let (same, each) = match (job.numjobs > 1, job.own_files) {
        (false, _) => ("", ""),
        (true, true) => ("", " each"),
        (true, false) => ("the same ", ""),
    };
    parts.extend(job.size.map(|size| format!("on {same}{size}{each}")));
    enumerated(&parts)
}

pub(in crate::text) fn cards_in_turns(
    order: &str,
    cards: usize,
    prepared: Option<TurnPreparation>,
    shared: bool,
) -> String {
    let prepared = match prepared {
        None => "",
        Some(TurnPreparation::EachRun) => " Each card is prepared before each of its runs.",
        Some(TurnPreparation::EachLayerChange) => {
            " Each card is prepared when its layer changes, and stays mounted in between."
        }
        Some(TurnPreparation::OncePerLayer) => {
            " Each card is prepared once per layer, and stays mounted during the runs of the other cards."
        }
    };
    let shared = match shared {
        true => " Directories on one file system share its free space equally.",
        false => "",
    };
    format!(
        "Cards take turns, one run each (card-order = \"{order}\"): all {cards} must be present at the same time from \
         the first run to the last.{prepared}{shared}"
    )
}

pub(in crate::text) fn planned_recheck(of: &PlannedRecheck<'_>) -> String {
    let PlannedRecheck {
        card,
        layer,
        points,
        time,
        writes,
        by_hand,
    } = of;
    let runs = counted(*points, "more run");
    let again = match by_hand {
        true => " If cards are swapped by hand, insert it again for that.",
        false => "",
    };
    format!(
        "Recheck: {card} is measured again through {layer} at the end: {runs}, about {time}, writing about {writes} \
         to it.{again}"
    )
}

pub(in crate::text) fn planned_time(time: &str) -> String {
    format!("About {time} in total.")
}

pub(in crate::text) fn only_explained() -> &'static str {
    "Names in parentheses are those of the file, which --only takes too."
}
