//! What follows from a summary, in words: what the storage is good for, which promises it kept, who sets the pace.
//!
//! Only words and their order are made here; every page puts them in its own form.

use crate::escape::plain;
use crate::number;
use crate::table::DataTable;
use hakaru_model::advice::{Advice, Decision, Fitness, RunFindings};
use hakaru_model::finding::{Bottleneck, BusLimit, ClaimCheck, ClaimPart, ClaimVerdict, Figure};
use hakaru_model::references::{NamedFigure, ReferenceStanding};

/// One conclusion: what it is about, a sign and a word for the verdict, and what it rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConclusionRow {
    /// Use, claim or direction.
    pub(crate) about: String,
    /// One character, in brackets when the verdict is but probable, that tells the verdict without color.
    pub(crate) sign: &'static str,
    /// The verdict.
    pub(crate) verdict: &'static str,
    /// The figures that decided, and what would change it.
    pub(crate) because: String,
}

/// What it is good for: a row for every use, also for those of which nothing was measured.
pub(crate) fn uses(findings: &RunFindings) -> Vec<ConclusionRow> {
    findings.advice.iter().map(use_of).collect()
}

fn use_of(advice: &Advice) -> ConclusionRow {
    let (sign, verdict) = fitness(advice);
    ConclusionRow {
        about: plain(&advice.title),
        sign,
        verdict,
        because: reasons(advice),
    }
}

/// The sign and the word of a verdict: without "probably" only where the intervals of the figures allow no other.
pub(crate) fn fitness(advice: &Advice) -> (&'static str, &'static str) {
    match (advice.fitness, advice.is_firm()) {
        (Some(Fitness::Fits), true) => ("✓", "fits"),
        (Some(Fitness::Fits), false) => ("(✓)", "probably fits"),
        (Some(Fitness::WithCare), true) => ("~", "with care"),
        (Some(Fitness::WithCare), false) => ("(~)", "probably with care"),
        (Some(Fitness::DoesNot), true) => ("✗", "does not fit"),
        (Some(Fitness::DoesNot), false) => ("(✗)", "probably does not fit"),
        // What was measured of it stands behind the word.
        (None, _) if !advice.decided_by.is_empty() => ("?", "cannot be told"),
        (None, _) => ("?", "not measured"),
    }
}

/// A verdict as the one word by which programs know it.
pub(crate) fn word(fitness: Option<Fitness>) -> &'static str {
    match fitness {
        Some(Fitness::Fits) => "fits",
        Some(Fitness::WithCare) => "with_care",
        Some(Fitness::DoesNot) => "does_not",
        None => "not_measured",
    }
}

/// Who sets the pace, likewise.
pub(crate) fn limit_word(limit: Bottleneck) -> &'static str {
    match limit {
        Bottleneck::Host => "host",
        Bottleneck::Card => "card",
        Bottleneck::Unclear => "unclear",
        Bottleneck::Contradiction => "contradiction",
    }
}

/// More reasons than these are left to those who read the figures.
const REASONS: usize = 2;

/// The figures that decided: of what fits, the one nearest to its mark; of the rest, all that fall short.
fn reasons(advice: &Advice) -> String {
    let worst = advice.decided_by.first().map(|decision| decision.fitness);
    let most = if worst == Some(Fitness::Fits) {
        1
    } else {
        REASONS
    };
    let deciding = advice
        .decided_by
        .iter()
        .filter(|decision| Some(decision.fitness) == worst)
        .take(most);
    let mut parts: Vec<String> = deciding.map(decision).collect();
    let missing: Vec<&str> = advice
        .not_measured
        .iter()
        .map(|criterion| criterion.figure.name())
        .collect();
    if !missing.is_empty() {
        let lead = if worst.is_some() {
            "not measured:"
        } else {
            "it asks for"
        };
        parts.push(format!("{lead} {}", missing.join(" and ")));
    }
    parts.join("; ")
}

fn decision(decision: &Decision) -> String {
    let Decision {
        criterion,
        measured,
        fitness,
        firm,
        ..
    } = decision;
    let mark = |value: f64| number::exact(value, 3);
    let asked = match fitness {
        Fitness::Fits if criterion.figure.more_is_better() => {
            format!("{} are enough", mark(criterion.fits))
        }
        Fitness::Fits => format!("up to {} will do", mark(criterion.fits)),
        Fitness::WithCare => format!("{} would fit", mark(criterion.fits)),
        Fitness::DoesNot => format!(
            "{} would do with care, {} fit",
            mark(criterion.care),
            mark(criterion.fits)
        ),
    };
    let unsure = if !firm && measured.ci95.is_some() {
        ", but the 95 % interval spans that"
    } else {
        ""
    };
    format!(
        "{} {} ({asked}{unsure})",
        criterion.figure.name(),
        value(criterion.figure, measured.value)
    )
}

