//! Verdicts: suitability for uses, claims, bottlenecks, and comparison with references.

use super::answers::things;
use super::{claims::figure, counted, listed};
use crate::findings::ConclusionKind;
use crate::number;
use crate::text::figures::suite_workloads;
use crate::text::{FigureChange, capital};
use hakaru_model::advice::{AdviceVerdict, Choice, Decision, Fitness};
use hakaru_model::finding::{Bottleneck, BusLimit, ClaimPart, ClaimVerdict, Figure};
use hakaru_model::job::Op;
use hakaru_model::references::ReferenceStanding;

pub(in crate::text) fn advice(verdict: AdviceVerdict) -> &'static str {
    use AdviceVerdict::*;
    match verdict {
        Firm(Fitness::Fits) => "good",
        Firm(Fitness::WithCare) => "with care",
        Firm(Fitness::DoesNot) => "not suitable",
        Probable(Fitness::Fits) => "probably good",
        Probable(Fitness::WithCare) => "probably with care",
        Probable(Fitness::DoesNot) => "probably not suitable",
        Inconclusive => "inconclusive",
        NotMeasured => "not measured",
        NotPossible => "not possible",
    }
}

pub(in crate::text) fn no_permissions(file_system: &str) -> String {
    format!("{file_system} stores no Unix owners, permissions or symbolic links")
}

pub(in crate::text) fn incomplete_advice(at_best: Option<Fitness>, missing: usize) -> String {
    let missing = counted(missing as u64, "figure");
    match at_best {
        Some(Fitness::Fits) => format!("good so far, {missing} missing"),
        Some(Fitness::WithCare | Fitness::DoesNot) => {
            format!("with care at best, {missing} missing")
        }
        None => format!("inconclusive, {missing} missing"),
    }
}

pub(in crate::text) fn use_title(_id: &str, title: &str) -> String {
    title.to_owned()
}

pub(in crate::text) fn reasons(parts: &[String]) -> String {
    parts.join("; ")
}

pub(in crate::text) fn decision(decision: &Decision) -> String {
    let fitness = decision.fitness;
    let of = decision.criterion.figure;
    let (name, value) = (figure(of), quantity(of, decision.measured.value));
    let fits = number::limit(decision.criterion.fits);
    let care = number::limit(decision.criterion.care);
    if let (true, Some((low, high))) = (decision.is_crossed(), decision.measured.bounds) {
        let crossed = decision.crossed_limit();
        let (low, high) = (number::quantity(low), quantity(of, high));
        let limits = match (
            crossed == Some(decision.criterion.care),
            of.more_is_better(),
        ) {
            (true, true) => format!("minimum {care}, good from {fits}"),
            (true, false) => format!("maximum {care}, good up to {fits}"),
            (false, true) => format!("good from {fits}"),
            (false, false) => format!("good up to {fits}"),
        };
        return format!("{name} is between {low} and {high} ({limits})");
    }
    if decision.is_crossed() {
        let crossed = decision.crossed_limit().map_or(fits, number::limit);
        return format!(
            "{name} is {value} (limit {crossed}), but its 95% interval crosses that limit"
        );
    }
    let limits = match (fitness, of.more_is_better()) {
        (Fitness::Fits, true) => format!("needs {fits}"),
        (Fitness::Fits, false) => format!("limit {fits}"),
        (Fitness::WithCare, true) => format!("good from {fits}"),
        (Fitness::WithCare, false) => format!("good up to {fits}"),
        (Fitness::DoesNot, true) => format!("minimum {care}, good from {fits}"),
        (Fitness::DoesNot, false) => format!("maximum {care}, good up to {fits}"),
    };
    let stalls = decision
        .measured
        .stalls
        .map_or_else(String::new, |slowest| {
            format!(", slowest interval {}", quantity(of, slowest))
        });
    format!("{name} {value} ({limits}){stalls}")
}

/// A comma-separated list of figures that miss in a choice: `random write and sequential read missing`.
fn missing_figures(missing: &[Figure]) -> String {
    let names: Vec<&str> = missing.iter().copied().map(figure).collect();
    format!("{} missing", listed(&names))
}

pub(in crate::text) fn figure_change(name: &str, ratio: f64, change: FigureChange) -> String {
    let percent = || number::percent_of_change(ratio);
    match change {
        FigureChange::Rate if ratio < 1.0 => format!("{name} {} lower", percent()),
        FigureChange::Rate => format!("{name} {}×", number::quantity(ratio)),
        FigureChange::Time if ratio < 1.0 => format!("{name} {} shorter", percent()),
        FigureChange::Time if ratio < 2.0 => format!("{name} {} longer", percent()),
        FigureChange::Time => format!("{name} {}× as long", number::quantity(ratio)),
    }
}

