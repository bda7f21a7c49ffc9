//! Comparisons of sets of results.

use crate::json;
use anyhow::{Result, bail};
use hakaru_analysis::compare::common_phases;
use hakaru_model::advice::RunFindings;
use hakaru_model::campaign::{AS_MEASURED, CampaignSummary, CardSummary, LayerSummary};
use hakaru_model::conclusion::PairConclusion;
use hakaru_model::finding::{Comparison, PhaseSummary, Summary};
use hakaru_report::PairReport;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// Maximum number of sets: more pairs than a reader can follow.
pub const MOST_SETS: usize = 64;

/// Output of `hakaru compare --json`: the rows are those of the CSV form.
#[derive(Serialize)]
pub struct CompareJson<'a> {
    sides: &'a [String],
    series: Vec<json::SeriesHead<'a>>,
    rows: Vec<serde_json::Map<String, serde_json::Value>>,
}

impl CompareJson<'_> {
    /// Returns the comparison of more than two sets.
    pub fn of_sets<'a>(summary: &'a CampaignSummary, names: &'a [String]) -> CompareJson<'a> {
        let heads = summary.cards.iter().flat_map(|card| &card.layers);
        CompareJson {
            sides: names,
            series: heads.map(|of| json::SeriesHead::of(&of.summary)).collect(),
            rows: json::rows(&hakaru_report::campaign_csv(summary)),
        }
    }
}

/// The comparison of two sets.
#[derive(Clone, Debug)]
pub struct PairOfSets<'a> {
    sides: [&'a Summary; 2],
    names: [&'a str; 2],
    phases: Vec<(&'a PhaseSummary, &'a PhaseSummary)>,
    /// Comparisons of the phases that both sets have.
    pub comparisons: Vec<Comparison>,
    findings: [RunFindings; 2],
    conclusion: Option<PairConclusion>,
}

impl<'a> PairOfSets<'a> {
    /// Compares two sets.
    ///
    /// # Errors
    /// If they have no workload in common.
    pub fn of([a, b]: [&'a Summary; 2], names: [&'a str; 2]) -> Result<PairOfSets<'a>> {
        let phases = common_phases(a, b);
        if phases.is_empty() {
            bail!(
                both!("cannot compare {} and {}: they have no workload in common; help: `hakaru show` lists \
                the workloads of each", "{}と{}は比較できません（共通のワークロードなし）; help: それぞれのワークロードはhakaru showで確認してください"; names[0],
                names[1])
            );
        }
        let comparisons = hakaru_analysis::compare_summaries(a, b);
        let conclusion = hakaru_analysis::conclude_pair(&phases, &comparisons);
        let rules = hakaru_analysis::default_rules();
        let advised = |summary: &Summary| RunFindings {
            advice: hakaru_analysis::advise(summary, &rules),
            ..RunFindings::default()
        };
        Ok(PairOfSets {
            findings: [advised(a), advised(b)],
            sides: [a, b],
            names,
            phases,
            comparisons,
            conclusion,
        })
    }

    /// Returns what the renderers of pairs show.
    pub fn report(&self) -> PairReport<'_> {
        PairReport {
            sides: (self.sides[0], self.sides[1]),
            names: (self.names[0], self.names[1]),
            phases: &self.phases,
            comparisons: &self.comparisons,
            findings: &self.findings,
            conclusion: self.conclusion.as_ref(),
        }
    }

    /// Returns the rows of the comparison as CSV.
    pub fn csv(&self) -> String {
        let names = (self.names[0], self.names[1]);
        let differences = &self.sides[1].path_differences;
        hakaru_report::comparison_csv(&self.comparisons, names, differences)
    }

    /// Returns the comparison for JSON; `names` are those of the sets.
    pub fn json<'b>(&'b self, names: &'b [String]) -> CompareJson<'b> {
        CompareJson {
            sides: names,
            series: self.sides.map(json::SeriesHead::of).into(),
            rows: json::rows(&self.csv()),
        }
    }
}

