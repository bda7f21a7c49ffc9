//! The sentence that answers the question of a report, and the line that proves it.

use super::{counted, listed};
use crate::number;
use crate::text::compared::{ComparedThing, compared};
use crate::text::{FastestCard, PairAnswer, RatedShare, UseAnswer, capital};
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, BytesPerSec};

/// The noun for what is compared.
pub(super) fn thing() -> &'static str {
    match compared() {
        ComparedThing::Cards => "card",
        ComparedThing::CardHostPairs => "card-host pair",
        ComparedThing::Sets => "set",
    }
}

/// Plural of [`thing`].
pub(super) fn things() -> &'static str {
    match compared() {
        ComparedThing::Cards => "cards",
        ComparedThing::CardHostPairs => "card-host pairs",
        ComparedThing::Sets => "sets",
    }
}

pub(in crate::text) fn fastest_cards(cards: usize, wins: &[FastestCard<'_>]) -> String {
    let mut parts = Vec::new();
    let mut subject = "";
    for win in wins {
        let FastestCard {
            card,
            workload,
            value,
            times,
        } = win;
        let detail = match times {
            Some(times) if parts.is_empty() => format!("{value}, {times}× the slowest"),
            Some(times) => format!("{value}, {times}×"),
            None => value.clone(),
        };
        parts.push(match (parts.is_empty(), *card == subject) {
            (true, _) => {
                let of = number_word(cards);
                let things = things();
                format!("{card} is the fastest of {of} {things} for {workload} ({detail})")
            }
            (false, true) => format!("and for {workload} ({detail})"),
            (false, false) => format!("{card} for {workload} ({detail})"),
        });
        subject = card;
    }
    format!("{}.", parts.join(", "))
}

pub(in crate::text) fn fastest_in_all(
    of: &FastestCard<'_>,
    (cards, workloads): (usize, usize),
) -> String {
    let FastestCard {
        card,
        workload,
        value,
        times,
    } = of;
    let times = times
        .as_ref()
        .map_or_else(String::new, |times| format!(", {times}× the slowest"));
    format!(
        "{card} is the fastest of {} cards in all {} workloads: {workload} {value}{times}.",
        number_word(cards),
        number_word(workloads)
    )
}

pub(in crate::text) fn no_fastest_card(workload: &str, cards: &[&str], runs: u64) -> String {
    let told = match cards.len() {
        2..=4 => listed(cards),
        n => format!("the first {} {}", number_word(n), things()),
    };
    let runs = match runs {
        0 => String::new(),
        n => format!(" after {} each", counted(n, "run")),
    };
    let thing = thing();
    format!(
        "No fastest {thing} is proven for {workload}: {told} do not differ significantly{runs}."
    )
}

pub(in crate::text) fn no_card_differs(cards: usize) -> String {
    let of = match cards {
        2 => format!("the two {}", things()),
        n => format!("any of the {} {}", number_word(n), things()),
    };
    format!("No difference between {of} is proven.")
}

pub(in crate::text) fn highest_of_single_runs(first: &FastestCard<'_>, cards: usize) -> String {
    let FastestCard {
        card,
        workload,
        value,
        times,
    } = first;
    let times = times.as_ref();
    let times = times.map_or(String::new(), |times| format!(", {times}× the lowest"));
    format!(
        "{card} has the highest figure of {} {} for {workload} ({value}{times}), but each was measured once: no proof.",
        number_word(cards),
        things()
    )
}

pub(in crate::text) fn highest_of_series(first: &FastestCard<'_>, series: usize) -> String {
    let FastestCard {
        card,
        workload,
        value,
        times,
    } = first;
    let times = times.as_ref();
    let times = times.map_or(String::new(), |times| format!(", {times}× the lowest"));
    format!(
        "{card} has the highest mean of {} series for {workload} ({value}{times}).",
        number_word(series)
    )
}

pub(in crate::text) fn highest_of_layers(
    first: &FastestCard<'_>,
    layers: usize,
    card: &str,
) -> String {
    let FastestCard {
        card: layer,
        workload,
        value,
        times,
    } = first;
    let times = times.as_ref();
    let times = times.map_or(String::new(), |times| format!(", {times}× the lowest"));
    let layers = number_word(layers);
    format!(
        "On {card}, {layer} has the highest figure of {layers} layers for {workload} ({value}{times})."
    )
}

pub(in crate::text) fn layers_not_tested() -> &'static str {
    "Tested for significance: each layer against the reference layer."
}

pub(in crate::text) fn series_not_tested() -> &'static str {
    "Not tested for significance; hakaru compare tests two series."
}

pub(in crate::text) fn layer_costs_all(
    layer: &str,
    workload: &str,
    (least, most): (&str, &str),
) -> String {
    let lost = super::span(least, most);
    format!("Through {layer}, {workload} fall by {lost}%.")
}

pub(in crate::text) fn sides_in_sequence(first: &str, then: &str) -> String {
    format!(
        "{first} ran before {then}: a drift of card or host looks like a difference; a campaign alternates them"
    )
}

