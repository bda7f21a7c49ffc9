//! Verdicts: suitability for uses, claims, bottlenecks, and comparison with references.

use super::{claims::figure, counted, listed};
use crate::findings::ConclusionKind;
use crate::number;
use hakaru_model::advice::{AdviceVerdict, Criterion, Decision, Fitness};
use hakaru_model::finding::{Bottleneck, BusLimit, ClaimPart, ClaimVerdict, Figure};
use hakaru_model::job::Op;
use hakaru_model::references::ReferenceStanding;

/// A verdict on a use: "probably" if single runs have no interval, "inconclusive" if an interval crosses a limit.
pub fn advice(verdict: AdviceVerdict) -> &'static str {
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
    }
}

/// The deciding figure and its limits.
pub fn decision(decision: &Decision) -> String {
    let Decision {
        criterion,
        measured,
        fitness,
        ..
    } = decision;
    let Criterion {
        figure: of,
        fits,
        care,
        why: _,
    } = criterion;
    let (name, value) = (figure(*of), quantity(*of, measured.value));
    let (fits, care) = (number::limit(*fits), number::limit(*care));
    if decision.is_crossed() {
        let crossed = if *fitness == Fitness::DoesNot {
            care
        } else {
            fits
        };
        return format!(
            "{name} is {value} (limit {crossed}), but its 95% interval crosses a limit"
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
    format!("{name} {value} ({limits})")
}

/// Figures that a verdict needs but no phase measured; `beside` is whether others were measured.
pub fn not_measured(missing: &[Figure], beside: bool) -> String {
    let names: Vec<&str> = missing.iter().copied().map(figure).collect();
    let lead = if beside { "not measured:" } else { "needs" };
    format!("{lead} {}", listed(&names))
}

/// A verdict on a claim.
pub fn claim_verdict(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Kept => "met",
        ClaimVerdict::Missed => "not met",
        ClaimVerdict::NotShown => "test conditions not met",
        ClaimVerdict::Unclear => "inconclusive",
        ClaimVerdict::NotMeasured => "not measured",
    }
}

/// A figure of a claim with its rated value.
pub fn claim_part(part: &ClaimPart, verdict: ClaimVerdict) -> String {
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

/// The bottleneck of the throughput.
pub fn bottleneck(limit: Bottleneck) -> &'static str {
    match limit {
        Bottleneck::Host => "host bus",
        Bottleneck::Card => "card",
        Bottleneck::Unclear => "inconclusive",
        Bottleneck::Contradiction => "contradiction",
    }
}

/// The reason, and what would help.
pub fn limit(found: &BusLimit) -> String {
    let BusLimit {
        measured,
        ceiling,
        share,
        cards,
        spread,
        limit,
        op: _,
        members: _,
    } = found;
    let mut parts = vec![match (share, ceiling) {
        (Some(share), Some(ceiling)) => {
            format!(
                "{measured} is {}% of the bus limit {ceiling}",
                number::percent(*share)
            )
        }
        _ => measured.to_string(),
    }];
    if let (Some(spread), 2..) = (spread, cards) {
        parts.push(format!(
            "{cards} cards differ by {}% (SD of their means)",
            number::percent(*spread)
        ));
    }
    parts.push(
        match limit {
            Bottleneck::Host => "a faster card would not help",
            Bottleneck::Card => "a faster card would help",
            Bottleneck::Unclear => "test a card that is known to be faster",
            Bottleneck::Contradiction => "the bus data or the figure is wrong",
        }
        .to_owned(),
    );
    parts.join("; ")
}

/// The direction of a bottleneck, and its cards unless it concerns all.
pub fn sequential(op: Op, cards: &[&str]) -> String {
    let lead = match op {
        Op::Read => "sequential read",
        Op::Write => "sequential write",
        Op::Trim => "sequential trim",
    };
    match cards.len() {
        0 => lead.to_owned(),
        n if n > NAMED => format!("{lead}, {n} cards"),
        _ => format!("{lead}, {}", cards.join(", ")),
    }
}

/// Maximum number of names in a list; more are only counted.
const NAMED: usize = 4;

/// How a figure compares with the references.
pub fn standing_verdict(found: &ReferenceStanding) -> String {
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
        _ => "between the references".to_owned(),
    }
}

/// The figure, those of the references, and their source.
pub fn standing(found: &ReferenceStanding) -> String {
    let ReferenceStanding {
        phase: _,
        op: _,
        among,
        layer,
        by_iops,
        here,
        ahead_of,
        level_with,
        behind,
        least,
        most,
        hosts,
        fewest_runs,
    } = found;
    let of = |value: f64| match by_iops {
        true => format!("{} IOPS", number::quantity(value)),
        false => format!("{} MB/s", number::quantity(value / 1e6)),
    };
    let references = if least == most {
        format!("{} ({})", of(least.value), least.card)
    } else {
        format!(
            "{} ({}) to {} ({})",
            of(least.value),
            least.card,
            of(most.value),
            most.card
        )
    };
    let counts = [
        (ahead_of, "slower"),
        (behind, "faster"),
        (level_with, "no clear difference"),
    ];
    let several = counts.iter().filter(|(n, _)| **n > 0).count() > 1;
    let counts: Vec<String> = counts
        .iter()
        .filter(|(n, _)| several && **n > 0)
        .map(|(n, words)| format!("{n} {words}"))
        .collect();
    let counts = if counts.is_empty() {
        String::new()
    } else {
        format!(": {}", counts.join(", "))
    };
    let runs = if *fewest_runs == 1 {
        "one run each".to_owned()
    } else {
        format!("at least {} each", counted(u64::from(*fewest_runs), "run"))
    };
    format!(
        "{} vs. {references}{counts}; {among}, {layer} on {}, {runs}",
        of(*here),
        listed(hosts)
    )
}

/// A figure with its unit: `254 IOPS`, `8,436 IOPS`.
fn quantity(figure: Figure, value: f64) -> String {
    format!("{} {}", number::quantity(value), figure.unit())
}

/// The title of a section of conclusions.
pub(crate) fn conclusion_title(kind: ConclusionKind) -> &'static str {
    match kind {
        ConclusionKind::Uses => "Suitability",
        ConclusionKind::Claims => "Rated vs. measured",
        ConclusionKind::Limits => "Bottleneck",
        ConclusionKind::Standings => "Reference results",
    }
}

/// Heading of the first column of its table.
pub(crate) fn conclusion_about(kind: ConclusionKind) -> &'static str {
    match kind {
        ConclusionKind::Uses => "Use",
        ConclusionKind::Claims => "Claim",
        ConclusionKind::Limits => "Direction",
        ConclusionKind::Standings => "Workload",
    }
}

/// Legend of the symbols of [`advice`].
pub(crate) fn fitness_legend() -> &'static str {
    "✓ good, ~ with care, ✗ not suitable; in brackets: probably, single runs have no interval; ? not measured, or the \
     interval crosses a limit"
}

/// Legend of the symbols of [`claim_verdict`].
pub(crate) fn claim_legend() -> &'static str {
    "✓ met, ✗ not met, ~ inconclusive, ? test conditions not met or not measured; the report says which"
}