/// `254 IOPS`.
fn value(figure: Figure, value: f64) -> String {
    format!("{} {}", number::significant(value), figure.unit())
}

/// Which promises were kept.
pub(crate) fn claims(checks: &[ClaimCheck]) -> Vec<ConclusionRow> {
    checks.iter().map(claim).collect()
}

/// The sign and the word of a verdict on a promise.
pub(crate) fn claim_verdict(verdict: ClaimVerdict) -> (&'static str, &'static str) {
    match verdict {
        ClaimVerdict::Kept => ("✓", "kept"),
        ClaimVerdict::Missed => ("✗", "missed"),
        ClaimVerdict::NotShown => ("?", "not shown"),
        ClaimVerdict::Unclear => ("~", "unclear"),
        ClaimVerdict::NotMeasured => ("?", "not measured"),
    }
}

fn claim(check: &ClaimCheck) -> ConclusionRow {
    let (sign, verdict) = claim_verdict(check.verdict);
    let mut parts: Vec<String> = check.parts.iter().map(claim_part).collect();
    // Conditions open a verdict; one that stands needs none.
    if !matches!(
        check.verdict,
        ClaimVerdict::Kept | ClaimVerdict::Missed | ClaimVerdict::NotMeasured
    ) {
        // Two phases may fall short by as much as the words tell.
        for condition in check
            .unmet
            .iter()
            .map(|condition| plain(&condition.to_string()))
        {
            if !parts.contains(&condition) {
                parts.push(condition);
            }
        }
    }
    ConclusionRow {
        about: check.claim.to_string(),
        sign,
        verdict,
        because: parts.join("; "),
    }
}

fn claim_part(part: &ClaimPart) -> String {
    let required = number::exact(part.required, 3);
    match &part.measured {
        Some(measured) => {
            format!(
                "{} {} of {required} promised",
                part.figure.name(),
                value(part.figure, measured.value)
            )
        }
        None => format!(
            "it asks for {required} {} ({})",
            part.figure.unit(),
            part.figure.name()
        ),
    }
}

/// Who sets the pace.
pub(crate) fn limits(limits: &[BusLimit]) -> Vec<ConclusionRow> {
    limits_of(limits, &[])
}

/// The same of several cards, each of which is named where a finding is not about all of them.
pub(crate) fn limits_of(limits: &[BusLimit], names: &[String]) -> Vec<ConclusionRow> {
    // A pace that nothing is known about is not worth a line.
    let telling = limits
        .iter()
        .filter(|limit| limit.limit != Bottleneck::Unclear || limit.share.is_some());
    telling.map(|found| limit(found, names)).collect()
}

/// More names than these are counted.
const NAMED: usize = 4;

fn limit(found: &BusLimit, names: &[String]) -> ConclusionRow {
    let BusLimit {
        op,
        members,
        measured,
        ceiling,
        share,
        cards,
        spread,
        limit,
    } = found;
    let (sign, verdict) = match limit {
        Bottleneck::Host => ("→", "the host's bus"),
        Bottleneck::Card => ("→", "the card"),
        Bottleneck::Unclear => ("?", "cannot be told"),
        Bottleneck::Contradiction => ("!", "contradiction"),
    };
    let mut parts = vec![measured.to_string()];
    if let (Some(share), Some(ceiling)) = (share, ceiling) {
        parts[0] = format!(
            "{measured} are {} % of what the bus carries at most ({ceiling})",
            percent(*share)
        );
    }
    if let (Some(spread), 2..) = (spread, cards) {
        parts.push(format!(
            "{cards} cards lie {} % apart (deviation of their means)",
            percent(*spread)
        ));
    }
    parts.push(
        match limit {
            Bottleneck::Host => "a faster card would not help here",
            Bottleneck::Card => "a faster card would help",
            Bottleneck::Unclear => "a card that is surely faster would tell",
            Bottleneck::Contradiction => {
                "the facts of the bus or the figure are wrong, so that nothing follows"
            }
        }
        .to_owned(),
    );
    let some = members.len() < names.len();
    let named: Vec<&str> = members
        .iter()
        .filter_map(|&card| names.get(card as usize))
        .map(String::as_str)
        .collect();
    let who = match named.len() {
        0 => String::new(),
        _ if !some => String::new(),
        n if n > NAMED => format!(", {n} cards"),
        _ => format!(", {}", named.join(", ")),
    };
    ConclusionRow {
        about: format!("sequential {}{who}", op.name()),
        sign,
        verdict,
        because: parts.join("; "),
    }
}