pub(in crate::text) fn on_layer(layer: &str, sentence: &str) -> String {
    format!("On {layer}, {sentence}")
}

pub(in crate::text) fn fast_and_slow(
    card: &str,
    won: &[&str],
    behind: &[(&str, String)],
) -> String {
    let share = |(noun, percent): &(&str, String)| format!("{percent}% of the best for {noun}");
    let shares: Vec<String> = behind.iter().map(share).collect();
    let shares: Vec<&str> = shares.iter().map(String::as_str).collect();
    format!(
        "{card} is the fastest for {}, but reaches only {}.",
        listed(won),
        listed(&shares)
    )
}

pub(in crate::text) fn rated_through(layer: &str, impossible: bool) -> String {
    let limits = match impossible {
        true => " - not possible: Linux cannot keep its root or Docker’s data there.",
        false => "",
    };
    format!("Rated through {layer}, because programs use files; raw ratings lack its cost.{limits}")
}

pub(in crate::text) fn proven_better() -> &'static str {
    "better, proven"
}

pub(in crate::text) fn tails(first: (&str, &str), second: (&str, &str)) -> String {
    let of = |(name, value): (&str, &str)| format!("{value} ({name})");
    format!("Latency P99: {}, {}.", of(second), of(first))
}

pub(in crate::text) fn side_with_new_file(new: &str, old: &str) -> String {
    format!(
        "{new} wrote a new file, {old} over an existing one: allocating space may be part of the difference"
    )
}

pub(in crate::text) fn repeats_with_new_file(new: usize, of: usize) -> String {
    format!("{new} of {of} runs wrote a new file, the others over it: repeats did not start alike")
}

pub(in crate::text) fn card_fact(name: &str) -> String {
    name.to_owned()
}

pub(in crate::text) fn rated_reached(shares: &[RatedShare]) -> String {
    let share = |of: &RatedShare| {
        let name = match of.op {
            Op::Read => "reads",
            Op::Write => "writes",
            Op::Trim => "trims",
        };
        let percent = super::span(&of.percent.0, &of.percent.1);
        let cards = of.cards.map_or_else(String::new, |(cards, of)| {
            format!(" ({cards} of {of} cards)")
        });
        let limited = if of.limited { " (host limit?)" } else { "" };
        format!("{name} {percent}%{limited}{cards}")
    };
    let shares: Vec<String> = shares.iter().map(share).collect();
    format!("Rated speed: {}.", shares.join(", "))
}

pub(in crate::text) fn layer_costs_card(
    card: &str,
    layer: &str,
    workload: &str,
    percent: &str,
) -> String {
    format!("Through {layer}, {card} loses {percent}% of its {workload}.")
}

pub(in crate::text) fn pairs_proven(different: usize, of: usize, family: u32) -> String {
    let pairs = match (different, of) {
        (1, 1) => format!("The two {} differ", things()),
        (0, 1) => format!("No difference between the two {} is proven", things()),
        (0, of) => format!("None of {of} {} comparisons proves a difference", thing()),
        (n, of) => {
            let verb = if n == 1 { "proves" } else { "prove" };
            format!("{n} of {of} {} comparisons {verb} a difference", thing())
        }
    };
    let tests = match u64::from(family) {
        tests if tests == of as u64 => String::new(),
        tests => format!(" over {}", counted(tests, "comparison")),
    };
    match different {
        0 => format!("{pairs} (Welch’s t, Bonferroni{tests})."),
        _ => format!("{pairs} (Welch’s t{tests}, family-wise error 5%)."),
    }
}

pub(in crate::text) fn host_limits(workload: &str, value: &str, cards: usize) -> String {
    let (of, things) = (number_word(cards), things());
    format!(
        "All {of} {things} end at {value} for {workload}: the limit is the bus of the host, not the card."
    )
}

pub(in crate::text) fn suited(good: Option<&UseAnswer>, bad: Option<&UseAnswer>) -> Option<String> {
    let probably = |of: &UseAnswer| if of.firm { "" } else { "probably " };
    Some(match (good, bad) {
        (Some(good), Some(bad)) if good.figure == bad.figure => capital(&format!(
            "{}good for {}, {}not for {}: {}.",
            probably(good),
            good.title,
            if bad.firm { "" } else { "probably " },
            bad.title,
            good.figure
        )),
        (Some(good), Some(bad)) => capital(&format!(
            "{}good for {}, {}not for {}: {}, but {}.",
            probably(good),
            good.title,
            if bad.firm { "" } else { "probably " },
            bad.title,
            good.figure,
            bad.figure
        )),
        (Some(good), None) => capital(&format!(
            "{}good for {}: {}.",
            probably(good),
            good.title,
            good.figure
        )),
        (None, Some(bad)) => capital(&format!(
            "{}not suitable for {}: {}.",
            probably(bad),
            bad.title,
            bad.figure
        )),
        (None, None) => return None,
    })
}

