//! Weaknesses of the design of a campaign.

use crate::naming::workload_words;
use crate::text::caveat;
use hakaru_model::campaign::{Circumstance, PlanNote, Weakness};

pub(in crate::text) fn weakness(weakness: &Weakness) -> String {
    match weakness {
        Weakness::Unfinished { runs, planned } => {
            format!("{runs} of {planned} planned runs done: the ranking may still change")
        }
        Weakness::FewRepeats { points, of, wanted } if points == of => {
            format!("All {of} test points have fewer than {wanted} runs: their variation is poorly known")
        }
        Weakness::FewRepeats { points, of, wanted } => format!(
            "{points} of {of} test points have fewer than {wanted} runs: their variation is poorly known"
        ),
        Weakness::OneSpecimen => {
            "One card of each model: variation between cards of a model is unknown".to_owned()
        }
        Weakness::Blocked => {
            "Repeats ran back to back: drift is confounded with differences between workloads and layers; set \
             order = \"shuffled\" in the campaign file"
                .to_owned()
        }
        Weakness::CardsInSequence => {
            "Cards ran one after another: drift of the host is confounded with differences between cards; use card-order = \
             \"interleaved\", \"abba\" or \"shuffled\" where all cards can be present together, else recheck = true"
                .to_owned()
        }
        Weakness::Drifted { card, layer, phases } => format!(
            "Drift of the host or card is confounded with differences between cards: {card} through {layer} changed \
             between its measurement and its recheck ({})",
            phases.join(", ")
        ),
        Weakness::DriftUndecided { card, layer, undecided, of } => format!(
            "Drift is not ruled out: the recheck of {card} through {layer} is inconclusive in {undecided} of {of} \
             figures; use more repeats"
        ),
        Weakness::Unprepared => {
            "No preparation is recorded: results depend on what was written to each card before".to_owned()
        }
        Weakness::Changed { what, values } => {
            format!("{} differed between test points: {}", circumstance(what), values.join("; "))
        }
        Weakness::DifferentSettings { phases } => format!(
            "Cards were measured with different settings ({}): their order may be that of the settings",
            in_words(phases).join(", ")
        ),
        Weakness::Spans { layers } => {
            let name = |layer: &str| crate::text::layer_in_text(layer);
            let spans = layers.iter().map(|(layer, size)| format!("{size} on {}", name(layer)));
            let least = layers.iter().min_by_key(|(_, size)| size.0);
            let least = least.map_or_else(String::new, |(layer, _)| name(layer));
            format!(
                "Random I/O is spread over {}: cards can be faster in a smaller span, so {least} may cost more than shown, and \
                 an apparent gain may come from the span",
                super::listed(&spans.collect::<Vec<_>>())
            )
        }
        Weakness::OptionalStopping { coverage: Some(coverage) } => format!(
            "Repeats stopped once the means were known, which favors samples that happen to be narrow: with runs that \
             scatter as these do, 95% intervals cover the true mean in {coverage}% of campaigns (simulated)"
        ),
        Weakness::OptionalStopping { coverage: None } => {
            "Repeats stopped once the means were known, which favors samples that happen to be narrow: 95% intervals of \
             normally distributed runs then cover the true mean in 90% to 95% of campaigns; too few runs here show how \
             these scatter"
                .to_owned()
        }
        Weakness::MeansOnly { points, of } if points == of => format!(
            "All {of} test points are published means: no percentiles, no single runs"
        ),
        Weakness::MeansOnly { points, of } => format!(
            "{points} of {of} test points are published means: no percentiles, no single runs"
        ),
    }
}

fn circumstance(what: &Circumstance) -> String {
    match what {
        Circumstance::Host => "The host".to_owned(),
        Circumstance::Board => "The board".to_owned(),
        Circumstance::Kernel => "The kernel".to_owned(),
        Circumstance::Governor => "The CPU governor".to_owned(),
        Circumstance::Version => "The version of hakaru".to_owned(),
        Circumstance::Device { card } => format!("The device measured as {card}"),
    }
}

pub(in crate::text) fn some_of(n: usize, of: usize) -> String {
    format!("{n} of {of} {} and layers", super::answers::things())
}

pub(in crate::text) fn plan_note(note: &PlanNote) -> String {
    match note {
        PlanNote::NeedsRoot => "Preparing storage needs root: run the campaign with sudo -E".to_owned(),
        PlanNote::Unavailable { layer, because } => format!("{layer}: {because}"),
        PlanNote::Weakness(Weakness::CardsInSequence) => {
            "Cards run one after another: drift of the host is confounded with differences between cards; use \
             card-order = \"abba\" where all cards can be present together, else recheck = true"
                .to_owned()
        }
        PlanNote::Weakness(found) => weakness(found),
        PlanNote::Caveat(found) => caveat(found),
        PlanNote::Lint { workloads, warning } => {
            format!("{}: {}", in_words(workloads).join(", "), super::lint(warning))
        },
    }
}

/// Workloads in words.
fn in_words(phases: &[String]) -> Vec<String> {
    phases.iter().map(|phase| workload_words(phase)).collect()
}
