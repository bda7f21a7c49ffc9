//! Conclusions from a summary as text: suitability, claims, bottlenecks, and references.
//!
//! This module only creates text and its order; each output format renders it.

use crate::escape::plain;
use crate::naming::distinct;
use crate::table::DataTable;
use crate::text::{self, Head};
use hakaru_model::advice::{Advice, AdviceVerdict, Decision, Fitness, RunFindings};
use hakaru_model::finding::{Bottleneck, BusLimit, ClaimCheck, ClaimPart, ClaimVerdict, Figure};
use hakaru_model::references::ReferenceStanding;

/// A conclusion: its subject, a symbol and a word for the verdict, and the reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConclusionRow {
    /// Use, claim or direction.
    pub(crate) about: String,
    /// A single character, in brackets if the verdict is only probable, that shows the verdict without color.
    pub(crate) sign: &'static str,
    /// The verdict.
    pub(crate) verdict: String,
    /// The deciding figures, and what would change the verdict.
    pub(crate) because: String,
}

/// Suitability: one row for each use, including unmeasured uses.
pub(crate) fn uses(findings: &RunFindings) -> Vec<ConclusionRow> {
    findings.advice.iter().map(use_of).collect()
}

/// Joins neighbors with the same verdict for the same reason.
pub(crate) fn merged(rows: Vec<ConclusionRow>) -> Vec<ConclusionRow> {
    let said = |row: &ConclusionRow| (row.sign, row.verdict.clone(), row.because.clone());
    let same = |a: &ConclusionRow, b: &ConclusionRow| said(a) == said(b);
    let joined = |rows: &[ConclusionRow]| ConclusionRow {
        about: text::enumerated(&rows.iter().map(|row| &row.about).collect::<Vec<_>>()),
        ..rows[0].clone()
    };
    rows.chunk_by(same).map(joined).collect()
}

pub(crate) fn use_of(advice: &Advice) -> ConclusionRow {
    ConclusionRow {
        about: plain(&text::use_title(&advice.id, &advice.title)),
        sign: sign(advice.verdict()),
        verdict: verdict_of(advice),
        because: reasons(advice),
    }
}

/// The verdict in words. What is open because figures are missing says so, and how good it can be at best.
fn verdict_of(advice: &Advice) -> String {
    let verdict = advice.verdict();
    match (verdict, advice.fitness) {
        (AdviceVerdict::Inconclusive, None) if !advice.decided_by.is_empty() => {
            text::incomplete_advice(advice.best_possible(), advice.not_measured.len())
        }
        _ => text::advice(verdict).to_owned(),
    }
}

/// The symbol of a verdict that no measurement could change.
pub(crate) const IMPOSSIBLE: &str = "-";

/// Whether a symbol is that of a verdict from measured figures.
pub(crate) fn is_judged(sign: &str) -> bool {
    sign != OPEN && sign != IMPOSSIBLE
}

/// The symbol of a verdict that is open: something is not measured, or an interval crosses a limit.
pub(crate) const OPEN: &str = "?";

/// The symbol of a verdict; without brackets only if the confidence intervals allow no other verdict.
pub(crate) fn sign(verdict: AdviceVerdict) -> &'static str {
    use AdviceVerdict::*;
    match verdict {
        Firm(Fitness::Fits) => "✓",
        Firm(Fitness::WithCare) => "~",
        Firm(Fitness::DoesNot) => "✗",
        Probable(Fitness::Fits) => "(✓)",
        Probable(Fitness::WithCare) => "(~)",
        Probable(Fitness::DoesNot) => "(✗)",
        Inconclusive | NotMeasured => OPEN,
        NotPossible => IMPOSSIBLE,
    }
}

/// Maximum number of reasons in a row.
const REASONS: usize = 2;