pub(in crate::text) fn deciding_figure(decision: &Decision) -> String {
    let of = decision.criterion.figure;
    let (name, value) = (figure(of), quantity(of, decision.measured.value));
    match of {
        Figure::SequentialRead
        | Figure::SequentialWrite
        | Figure::RandomRead
        | Figure::RandomWrite
        | Figure::SustainedWrite => format!("{name}s reach {value}"),
        Figure::RandomReadP99 | Figure::SyncP99 | Figure::SyncP999 | Figure::SlowestWrite => {
            format!("{name} {value}")
        }
    }
}

/// The names of figures that are not measured; a sequential speed is one of large blocks, unlike that of a small block.
fn missing_names(missing: &[Figure]) -> Vec<String> {
    let is_large = |of: &Figure| matches!(of, Figure::SequentialRead | Figure::SequentialWrite);
    let last = missing.iter().rposition(is_large);
    let name = |(at, of): (usize, &Figure)| match Some(at) == last {
        true => figure(*of).to_owned() + " of large blocks",
        false => figure(*of).to_owned(),
    };
    missing.iter().enumerate().map(name).collect()
}

pub(in crate::text) fn not_measured(missing: &[Figure], beside: bool) -> String {
    let names = missing_names(missing);
    let lead = if beside { "not measured:" } else { "needs" };
    let workloads = suite_workloads(missing);
    format!(
        "{lead} {} (`hakaru bench --only={workloads}`)",
        listed(&names)
    )
}

pub(in crate::text) fn figure_of_mix(of: Figure) -> String {
    format!("{} of a mix", figure(of))
}

pub(in crate::text) fn too_few_ios(name: &str) -> String {
    format!("{name} (too few I/Os)")
}

pub(in crate::text) fn better_in(name: &str, count: usize, of: usize) -> String {
    match of {
        1 if count == 1 => format!("{name} better"),
        of if count == of => format!("{name} better in all {of}"),
        of => format!("{name} better in {count} of {of}"),
    }
}

pub(in crate::text) fn choice(
    choice: Choice,
    names: (&str, &str),
    so_far: bool,
    missing: &[Figure],
) -> String {
    let is_open = matches!(choice, Choice::Both(_) | Choice::Open);
    if is_open && so_far && !missing.is_empty() {
        return format!("no choice yet: {}", missing_figures(missing));
    }
    let chosen = match choice {
        Choice::First => names.0,
        Choice::Second => names.1,
        Choice::Both(Fitness::Fits) => "either",
        Choice::Both(Fitness::WithCare) => "either, with care",
        Choice::Both(Fitness::DoesNot) => "neither",
        Choice::Open => "undecided",
    };
    match so_far {
        true => format!("{chosen}, so far"),
        false => chosen.to_owned(),
    }
}

pub(in crate::text) fn choice_ample() -> &'static str {
    "either, so far: both are far better than needed"
}

pub(in crate::text) fn figures_level(count: usize, of: usize) -> String {
    match count == of {
        true if of > 1 => format!("all {of} within 5%"),
        true => "within 5%".to_owned(),
        false => format!("{count} within 5%"),
    }
}

pub(in crate::text) fn against_it(parts: &[String]) -> String {
    format!("Where it is worse: {}.", parts.join("; "))
}

pub(in crate::text) fn spread_through_layer(
    work: &str,
    (through, most): (&str, &str),
    (reference, before): (&str, &str),
    (uneven, cards): (u64, u64),
) -> String {
    let work = capital(work);
    let on = match uneven == cards {
        true => String::new(),
        false => format!(" on {uneven} of {} {}", cards, things()),
    };
    format!(
        "{work} vary far more from run to run through {through}{on}: SD up to {most}% of the mean ({reference}: {before}%)."
    )
}

pub(in crate::text) fn cost_unexplained(on_vfat: bool) -> String {
    let suspects = match on_vfat {
        true => {
            "vfat also updates the FAT, directory entries and FSINFO, and, without sparse files, fills holes with zeros; \
             the device would then write more bytes than the application (I/O amplification)"
        }
        false => "a file system also updates tables, directories and its journal",
    };
    format!(
        "Likely causes, not measured: {suspects}. Add a [trace] section to the campaign file to count what reaches the \
         device."
    )
}