/// Returns the comparison of these sides, whose common phases get the names of the first side that has them. Each side
/// is treated as a card, so that all pairs are one family of tests.
///
/// # Errors
/// If no two sides have a workload in common.
pub fn compared(sides: Vec<Summary>, names: &[String]) -> Result<CampaignSummary> {
    let mut summaries: Vec<Summary> = Vec::new();
    for mut summary in sides {
        for known in &summaries {
            rename(&mut summary, known);
        }
        summaries.push(summary);
    }
    let kind = |phase: &PhaseSummary| (phase.phase.clone(), phase.op);
    let mut seen = BTreeSet::new();
    let mut shared = false;
    for summary in &summaries {
        let kinds: BTreeSet<_> = summary.phases.iter().map(kind).collect();
        shared |= kinds.iter().any(|kind| seen.contains(kind));
        seen.extend(kinds);
    }
    if !shared {
        bail!(
            both!("cannot compare {}: no two of them have a workload in common; help: `hakaru show` \
            lists the workloads of each", "{}は比較できません（どの2つにも共通のワークロードなし）; help: それぞれのワークロードはhakaru showで確認してください"; names.join(", "))
        );
    }
    let runs = summaries
        .iter()
        .map(|summary| summary.runs.len() as u64)
        .sum();
    let cards = summaries
        .into_iter()
        .zip(names)
        .map(|(summary, name)| card(name, summary));
    let mut all = CampaignSummary {
        name: names.join(", "),
        layers: vec![AS_MEASURED.to_owned()],
        of_sets: true,
        cards: cards.collect(),
        runs,
        ..CampaignSummary::default()
    };
    hakaru_analysis::campaign::conclude(&mut all, &hakaru_analysis::default_rules());
    Ok(all)
}

fn card(name: &str, summary: Summary) -> CardSummary {
    let claims = hakaru_analysis::claims(&summary, &summary.target);
    CardSummary {
        name: name.to_owned(),
        key: name.to_owned(),
        host: summary.environment.hostname.clone(),
        printed: Vec::new(),
        facts: Vec::new(),
        layers: vec![LayerSummary {
            layer: AS_MEASURED.to_owned(),
            summary,
            prepared: Vec::new(),
            advice: Vec::new(),
        }],
        claims,
        costs: Vec::new(),
    }
}

/// Gives the phases of a summary the names of the same workloads of another, if no name is equal.
fn rename(summary: &mut Summary, known: &Summary) {
    let common = common_phases(known, summary);
    let names = common
        .iter()
        .map(|(a, b)| (b.phase.clone(), b.op, a.phase.clone()));
    let names: Vec<_> = names.collect();
    for phase in &mut summary.phases {
        let of_phase =
            |(name, op, _): &&(String, _, String)| *name == phase.phase && *op == phase.op;
        if let Some((_, _, name)) = names.iter().find(of_phase) {
            phase.phase.clone_from(name);
        }
    }
}

/// Returns the names of the sides: the targets, or the arguments if target names are equal or missing.
pub fn side_names(sides: &[Summary], typed: &[String]) -> Vec<String> {
    let differ = |names: &[String]| {
        let once: BTreeSet<&String> = names.iter().collect();
        once.len() == names.len()
    };
    let targets: Vec<String> = sides
        .iter()
        .map(|side| side.target.display_name())
        .collect();
    let named =
        |(side, typed): (&Summary, &String)| side.target.label.is_some() || !typed.contains(',');
    let all_named =
        targets.iter().all(|name| !name.is_empty()) && sides.iter().zip(typed).all(named);
    if all_named && differ(&targets) {
        return targets;
    }
    let short = |typed: &String| {
        let stem = Path::new(typed).file_stem();
        stem.map_or(typed.to_owned(), |stem| stem.to_string_lossy().into_owned())
    };
    let short: Vec<String> = typed.iter().map(short).collect();
    if differ(&short) {
        return short;
    }
    // For example files of one name in two directories.
    if differ(typed) {
        return typed.to_vec();
    }
    match &short[..] {
        [a, b] => vec![
            both!("{a} (first)", "{a}（1つ目）"),
            both!("{b} (second)", "{b}（2つ目）"),
        ],
        all => (1..)
            .zip(all)
            .map(|(nth, name)| format!("{name} ({nth})"))
            .collect(),
    }
}