/// Where it stands among published figures.
pub(crate) fn standings(standings: &[ReferenceStanding]) -> Vec<ConclusionRow> {
    standings.iter().map(standing).collect()
}

fn standing(found: &ReferenceStanding) -> ConclusionRow {
    let ReferenceStanding {
        phase,
        op,
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
    let (sign, verdict) = match (ahead_of, level_with, behind) {
        (_, 0, 0) => ("✓", "ahead of all"),
        (0, 0, _) => ("✗", "behind all"),
        (0, _, 0) => ("~", "level with them"),
        _ => ("~", "among them"),
    };
    let figure = |value: f64| match by_iops {
        true => format!("{} IOPS", number::significant(value)),
        false => format!("{} MB/s", number::significant(value / 1e6)),
    };
    let named = |f: &NamedFigure| format!("{} ({})", figure(f.value), plain(&f.card));
    let range = if least == most {
        named(least)
    } else {
        format!("{} to {}", named(least), named(most))
    };
    let counts = [
        (ahead_of, "slower"),
        (level_with, "not told apart"),
        (behind, "faster"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(n, _)| **n > 0)
        .map(|(n, words)| format!("{n} {words}"))
        .collect();
    let runs = if *fewest_runs == 1 {
        "one run each".to_owned()
    } else {
        format!("n = {fewest_runs}")
    };
    let hosts: Vec<String> = hosts.iter().map(|host| plain(host)).collect();
    let because = format!(
        "{} here, {range} there: {}; {}, {} on {}, {runs}",
        figure(*here),
        counts.join(", "),
        plain(among),
        plain(layer),
        hosts.join(" and ")
    );
    let op = if phase == op.name() {
        String::new()
    } else {
        format!(" {}", op.name())
    };
    ConclusionRow {
        about: format!("{}{op}", plain(phase)),
        sign,
        verdict,
        because,
    }
}

/// Hundredths with two digits.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    number::exact(value, if value.abs() < 10.0 { 1 } else { 0 })
}

/// Sections in the order of reading, each with its title; those without content are left out.
pub(crate) fn sections(findings: &RunFindings) -> Vec<(&'static str, Vec<ConclusionRow>)> {
    let all = [
        ("Good for", uses(findings)),
        ("Promises", claims(&findings.claims)),
        ("Who sets the pace", limits(&findings.limits)),
        ("Among published ones", standings(&findings.standings)),
    ];
    all.into_iter()
        .filter(|(_, conclusions)| !conclusions.is_empty())
        .collect()
}

/// Conclusions as a table with the given name for what they are about.
pub(crate) fn table(about: &str, conclusions: &[ConclusionRow]) -> DataTable {
    let row = |c: &ConclusionRow| {
        vec![
            c.about.clone(),
            format!("{} {}", c.sign, c.verdict),
            c.because.clone(),
        ]
    };
    DataTable {
        head: [about, "Verdict", "Because"].map(str::to_owned).to_vec(),
        rows: conclusions.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::advice::Criterion;
    use hakaru_model::finding::MeasuredFigure;

    /// It said "not measured: fsync latency, 99th percentile 7.21 ms".
    #[test]
    fn what_was_measured_is_not_called_not_measured() {
        let criterion = |figure| Criterion {
            figure,
            fits: 10.0,
            care: 50.0,
            why: String::new(),
        };
        let decision = Decision {
            criterion: criterion(Figure::SyncP99),
            measured: MeasuredFigure {
                phase: "durable".into(),
                value: 7.21,
                ci95: None,
                runs: 3,
            },
            fitness: Fitness::Fits,
            firm: false,
            better_from: None,
        };
        let mut advice = Advice {
            id: "db".into(),
            title: "databases".into(),
            fitness: None,
            decided_by: vec![decision],
            not_measured: vec![criterion(Figure::SyncP999)],
        };
        let told = use_of(&advice);
        assert_eq!((told.sign, told.verdict), ("?", "cannot be told"));
        assert!(
            told.because
                .starts_with("fsync latency, 99th percentile 7.21"),
            "{}",
            told.because
        );
        assert!(
            told.because.contains("; not measured: fsync latency"),
            "{}",
            told.because
        );
        advice.decided_by.clear();
        assert_eq!(use_of(&advice).verdict, "not measured");
    }
}