pub(in crate::text) fn incomplete() -> &'static str {
    "incomplete"
}

pub(in crate::text) fn against_side(worse: &str) -> String {
    format!("worse: {worse}")
}

pub(in crate::text) fn slowest_interval_of(value: &str, other: Option<&str>) -> String {
    let other = other.map_or_else(String::new, |other| format!(", against {other}"));
    format!("slowest interval {value}{other}")
}

pub(in crate::text) fn quantity_of(figure: Figure, value: f64) -> String {
    quantity(figure, value)
}

pub(in crate::text) fn waiting_above(sides: [(&str, &str, &str); 2]) -> String {
    let side = |(name, device, all): (&str, &str, &str)| format!("{device} of {all} ({name})");
    let [a, b] = sides.map(side);
    format!(
        "Of the mean latency, only {a} and {b} pass in the block layer and the device: the rest is waiting above them."
    )
}

pub(in crate::text) fn verdicts_so_far() -> &'static str {
    "Verdicts so far"
}

pub(in crate::text) fn choice_title() -> &'static str {
    "Choice"
}

pub(in crate::text) fn choice_column(first: &str, second: &str) -> String {
    format!("Choice; {second} against {first}")
}

pub(in crate::text) fn claim_verdict(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Kept => "met",
        ClaimVerdict::Missed => "not met",
        ClaimVerdict::NotShown => "not confirmed",
        ClaimVerdict::Unclear => "inconclusive",
        ClaimVerdict::NotMeasured => "not measured",
    }
}

pub(in crate::text) fn claim_part(part: &ClaimPart, verdict: ClaimVerdict) -> String {
    let ClaimPart {
        figure: of,
        required,
        measured,
    } = part;
    let name = figure(*of);
    let rated = format!("{} {}", number::exact(*required, 3), of.unit());
    let Some(measured) = measured else {
        return format!("needs {name} of at least {rated}");
    };
    let value = quantity(*of, measured.value);
    match verdict {
        ClaimVerdict::Missed if measured.value < *required => {
            let share = number::percent(measured.value / required);
            format!("{name} {value} ({share}% of the rated {rated})")
        }
        ClaimVerdict::Kept
        | ClaimVerdict::Missed
        | ClaimVerdict::NotShown
        | ClaimVerdict::Unclear
        | ClaimVerdict::NotMeasured => format!("{name} {value} (rated {rated})"),
    }
}

pub(in crate::text) fn bottleneck(limit: Bottleneck) -> &'static str {
    match limit {
        Bottleneck::Host => "host bus",
        Bottleneck::Card => "card",
        Bottleneck::Unclear => "inconclusive",
        Bottleneck::Contradiction => "contradiction",
    }
}

pub(in crate::text) fn limit(found: &BusLimit) -> String {
    let measured = found.measured;
    let mut parts = vec![match (found.share, found.ceiling) {
        (Some(share), Some(ceiling)) => {
            let share = number::percent(share);
            format!("{measured} is {share}% of the bus limit {ceiling}")
        }
        _ => measured.to_string(),
    }];
    if let (Some(spread), cards @ 2..) = (found.spread, found.cards) {
        let spread = number::percent(spread);
        parts.push(format!(
            "{cards} {} differ by {spread}% (SD of their means)",
            super::answers::things()
        ));
    }
    let advice = match found.limit {
        Bottleneck::Host => "a faster card would not help",
        Bottleneck::Card => "a faster card would help",
        Bottleneck::Unclear => "test a card that is known to be faster",
        Bottleneck::Contradiction => "the bus data or the figure is wrong",
    };
    parts.push(advice.to_owned());
    parts.join("; ")
}

pub(in crate::text) fn sequential(op: Op, cards: &[&str]) -> String {
    let lead = match op {
        Op::Read => "sequential read",
        Op::Write => "sequential write",
        Op::Trim => "sequential trim",
    };
    match cards.len() {
        0 => lead.to_owned(),
        n if n > NAMED => format!("{lead}, {n} {}", super::answers::things()),
        _ => format!("{lead}, {}", cards.join(", ")),
    }
}

/// Maximum number of names in a list; more are only counted.
const NAMED: usize = 4;

