//! Collects the stored runs of a campaign, card by card, and derives its conclusions.

use super::estimate::repeats_in_words;
use super::file::{CardOrder, PointOrder, PreparationSpec, PrepareScope, RepeatRule};
use super::journal::{RunStatus, counts};
use super::matrix::RECHECK;
use super::spec::{Campaign, Card, Layer, LayerKind};
use hakaru_analysis::campaign::Circumstances;
use hakaru_analysis::claims::{ClaimContext, check_claims, claims_of};
use hakaru_analysis::stats::{StoppingRule, stopping_coverage};
use hakaru_model::campaign::{
    CampaignSummary, CardSummary, FailedRun, LayerSummary, PreparedStep, Recheck, StepKind,
    Weakness,
};
use hakaru_model::caveat::{CacheOf, Caveat};
use hakaru_model::finding::{BusLimit, Claim, Comparison, Summary, Verdict};
use hakaru_model::record::RunRecord;
use hakaru_store::{FindError, OutcomeKind, PointRow, Readable, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of failed runs listed individually.
const NAMED_FAILURES: usize = 20;

/// Results of one card, before conclusions.
#[derive(Clone, Debug)]
pub struct CardMeasurements {
    /// Display name.
    pub name: String,
    /// ID of the card under which its runs are stored.
    pub key: String,
    /// Host that measured it.
    pub host: String,
    /// Rated speeds and classes.
    pub printed: Vec<Claim>,
    /// Other facts about the card.
    pub facts: Vec<(String, String)>,
    /// Layer names, each with the summary of its workloads and the preparation steps.
    pub layers: Vec<(String, Summary, Vec<PreparedStep>)>,
}

/// Collects the stored results of a campaign, and `more` from other sources such as published results.
///
/// # Errors
/// [`FindError`] if the database or a record in it cannot be read.
pub fn gather(
    campaign: &Campaign,
    store: &Store,
    more: Vec<CardMeasurements>,
) -> Result<CampaignSummary, FindError> {
    let mut summary = empty(campaign);
    let mut points = Points::default();
    for row in store.points(&campaign.id)? {
        match counts(campaign, &row) {
            Some(RunStatus::Counts) => points.add(row),
            Some(RunStatus::HalfDone) => fail(&mut summary, &row, store)?,
            Some(RunStatus::OtherDefinition) | None => summary.other_definition += 1,
        }
    }
    let several = points.hosts() > 1;
    let order = points.order();
    let rechecks = std::mem::take(&mut points.rechecks);
    let (mut cards, mut circumstances) = (Vec::new(), Circumstances::default());
    for ((host, key), cells) in points.of_cards(campaign) {
        let measured = measured(
            campaign,
            store,
            (&host, &key),
            cells,
            several,
            &mut circumstances,
            &mut summary.unreadable,
        )?;
        summary.runs += measured
            .layers
            .iter()
            .map(|(_, summary, _)| summary.runs.len() as u64)
            .sum::<u64>();
        cards.push(measured);
    }
    let mut again = Vec::new();
    for ((host, key), cells) in rechecks {
        let place = (host.as_str(), key.as_str());
        again.push(measured(
            campaign,
            store,
            place,
            cells,
            several,
            &mut circumstances,
            &mut summary.unreadable,
        )?);
    }
    summary.rechecks = again
        .iter()
        .flat_map(|again| recheck(&cards, again))
        .collect();
    let sequential = summary.rechecks.is_empty() && order.is_sequential(&cards);
    let all_measured = more.is_empty();
    for (card, layer) in more
        .iter()
        .flat_map(|card| card.layers.iter().map(move |layer| (card, &layer.1)))
    {
        circumstances.note(&card.name, &layer.target, &layer.environment);
    }
    let left_out = summary.unreadable.iter();
    let left_out = left_out.map(|run| {
        format!(
            "run {} is excluded ({}): {}",
            run.run, run.point, run.because
        )
    });
    summary.notes.extend(left_out.collect::<Vec<_>>());
    cards.extend(more);
    let stopping = optional_stopping(campaign, &cards);
    conclude(campaign, &mut summary, cards);
    summary.weaknesses.extend(stopping);
    summary
        .weaknesses
        .extend(sequential.then_some(Weakness::CardsInSequence));
    let drifts = summary
        .rechecks
        .iter()
        .flat_map(drift_of)
        .collect::<Vec<_>>();
    summary.weaknesses.extend(drifts);
    summary.weaknesses.extend(circumstances.changes());
    summary.method = method(campaign, !kept_caches(&summary));
    summary.method.extend(
        summary
            .rechecks
            .iter()
            .map(recheck_words)
            .collect::<Vec<_>>(),
    );
    if all_measured {
        summary
            .weaknesses
            .extend(weaknesses_of_plan(campaign, summary.runs));
    }
    Ok(summary)
}

/// Stored runs by card, layer and workload.
#[derive(Default)]
struct Points {
    cards: BTreeMap<(String, String), Cells>,
    /// Runs of the recheck of the first card.
    rechecks: BTreeMap<(String, String), Cells>,
}

/// Rows by layer and workload name; each repeat once.
type Cells = BTreeMap<(String, String), BTreeMap<u32, PointRow>>;

impl Points {
    fn add(&mut self, row: PointRow) {
        let of = if row.repeat >= RECHECK {
            &mut self.rechecks
        } else {
            &mut self.cards
        };
        let cells = of.entry((row.host.clone(), row.card.clone())).or_default();
        let cell = cells
            .entry((row.layer.clone(), row.workload.clone()))
            .or_default();
        // The first row of a repeat counts; a second one can only come from another database.
        cell.entry(row.repeat).or_insert(row);
    }

    /// Returns the order in which the cards were measured.
    fn order(&self) -> CardSequence {
        let mut runs: BTreeMap<(String, String), Vec<(i64, String)>> = BTreeMap::new();
        for ((host, card), cells) in &self.cards {
            for ((layer, _), rows) in cells {
                let starts = rows.values().map(|row| (row.started_unix_ms, card.clone()));
                runs.entry((host.clone(), layer.clone()))
                    .or_default()
                    .extend(starts);
            }
        }
        let in_time = |mut runs: Vec<(i64, String)>| {
            runs.sort();
            runs.into_iter().map(|(_, card)| card).collect()
        };
        CardSequence(
            runs.into_iter()
                .map(|(of, runs)| (of, in_time(runs)))
                .collect(),
        )
    }

    fn hosts(&self) -> usize {
        self.cards
            .keys()
            .map(|(host, _)| host)
            .collect::<BTreeSet<_>>()
            .len()
    }

    /// Returns the cards in the order of the file; cards that are not in the file come last.
    fn of_cards(self, campaign: &Campaign) -> Vec<((String, String), Cells)> {
        let place = |cells: &Cells| {
            let label = label_of(cells);
            campaign
                .cards
                .iter()
                .position(|card| card.label == label)
                .unwrap_or(usize::MAX)
        };
        let mut cards: Vec<_> = self.cards.into_iter().collect();
        cards.sort_by_key(|(_, cells)| place(cells));
        cards
    }
}

/// The card of each run in the order of time, by host and layer.
struct CardSequence(BTreeMap<(String, String), Vec<String>>);

/// Maximum distance between the mean positions of the runs of two cards that alternate, as a share of all their runs.
/// Cards measured one after another have a distance of 0.5; alternating cards with two repeats each have 0.25, and
/// less with more repeats.
const APART: f64 = 0.25;

impl CardSequence {
    /// Whether any two cards were measured one after another instead of alternating. Simulated cards have their own
    /// virtual time and do not count.
    fn is_sequential(&self, cards: &[CardMeasurements]) -> bool {
        let real = |host: &str, layer: &str| -> Vec<&str> {
            let is_real = |summary: &Summary| !summary.caveats.contains(&Caveat::Simulated);
            let through = |card: &&CardMeasurements| {
                card.layers
                    .iter()
                    .any(|(name, of, _)| name == layer && is_real(of))
            };
            cards
                .iter()
                .filter(|card| card.host == host)
                .filter(through)
                .map(|card| card.key.as_str())
                .collect()
        };
        self.0.iter().any(|((host, layer), runs)| {
            let cards = real(host, layer);
            let mut pairs = cards
                .iter()
                .enumerate()
                .flat_map(|(i, a)| cards[i + 1..].iter().map(move |b| (*a, *b)));
            pairs.any(|(a, b)| apart(runs, a, b) > APART)
        })
    }
}

/// Returns the distance between the mean positions of the runs of two cards in time, as a share of all their runs; 0
/// if either card has fewer than two runs.
fn apart(runs: &[String], a: &str, b: &str) -> f64 {
    let both: Vec<&str> = runs
        .iter()
        .map(String::as_str)
        .filter(|card| [a, b].contains(card))
        .collect();
    let middle = |of: &str| {
        let places: Vec<f64> = (0..both.len())
            .filter(|&i| both[i] == of)
            .map(|i| i as f64)
            .collect();
        (places.len() > 1).then(|| places.iter().sum::<f64>() / places.len() as f64)
    };
    let (Some(of_a), Some(of_b)) = (middle(a), middle(b)) else {
        return 0.0;
    };
    (of_a - of_b).abs() / both.len() as f64
}

/// Returns the recheck of a card, one entry for each layer.
fn recheck(cards: &[CardMeasurements], again: &CardMeasurements) -> Vec<Recheck> {
    let Some(first) = cards
        .iter()
        .find(|card| (&card.host, &card.key) == (&again.host, &again.key))
    else {
        return Vec::new();
    };
    let of_layer = |(layer, second, _): &(String, Summary, Vec<PreparedStep>)| {
        let (_, before, _) = first.layers.iter().find(|(name, ..)| name == layer)?;
        let costs = hakaru_analysis::layer_costs(&[(layer.as_str(), before, second)]).pop()?;
        let comparisons = costs.into_iter().map(|cost| cost.comparison).collect();
        Some(Recheck {
            card: first.name.clone(),
            layer: layer.clone(),
            runs: second.runs.len() as u64,
            comparisons,
        })
    };
    again.layers.iter().filter_map(of_layer).collect()
}

/// Returns the weaknesses that a recheck shows, such as drift of the host; empty if all figures are equal.
fn drift_of(recheck: &Recheck) -> Vec<Weakness> {
    let Recheck {
        card,
        layer,
        comparisons,
        ..
    } = recheck;
    let (card, layer) = (card.clone(), layer.clone());
    let of = comparisons.len() as u64;
    let different: Vec<String> = comparisons
        .iter()
        .filter(|c| c.verdict == Verdict::Different)
        .map(ratio_words)
        .collect();
    let undecided = comparisons
        .iter()
        .filter(|c| matches!(c.verdict, Verdict::Undecided { .. }))
        .count() as u64;
    if !different.is_empty() {
        return vec![Weakness::Drifted {
            card,
            layer,
            phases: different,
        }];
    }
    if undecided > 0 {
        vec![Weakness::DriftUndecided {
            card,
            layer,
            undecided,
            of,
        }]
    } else {
        Vec::new()
    }
}

/// Formats a ratio: `seq-write 0.97x [0.96, 0.98]`.
fn ratio_words(comparison: &Comparison) -> String {
    let interval = comparison
        .ratio_ci95
        .map(|(low, high)| format!(" [{low:.3}, {high:.3}]"))
        .unwrap_or_default();
    format!("{} {:.3}x{interval}", comparison.quantity, comparison.ratio)
}

/// Describes a recheck for the section on methods.
fn recheck_words(recheck: &Recheck) -> (String, String) {
    let Recheck {
        card,
        layer,
        runs,
        comparisons,
    } = recheck;
    let same = comparisons.iter().all(|c| c.verdict == Verdict::Equivalent);
    let found = if same && !comparisons.is_empty() {
        "no host drift seen: "
    } else {
        ""
    };
    let ratios: Vec<String> = comparisons.iter().map(ratio_words).collect();
    let text = format!(
        "{card} through {layer}, {runs} runs after all other cards; {found}{}",
        ratios.join(", ")
    );
    ("Recheck".to_owned(), text)
}

fn label_of(cells: &Cells) -> String {
    let newest = cells
        .values()
        .flat_map(|rows| rows.values())
        .max_by_key(|row| row.started_unix_ms);
    newest.map(|row| row.label.clone()).unwrap_or_default()
}

fn measured(
    campaign: &Campaign,
    store: &Store,
    (host, key): (&str, &str),
    cells: Cells,
    several_hosts: bool,
    circumstances: &mut Circumstances,
    unreadable: &mut Vec<FailedRun>,
) -> Result<CardMeasurements, FindError> {
    let label = label_of(&cells);
    let card = campaign.cards.iter().find(|card| card.label == label);
    let name = if label.is_empty() { key } else { &label };
    let mut layers = Vec::new();
    for layer in &campaign.layers {
        let mut parts = Vec::new();
        let mut prepared = Vec::new();
        for workload in &campaign.workloads {
            let Some(rows) = cells.get(&(layer.name.clone(), workload.name.clone())) else {
                continue;
            };
            let found = in_time(rows).map(|row| (row.run.clone(), store.run(&row.run)));
            let Readable {
                records,
                unreadable: left_out,
            } = Readable::collect(found)?;
            let point = |id: &str| {
                rows.values()
                    .find(|row| row.run == id)
                    .map(point_words)
                    .unwrap_or_default()
            };
            unreadable.extend(left_out.into_iter().map(|(run, error)| {
                let (point, because) = (point(&run), error.to_string());
                FailedRun {
                    run,
                    point,
                    because,
                }
            }));
            if records.is_empty() {
                continue;
            }
            note_preparation(&mut prepared, &records);
            for record in records
                .iter()
                .filter(|record| !record.caveats.contains(&Caveat::Simulated))
            {
                circumstances.note(name, &record.target, &record.environment);
            }
            parts.push(hakaru_analysis::summarize(&records));
        }
        if let Some(mut whole) = hakaru_analysis::join(parts) {
            whole.scenario = campaign.name.clone();
            layers.push((layer.name.clone(), whole, prepared));
        }
    }
    Ok(CardMeasurements {
        name: if several_hosts {
            format!("{name} on {host}")
        } else {
            name.to_owned()
        },
        key: key.to_owned(),
        host: host.to_owned(),
        printed: card.map(|card| card.printed.clone()).unwrap_or_default(),
        facts: card.map(|card| card.facts.clone()).unwrap_or_default(),
        layers,
    })
}

/// Returns the runs of a cell in the order of time. In a shuffled order it differs from the repeat numbers, and drift
/// depends on time.
fn in_time(rows: &BTreeMap<u32, PointRow>) -> impl Iterator<Item = &PointRow> {
    let mut rows: Vec<&PointRow> = rows.values().collect();
    rows.sort_by_key(|row| (row.started_unix_ms, row.repeat));
    rows.into_iter()
}

/// Keeps the preparation steps of the first run, and the speed along the card from any run that recorded it.
fn note_preparation(prepared: &mut Vec<PreparedStep>, records: &[RunRecord]) {
    for point in records.iter().filter_map(|record| record.campaign.as_ref()) {
        if prepared.is_empty() {
            prepared.clone_from(&point.prepared);
        }
        for step in point.prepared.iter().filter(|step| !step.speed.is_empty()) {
            if let Some(known) = prepared
                .iter_mut()
                .find(|known| known.step == step.step && known.speed.is_empty())
            {
                known.clone_from(step);
            }
        }
    }
}

/// Describes the point of a run.
fn point_words(row: &PointRow) -> String {
    let name = if row.label.is_empty() {
        &row.card
    } else {
        &row.label
    };
    let repeat = if row.repeat >= RECHECK {
        "recheck"
    } else {
        "repeat"
    };
    format!(
        "{name}, {}, {}, {repeat} {}",
        row.layer,
        row.workload,
        row.repeat % RECHECK + 1
    )
}

fn fail(summary: &mut CampaignSummary, row: &PointRow, store: &Store) -> Result<(), FindError> {
    let (run, point) = (row.run.clone(), point_words(row));
    let because = match row.outcome {
        OutcomeKind::Failed if summary.failed.len() < NAMED_FAILURES => match store.run(&row.run) {
            Ok(record) => hakaru_report::text::failed_run(&record)
                .unwrap_or_else(|| format!("{:?}", record.outcome)),
            Err(error) if error.is_unreadable() => {
                summary.unreadable.push(FailedRun {
                    run,
                    point,
                    because: error.to_string(),
                });
                return Ok(());
            }
            Err(error) => return Err(error),
        },
        OutcomeKind::Interrupted => "it was stopped".to_owned(),
        _ => "it failed".to_owned(),
    };
    summary.failed.push(FailedRun {
        run,
        point,
        because,
    });
    Ok(())
}

fn empty(campaign: &Campaign) -> CampaignSummary {
    CampaignSummary {
        id: campaign.id.clone(),
        name: campaign.name.clone(),
        about: campaign.about.clone(),
        layers: campaign
            .layers
            .iter()
            .map(|layer| layer.name.clone())
            .collect(),
        planned: Some(campaign.cells()),
        ..CampaignSummary::default()
    }
}

/// Returns the effect of optional stopping on the confidence intervals of these runs.
fn optional_stopping(campaign: &Campaign, cards: &[CardMeasurements]) -> Option<Weakness> {
    let RepeatRule::Until(until) = campaign.repeats else {
        return None;
    };
    let rule = StoppingRule {
        at_least: until.at_least as usize,
        at_most: until.at_most as usize,
        within: until.until.0,
    };
    let samples: Vec<&[f64]> = cards
        .iter()
        .flat_map(|card| &card.layers)
        .flat_map(|(_, summary, _)| &summary.phases)
        .map(|phase| phase.bandwidth.values.as_slice())
        .collect();
    Some(Weakness::OptionalStopping {
        coverage: stopping_coverage(&samples, rule).map(|share| (share * 100.0).round() as u32),
    })
}

/// Whether the caches of the host could not be dropped before some runs.
fn kept_caches(summary: &CampaignSummary) -> bool {
    let caveats = summary
        .cards
        .iter()
        .flat_map(|card| &card.layers)
        .flat_map(|layer| &layer.summary.caveats);
    caveats.into_iter().any(|caveat| {
        matches!(
            caveat,
            Caveat::NotInvalidated {
                path: CacheOf::Host,
                ..
            }
        )
    })
}

/// Describes the method; `emptied` is whether the caches of the host were dropped before each run as requested.
fn method(campaign: &Campaign, emptied: bool) -> Vec<(String, String)> {
    let order = match campaign.order {
        PointOrder::Blocked => {
            "all repeats of a workload, then the next workload, then the next layer"
        }
        PointOrder::Interleaved => "one repeat of each workload in turn, layer by layer",
        PointOrder::Shuffled => "shuffled by the seed",
    };
    let mut lines = vec![
        (
            "Repeats".to_owned(),
            format!("each point {}", repeats_in_words(campaign.repeats)),
        ),
        ("Order".to_owned(), order.to_owned()),
    ];
    let cards = match campaign.card_order {
        CardOrder::Sequential => "one after another",
        CardOrder::Interleaved => "one run of each in turn",
        CardOrder::Abba => "one run of each in turn, every second repeat in the reverse order",
        CardOrder::Shuffled => "one run of each in turn, in an order shuffled by the seed",
    };
    if campaign.cards.len() > 1 {
        lines.push(("Order of the cards".to_owned(), cards.to_owned()));
    }
    let PreparationSpec {
        discard,
        fill,
        each,
        fill_level,
        drop_caches,
        fresh,
    } = &campaign.preparation;
    let often = match each {
        PrepareScope::Card => "once a card",
        PrepareScope::Layer => "before each layer",
        PrepareScope::Run => "before each run",
    };
    let mut prepared: Vec<String> = Vec::new();
    prepared.extend(discard.map(|how| format!("discarded ({how:?}) {often}").to_lowercase()));
    prepared.extend(fill.map(|with| format!("filled with {with:?} {often}").to_lowercase()));
    prepared.extend(
        fill_level.map(|share| format!("each file system filled to {}% used", share.0 * 100.0)),
    );
    let caches = match emptied {
        true => "host caches dropped before each run",
        false => "host caches were not dropped before every run as requested (see the caveats)",
    };
    prepared.extend(drop_caches.then(|| caches.to_owned()));
    prepared.extend(
        (*fresh || *each == PrepareScope::Run)
            .then(|| "a fresh file system for each run".to_owned()),
    );
    if !prepared.is_empty() {
        lines.push(("Preparation".to_owned(), prepared.join("; ")));
    }
    if campaign.cool_down.0 > 0 {
        lines.push((
            "Pause before each run".to_owned(),
            campaign.cool_down.to_string(),
        ));
    }
    lines.extend(campaign.layers.iter().filter_map(layer_words));
    lines.push(("Seed".to_owned(), campaign.seed.to_string()));
    lines
}

fn layer_words(layer: &Layer) -> Option<(String, String)> {
    let mut words = Vec::new();
    if let LayerKind::Fs(spec) = &layer.through {
        words.push(format!("{}, made anew", spec.fs));
        words.extend(
            spec.partition
                .map(|table| format!("in one partition ({table:?})").to_lowercase()),
        );
        words.extend(
            (!spec.mkfs.is_empty()).then(|| format!("mkfs options {}", spec.mkfs.join(" "))),
        );
        words.extend((!spec.mount.is_empty()).then(|| format!("mount options {}", spec.mount)));
    }
    words.extend(layer.size.map(|size| format!("files of {size} at most")));
    (!words.is_empty()).then(|| (format!("Layer {}", layer.name), words.join(", ")))
}

/// Derives all conclusions from the results.
fn conclude(campaign: &Campaign, summary: &mut CampaignSummary, cards: Vec<CardMeasurements>) {
    let rules = hakaru_analysis::default_rules();
    for CardMeasurements {
        name,
        key,
        host,
        printed,
        facts,
        layers,
    } in cards
    {
        let raw = layers
            .iter()
            .find(|(_, summary, _)| summary.target.filesystem.is_none())
            .or(layers.first());
        let claims = raw.map(|(_, summary, prepared)| {
            let given = ClaimContext {
                erased: each_run_was_erased(campaign, prepared),
            };
            let mut all = claims_of(&summary.target);
            all.extend(
                printed
                    .iter()
                    .filter(|claim| !all.contains(claim))
                    .copied()
                    .collect::<Vec<_>>(),
            );
            check_claims(summary, &all, given)
        });
        let layers = layers.into_iter().map(|(layer, mut summary, prepared)| {
            for phase in &mut summary.phases {
                phase.detail.repeated = hakaru_analysis::repeated(phase);
            }
            let advice = hakaru_analysis::advise(&summary, &rules);
            LayerSummary {
                layer,
                summary,
                prepared,
                advice,
            }
        });
        summary.cards.push(CardSummary {
            name,
            key,
            host,
            printed,
            facts,
            layers: layers.collect(),
            claims: claims.unwrap_or_default(),
            costs: Vec::new(),
        });
    }
    if let Some(layer) = reference_layer(summary) {
        hakaru_analysis::campaign::hold_against(summary, &layer);
    }
    summary.weaknesses = hakaru_analysis::campaign::weaknesses(summary);
    let by_layer = by_layer(summary);
    let limits: Vec<(String, BusLimit)> = by_layer
        .iter()
        .flat_map(|(layer, cards)| {
            let cards: Vec<&Summary> = cards.iter().map(|(_, summary)| *summary).collect();
            hakaru_analysis::bus_limit(&cards)
                .into_iter()
                .map(|limit| (layer.clone(), limit))
                .collect::<Vec<_>>()
        })
        .collect();
    let rankings = hakaru_analysis::rank(&by_layer);
    (summary.limits, summary.rankings) = (limits, rankings);
}

/// Whether each run began on a card that was completely discarded and not written to since.
///
/// A fill does not count, whatever its bytes, because the firmware of the card must keep the data.
fn each_run_was_erased(campaign: &Campaign, prepared: &[PreparedStep]) -> bool {
    let PreparationSpec {
        each,
        fill,
        fill_level,
        ..
    } = &campaign.preparation;
    // If discards depend on the support of the card, the recorded steps show whether they happened.
    let discarded = prepared
        .iter()
        .any(|step| matches!(step.step, StepKind::Discarded { .. }));
    *each == PrepareScope::Run && fill.is_none() && fill_level.is_none() && discarded
}

/// Returns the raw device if any card was measured through it, else the first layer; `None` if there is only one
/// layer.
fn reference_layer(summary: &CampaignSummary) -> Option<String> {
    let layers = || summary.cards.iter().flat_map(|card| &card.layers);
    let first = layers().next()?;
    layers().find(|of| of.layer != first.layer)?;
    let raw = layers().find(|of| of.summary.target.filesystem.is_none());
    Some(raw.unwrap_or(first).layer.clone())
}

/// Returns the weaknesses of the design that only the plan shows.
fn weaknesses_of_plan(campaign: &Campaign, runs: u64) -> Vec<Weakness> {
    let mut found = Vec::new();
    let planned = campaign.cells();
    // If repeats end at a precision of the mean, there is no planned number of runs.
    if matches!(campaign.repeats, RepeatRule::Times(_)) && runs < planned {
        found.push(Weakness::Unfinished { runs, planned });
    }
    let several = campaign.repeats.most() > 1 && campaign.workloads.len() > 1;
    if campaign.order == PointOrder::Blocked && several && runs > 0 {
        found.push(Weakness::Blocked);
    }
    found
}

/// Returns the cards of each layer, with their indexes.
fn by_layer(summary: &CampaignSummary) -> Vec<hakaru_analysis::campaign::Layer<'_>> {
    let of_layer = |layer: &String| {
        let cards = (0..).zip(&summary.cards).filter_map(|(place, card)| {
            let found = card.layers.iter().find(|of| of.layer == *layer)?;
            Some((place, &found.summary))
        });
        (layer.clone(), cards.collect::<Vec<_>>())
    };
    summary
        .layers
        .iter()
        .map(of_layer)
        .filter(|(_, cards)| !cards.is_empty())
        .collect()
}

/// Returns the card of a campaign with this label.
pub(super) fn card_named<'a>(campaign: &'a Campaign, label: &str) -> Option<&'a Card> {
    campaign.cards.iter().find(|card| card.label == label)
}