/// The deciding figures: for a good verdict, the figure nearest to its limit; otherwise, the figures that miss it. If
/// intervals leave the verdict open, the figures with these intervals.
fn reasons(advice: &Advice) -> String {
    if let Some(file_system) = &advice.impossible_on {
        return text::no_permissions(&plain(file_system));
    }
    let crossed = advice.fitness.is_some() && advice.verdict() == AdviceVerdict::Inconclusive;
    let worst = advice.decided_by.first().map(|decision| decision.fitness);
    let most = if worst == Some(Fitness::Fits) {
        1
    } else {
        REASONS
    };
    let figures: Vec<&Decision> = match crossed {
        true => advice.open_figures().collect(),
        false => advice.deciding().collect(),
    };
    let figures = figures.into_iter().take(most);
    let mut parts: Vec<String> = figures.map(text::decision).collect();
    let missing: Vec<Figure> = advice
        .not_measured
        .iter()
        .map(|criterion| criterion.figure)
        .collect();
    if !missing.is_empty() {
        parts.push(text::not_measured(&missing, worst.is_some()));
    }
    text::reasons(&parts)
}

/// Verdicts on the claims.
pub(crate) fn claims(checks: &[ClaimCheck]) -> Vec<ConclusionRow> {
    checks.iter().map(claim).collect()
}

/// The symbol of a verdict on a claim.
pub(crate) fn claim_sign(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Kept => "✓",
        ClaimVerdict::Missed => "✗",
        ClaimVerdict::NotShown | ClaimVerdict::NotMeasured => "?",
        ClaimVerdict::Unclear => "~",
    }
}

fn claim(check: &ClaimCheck) -> ConclusionRow {
    let part = |part: &ClaimPart| text::claim_part(part, check.verdict);
    let mut parts: Vec<String> = check.parts.iter().map(part).collect();
    // Unmet test conditions are listed only for verdicts that they leave open.
    let open = match check.verdict {
        ClaimVerdict::Kept | ClaimVerdict::Missed | ClaimVerdict::NotMeasured => false,
        ClaimVerdict::NotShown | ClaimVerdict::Unclear => true,
    };
    // Two phases may miss the same condition.
    let unmet = distinct(check.unmet.iter().filter(|_| open));
    parts.extend(unmet.into_iter().map(|c| plain(&text::condition(c))));
    ConclusionRow {
        about: text::claim(check.claim),
        sign: claim_sign(check.verdict),
        verdict: text::claim_verdict(check.verdict).to_owned(),
        because: text::reasons(&parts),
    }
}

/// Bottlenecks of the throughput.
pub(crate) fn limits(limits: &[BusLimit]) -> Vec<ConclusionRow> {
    limits_of(limits, &[])
}

/// Bottlenecks of several cards; the cards are named if a finding does not concern all of them.
pub(crate) fn limits_of(limits: &[BusLimit], names: &[String]) -> Vec<ConclusionRow> {
    // An unknown bottleneck without any figure is omitted.
    let telling = limits
        .iter()
        .filter(|limit| limit.limit != Bottleneck::Unclear || limit.share.is_some());
    telling.map(|found| limit(found, names)).collect()
}

fn limit(found: &BusLimit, names: &[String]) -> ConclusionRow {
    let sign = match found.limit {
        Bottleneck::Host | Bottleneck::Card => "→",
        Bottleneck::Unclear => "?",
        Bottleneck::Contradiction => "!",
    };
    let some = found.members.len() < names.len();
    let named: Vec<&str> = found
        .members
        .iter()
        .filter_map(|&card| names.get(card as usize))
        .filter(|_| some)
        .map(String::as_str)
        .collect();
    let host = found.host.as_ref();
    let host = host.map_or(String::new(), |host| format!("{}: ", plain(host)));
    ConclusionRow {
        about: format!("{host}{}", text::sequential(found.op, &named)),
        sign,
        verdict: text::bottleneck(found.limit).to_owned(),
        because: text::limit(found),
    }
}

/// Comparison with published figures.
pub(crate) fn standings(standings: &[ReferenceStanding]) -> Vec<ConclusionRow> {
    standings.iter().map(standing).collect()
}

fn standing(found: &ReferenceStanding) -> ConclusionRow {
    let sign = match (found.ahead_of, found.level_with, found.behind) {
        (_, 0, 0) => "✓",
        (0, 0, _) => "✗",
        _ => "~",
    };
    ConclusionRow {
        about: crate::workload::of_operation(&found.phase, found.op),
        sign,
        verdict: text::standing_verdict(found),
        because: plain(&text::standing(found)),
    }
}

/// A section of conclusions, in display order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConclusionKind {
    /// Suitability for uses.
    Uses,
    /// Claims and measured results.
    Claims,
    /// Bottlenecks.
    Limits,
    /// Comparison with references.
    Standings,
}