pub(in crate::text) fn standing_verdict(found: &ReferenceStanding) -> String {
    let ReferenceStanding {
        ahead_of,
        level_with,
        behind,
        ..
    } = found;
    let references = |n: u32| match n {
        1 => "the only reference".to_owned(),
        2 => "both references".to_owned(),
        n => format!("all {n} references"),
    };
    match (*ahead_of, *level_with, *behind) {
        (n, 0, 0) => format!("faster than {}", references(n)),
        (0, 0, n) => format!("slower than {}", references(n)),
        (0, n, 0) => format!("no clear difference from {}", references(n)),
        (n, level, 0) => format!("faster than {n} of {} references", n + level),
        (0, level, n) => format!("slower than {n} of {} references", n + level),
        _ => "between the references".to_owned(),
    }
}

pub(in crate::text) fn standing(found: &ReferenceStanding) -> String {
    let of = |value: f64| match found.by_iops {
        true => format!("{} IOPS", number::quantity(value)),
        false => format!("{} MB/s", number::quantity(value / 1e6)),
    };
    let (least, most) = (&found.least, &found.most);
    let mut references = format!("{} ({})", of(least.value), least.card);
    if least != most {
        references += &format!(" to {} ({})", of(most.value), most.card);
    }
    let counts = [
        (found.ahead_of, "slower"),
        (found.behind, "faster"),
        (found.level_with, "no clear difference"),
    ];
    let counts = counts.iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, words)| format!("{n} {words}")).collect();
    let counts = match counts.len() {
        0 | 1 => String::new(),
        _ => format!(": {}", counts.join(", ")),
    };
    let runs = match found.fewest_runs {
        1 => "one run each".to_owned(),
        runs => format!("at least {} each", counted(u64::from(runs), "run")),
    };
    format!(
        "{} vs. {references}{counts}; {}, {} on {}, {runs}",
        of(found.here),
        found.among,
        found.layer,
        listed(&found.hosts)
    )
}

/// A figure with its unit: `254 IOPS`, `8,436 IOPS`.
fn quantity(figure: Figure, value: f64) -> String {
    format!("{} {}", number::quantity(value), figure.unit())
}

pub(in crate::text) fn conclusion_title(kind: ConclusionKind) -> &'static str {
    match kind {
        ConclusionKind::Uses => "Suitability",
        ConclusionKind::Claims => "Rated vs. measured",
        ConclusionKind::Limits => "Bottleneck",
        ConclusionKind::Standings => "Reference results",
    }
}

pub(in crate::text) fn conclusion_about(kind: ConclusionKind) -> &'static str {
    match kind {
        ConclusionKind::Uses => "Use",
        ConclusionKind::Claims => "Claim",
        ConclusionKind::Limits => "Direction",
        ConclusionKind::Standings => "Workload",
    }
}

pub(in crate::text) fn fitness_legend(impossible: bool) -> String {
    let impossible = match impossible {
        true => "; - not possible on the file system",
        false => "",
    };
    format!(
        "✓ good, ~ with care, ✗ not suitable; in brackets: probably, single runs have no interval; ? figures missing, or the \
     interval crosses a limit{impossible}"
    )
}

pub(in crate::text) fn no_use_judged(crossed: bool) -> &'static str {
    match crossed {
        true => {
            "No use can be judged: its figures are not measured, or their intervals cross a limit."
        }
        false => "No use can be judged: the figures that it needs are not measured.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::references::NamedFigure;

    /// Regression: a figure above all references was called "between" them if one of the differences was not clear.
    #[test]
    fn a_standing_is_between_references_only_if_some_are_faster_and_some_slower() {
        let figure = || NamedFigure {
            card: "a".to_owned(),
            value: 1.0,
        };
        let verdict = |(ahead_of, level_with, behind)| {
            standing_verdict(&ReferenceStanding {
                phase: "p".to_owned(),
                op: Op::Read,
                among: "cards".to_owned(),
                layer: "raw".to_owned(),
                by_iops: true,
                here: 1.0,
                ahead_of,
                level_with,
                behind,
                least: figure(),
                most: figure(),
                hosts: Vec::new(),
                fewest_runs: 1,
            })
        };
        assert_eq!(verdict((1, 1, 0)), "faster than 1 of 2 references");
        assert_eq!(verdict((0, 2, 3)), "slower than 3 of 5 references");
        assert_eq!(verdict((2, 1, 1)), "between the references");
        assert_eq!(
            verdict((0, 2, 0)),
            "no clear difference from both references"
        );
        assert_eq!(verdict((1, 0, 0)), "faster than the only reference");
    }
}