pub(in crate::text) fn reached(figures: &[(String, String)]) -> String {
    let said: Vec<String> = figures
        .iter()
        .map(|(workload, value)| format!("{value} for {workload}"))
        .collect();
    format!("{}.", said.join(", "))
}

pub(in crate::text) fn writes_fall(
    workload: &str,
    before: BytesPerSec,
    after: BytesPerSec,
    at: Bytes,
) -> String {
    let level = |rate: BytesPerSec| number::quantity(rate.0 / 1e6);
    let (before, after) = (level(before), level(after));
    let at = number::decimal_bytes(at);
    format!("The speed of {workload} falls from {before} to {after} MB/s after {at}.")
}

pub(in crate::text) fn do_not_quote(because: &str) -> String {
    format!("Do not quote these figures: {}.", uncapitalized(because))
}

pub(in crate::text) fn runs_agree(runs: u64, percent: &str) -> String {
    format!(
        "{}: the standard deviation is at most {percent}% of the mean.",
        counted(runs, "run")
    )
}

pub(in crate::text) fn runs_only(runs: u64) -> String {
    format!("{}.", counted(runs, "run"))
}

pub(in crate::text) fn measured_once() -> &'static str {
    "Measured once: no proof. Variation between runs is unknown."
}

pub(in crate::text) fn among_references(workload: &str, standing: &str) -> String {
    capital(&format!("{workload}: {standing}."))
}

pub(in crate::text) fn proven_difference(
    first: &PairAnswer<'_>,
    other: Option<&PairAnswer<'_>>,
) -> String {
    let interval = |of: &PairAnswer<'_>| match &of.interval {
        Some((low, high)) => format!(" [{low}, {high}]"),
        None => String::new(),
    };
    let mut said = format!(
        "{} is {}× as fast as {} for {}{}",
        first.faster,
        first.ratio,
        first.slower,
        first.workload,
        interval(first)
    );
    if let Some(other) = other {
        said += &format!(
            ", but {} is {}× as fast for {}{}",
            other.faster,
            other.ratio,
            other.workload,
            interval(other)
        );
    }
    said + " (proven)."
}

pub(in crate::text) fn no_difference_proven(
    workload: &str,
    ratio: &str,
    interval: Option<&(String, String)>,
    needed: Option<u32>,
) -> String {
    let interval = interval.map_or(String::new(), |(low, high)| format!(" [{low}, {high}]"));
    let needed = needed.map_or(String::new(), |needed| {
        format!(
            "; about {} each would prove it",
            counted(u64::from(needed), "run")
        )
    });
    format!("No difference is proven. The largest is {ratio}×{interval}, for {workload}{needed}.")
}

pub(in crate::text) fn all_level(a: &str, b: &str) -> String {
    format!("{b} and {a} are level: every figure is the same within 5%.")
}

pub(in crate::text) fn compared_once(workload: &str, faster: &str, ratio: &str) -> String {
    format!("Measured once: no proof. {faster} has {ratio}× the figure for {workload}.")
}

pub(in crate::text) fn pools_sessions(name: &str, sessions: u32) -> String {
    format!("{name} pools {sessions} sessions: its spread includes what changed between them.")
}

pub(in crate::text) fn figures_proven(different: usize, level: usize, open: usize) -> String {
    let of = different + level + open;
    let mut parts = vec![format!("{different} of {of} rates proven different")];
    if level > 0 {
        parts.push(format!("{level} level within 5%"));
    }
    if open > 0 {
        parts.push(format!("{open} not proven"));
    }
    format!(
        "{}. Proven: the 95% interval of the ratio excludes 1, corrected for all rates, and for all latencies (Bonferroni).",
        parts.join(", ")
    )
}

/// A number in words up to ten.
fn number_word(n: usize) -> String {
    const WORDS: [&str; 11] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    WORDS
        .get(n)
        .map_or_else(|| number::grouped(n as u64), |word| (*word).to_owned())
}

/// The text with its first letter in lower case, unless it begins with an abbreviation.
fn uncapitalized(text: &str) -> String {
    let mut chars = text.chars();
    match (chars.next(), chars.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

pub(in crate::text) fn rounds_answer(
    steady: bool,
    rounds: u32,
    at_most: u32,
    figures: &[(String, String)],
) -> String {
    let of = counted(u64::from(at_most), "round");
    let state = match steady {
        true => format!("Steady after {rounds} of at most {of}"),
        false => format!("Not steady after {rounds} of at most {of}"),
    };
    let figures = figures.iter();
    let figures = figures.map(|(work, value)| format!("{work}: {value}"));
    let figures = figures.collect::<Vec<_>>().join("; ");
    format!("{state}. {}.", capital(&figures))
}

pub(in crate::text) fn rounds_proof(rounds: Option<(u32, u32)>) -> String {
    match rounds {
        Some((first, last)) => format!(
            "Means of rounds {first} to {last}, the measurement window of the SNIA Performance Test Specification."
        ),
        None => "Means of all rounds; a measurement window has five.".to_owned(),
    }
}