impl ConclusionKind {
    pub(crate) const ALL: [ConclusionKind; 4] = [
        ConclusionKind::Uses,
        ConclusionKind::Claims,
        ConclusionKind::Limits,
        ConclusionKind::Standings,
    ];

    /// Returns the conclusions of this section.
    pub(crate) fn of(self, findings: &RunFindings) -> Vec<ConclusionRow> {
        match self {
            ConclusionKind::Uses => uses(findings),
            ConclusionKind::Claims => claims(&findings.claims),
            ConclusionKind::Limits => limits(&findings.limits),
            ConclusionKind::Standings => standings(&findings.standings),
        }
    }
}

/// Formats a verdict with its symbol: `✓ good`.
pub(crate) fn verdict(row: &ConclusionRow) -> String {
    format!("{} {}", row.sign, row.verdict)
}

/// Conclusions as a table; `about` is the heading of the first column.
pub(crate) fn table(about: &str, conclusions: &[ConclusionRow]) -> DataTable {
    let row = |c: &ConclusionRow| vec![c.about.clone(), verdict(c), c.because.clone()];
    let head = [about, Head::Verdict.text(), Head::Because.text()];
    DataTable::new(head, conclusions.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::advice::Criterion;
    use hakaru_model::finding::MeasuredFigure;

    /// Regression: it printed "not measured: fsync latency, 99th percentile 7.21 ms".
    #[test]
    fn what_was_measured_is_not_called_not_measured() {
        let criterion = |figure| Criterion {
            figure,
            fits: 10.0,
            care: 50.0,
            why: String::new(),
        };
        let measured = MeasuredFigure {
            phase: "durable".into(),
            value: 7.21,
            ci95: None,
            bounds: None,
            stalls: None,
            runs: 3,
        };
        let mut advice = Advice {
            id: "db".into(),
            title: "databases".into(),
            fitness: None,
            decided_by: vec![Decision {
                criterion: criterion(Figure::SyncP99),
                measured,
                fitness: Fitness::Fits,
                firm: false,
                better_from: None,
            }],
            not_measured: vec![criterion(Figure::SyncP999)],
            impossible_on: None,
        };
        let ConclusionRow { sign, because, .. } = use_of(&advice);
        let wanted = "fsync P99 7.21 ms (limit 10); not measured: fsync P99.9 (`hakaru bench --only=durable`)";
        assert_eq!((sign, because.as_str()), ("?", wanted));
        assert_eq!(use_of(&advice).verdict, "good so far, 1 figure missing");
        advice.decided_by[0].fitness = Fitness::WithCare;
        let at_best = "with care at best, 1 figure missing";
        assert_eq!(use_of(&advice).verdict, at_best);
        advice.decided_by.clear();
        assert_eq!(use_of(&advice).verdict, "not measured");
        advice.impossible_on = Some("vfat".to_owned());
        let row = use_of(&advice);
        assert_eq!(verdict(&row), "- not possible");
        assert_eq!(
            row.because,
            "vfat stores no Unix owners, permissions or symbolic links"
        );
        assert!(!is_judged(row.sign));
    }

    #[test]
    fn an_open_verdict_names_the_figures_that_leave_it_open() {
        let decision = |figure, value, ci95, fitness| Decision {
            criterion: Criterion {
                figure,
                fits: 10.0,
                care: 50.0,
                why: String::new(),
            },
            measured: MeasuredFigure {
                phase: "durable".into(),
                value,
                ci95: Some(ci95),
                bounds: None,
                stalls: None,
                runs: 3,
            },
            fitness,
            firm: false,
            better_from: None,
        };
        let advice = Advice {
            id: "db".into(),
            title: "databases".into(),
            fitness: Some(Fitness::WithCare),
            decided_by: vec![
                decision(Figure::SyncP99, 20.0, (15.0, 25.0), Fitness::WithCare),
                decision(Figure::SyncP999, 8.0, (2.0, 70.0), Fitness::Fits),
            ],
            not_measured: Vec::new(),
            impossible_on: None,
        };
        let ConclusionRow { sign, because, .. } = use_of(&advice);
        let wanted = "fsync P99.9 is 8.00 ms (limit 10), but its 95% interval crosses that limit";
        assert_eq!((sign, because.as_str()), ("?", wanted));
    }
}
