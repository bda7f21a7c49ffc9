//! Collects the stored runs of a campaign, card by card, and derives its conclusions.

mod conclusions;
mod method;
mod recheck;
mod sequence;

use super::file::RepeatRule;
use super::journal::{RunStatus, counts};
use super::matrix::{RECHECK, is_recheck};
use super::measurements::{CardMeasurements, LayerMeasurements};
use super::spec::{Campaign, Layer};
use hakaru_analysis::campaign::Circumstances;
use hakaru_model::campaign::{
    CampaignPoint, CampaignSummary, FailedRun, LayerSummary, PreparedStep, Weakness,
};
use hakaru_model::caveat::{CacheOf, Caveat};
use hakaru_model::finding::{Summary, SummaryOrigin};
use hakaru_model::record::{Origin, RunRecord};
use hakaru_report::both;
use hakaru_store::{FindError, OutcomeKind, PointRow, Readable, Store};
use sequence::CardSequence;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of failed runs listed individually.
const NAMED_FAILURES: usize = 20;

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
    let StoredResults {
        mut cards,
        rechecks,
        sequence,
        mut circumstances,
    } = StoredResults::read(campaign, store, &mut summary)?;
    let rechecks = rechecks.iter();
    summary.rechecks = rechecks
        .flat_map(|again| recheck::compare(&cards, again))
        .collect();
    let sequential = summary.rechecks.is_empty() && sequence.is_sequential(&cards);
    let all_measured = more.is_empty();
    for card in &more {
        card.layers
            .iter()
            .for_each(|layer| note(&mut circumstances, &card.name, &layer.summary));
    }
    summary
        .notes
        .extend(summary.unreadable.iter().map(excluded));
    let planned = planned(campaign, &cards);
    summary.planned = Some(planned);
    cards.extend(more);
    let mut design = Vec::new();
    design.extend(conclusions::optional_stopping(campaign, &cards));
    design.extend(sequential.then_some(Weakness::CardsInSequence));
    design.extend(summary.rechecks.iter().filter_map(recheck::drift));
    design.extend(circumstances.changes());
    design.extend(conclusions::spans(campaign));
    conclusions::conclude(campaign, &mut summary, cards);
    let weaknesses = &mut summary.weaknesses;
    weaknesses.append(&mut design);
    if all_measured {
        weaknesses.extend(conclusions::weaknesses_of_plan(
            campaign,
            summary.runs,
            planned,
        ));
    }
    // Published figures were measured in an order that nobody knows here.
    let mut layers = summary.cards.iter().flat_map(|card| &card.layers);
    let is_published =
        |layer: &LayerSummary| matches!(layer.summary.origin, SummaryOrigin::Published { .. });
    let only_published = !summary.cards.is_empty() && layers.all(is_published);
    summary.method = match only_published {
        true => method::method_of_published(campaign),
        false => method::method(campaign, !kept_caches(&summary)),
    };
    summary
        .method
        .extend(summary.rechecks.iter().map(recheck::words));
    Ok(summary)
}

/// Notes under which circumstances a summary was measured.
fn note(circumstances: &mut Circumstances, card: &str, summary: &Summary) {
    circumstances.note(card, &summary.target, &summary.environment);
}

/// Describes a run that is excluded because it cannot be read.
fn excluded(run: &FailedRun) -> String {
    let FailedRun {
        run,
        point,
        because,
    } = run;
    both!(
        "run {run} is excluded ({point}): {because}",
        "測定{run}を除外（{point}）: {because}"
    )
}

/// The stored results of a campaign.
struct StoredResults {
    cards: Vec<CardMeasurements>,
    /// Results of the recheck of the first card.
    rechecks: Vec<CardMeasurements>,
    /// The order in which the cards were measured.
    sequence: CardSequence,
    circumstances: Circumstances,
}

impl StoredResults {
    /// Reads the runs that count. Others, and those that cannot be read, are listed in the summary.
    fn read(
        campaign: &Campaign,
        store: &Store,
        summary: &mut CampaignSummary,
    ) -> Result<StoredResults, FindError> {
        let mut points = PointTable::read(campaign, store, summary)?;
        let sequence = points.sequence();
        let mut reader = RunReader {
            campaign,
            store,
            circumstances: Circumstances::default(),
            unreadable: Vec::new(),
        };
        let rechecks = std::mem::take(&mut points.rechecks);
        let cards = reader.cards(points.in_file_order(campaign))?;
        let rechecks = reader.cards(rechecks.into_iter().collect())?;
        summary.runs = cards.iter().map(CardMeasurements::runs).sum();
        summary.unreadable.extend(reader.unreadable);
        Ok(StoredResults {
            cards,
            rechecks,
            sequence,
            circumstances: reader.circumstances,
        })
    }
}

/// Host and ID of a card.
type CardKey = (String, String);

/// Stored runs by card, layer and workload.
#[derive(Default)]
struct PointTable {
    cards: BTreeMap<CardKey, Cells>,
    /// Runs of the recheck of the first card.
    rechecks: BTreeMap<CardKey, Cells>,
}

/// Rows by layer and workload name; each repeat once.
type Cells = BTreeMap<(String, String), BTreeMap<u32, PointRow>>;

impl PointTable {
    /// Reads the points of the runs that count, and lists the others in the summary.
    fn read(
        campaign: &Campaign,
        store: &Store,
        summary: &mut CampaignSummary,
    ) -> Result<PointTable, FindError> {
        let mut points = PointTable::default();
        for row in store.points(&campaign.id)? {
            match counts(campaign, &row) {
                Some(RunStatus::Counts) => points.add(row),
                Some(RunStatus::HalfDone) => fail(summary, &row, store)?,
                Some(RunStatus::OtherDefinition) | None => summary.other_definition += 1,
            }
        }
        Ok(points)
    }

    fn add(&mut self, row: PointRow) {
        let of = match is_recheck(row.repeat) {
            true => &mut self.rechecks,
            false => &mut self.cards,
        };
        let cells = of.entry((row.host.clone(), row.card.clone())).or_default();
        let cell = cells
            .entry((row.layer.clone(), row.workload.clone()))
            .or_default();
        // The first row of a repeat counts; a second one can only come from another database.
        cell.entry(row.repeat).or_insert(row);
    }

    /// Returns the order in which the cards were measured.
    fn sequence(&self) -> CardSequence {
        let cells = self.cards.values().flat_map(Cells::values);
        let runs = cells.flat_map(BTreeMap::values).map(|row| {
            let (host, layer, card) = (&row.host, &row.layer, &row.card);
            (
                host.as_str(),
                layer.as_str(),
                row.started_unix_ms,
                card.as_str(),
            )
        });
        CardSequence::of(runs)
    }

    /// Returns the cards in the order of the file; cards that are not in the file come last.
    fn in_file_order(self, campaign: &Campaign) -> Vec<(CardKey, Cells)> {
        let place = |cells: &Cells| {
            let label = label_of(cells);
            let place = campaign.cards.iter().position(|card| card.label == label);
            place.unwrap_or(usize::MAX)
        };
        let mut cards: Vec<_> = self.cards.into_iter().collect();
        cards.sort_by_key(|(_, cells)| place(cells));
        cards
    }
}

/// Returns the newest label of a card.
fn label_of(cells: &Cells) -> String {
    let newest = cells
        .values()
        .flat_map(|rows| rows.values())
        .max_by_key(|row| row.started_unix_ms);
    newest.map(|row| row.label.clone()).unwrap_or_default()
}

/// Reads the records of runs and summarizes them.
struct RunReader<'a> {
    campaign: &'a Campaign,
    store: &'a Store,
    circumstances: Circumstances,
    /// Runs that cannot be read.
    unreadable: Vec<FailedRun>,
}

impl RunReader<'_> {
    fn cards(&mut self, cards: Vec<(CardKey, Cells)>) -> Result<Vec<CardMeasurements>, FindError> {
        let card = |(key, cells): (CardKey, Cells)| self.card(&key, &cells);
        cards.into_iter().map(card).collect()
    }

    fn card(
        &mut self,
        (host, key): &CardKey,
        cells: &Cells,
    ) -> Result<CardMeasurements, FindError> {
        let label = label_of(cells);
        let name = if label.is_empty() { key } else { &label };
        let mut layers = Vec::new();
        for layer in &self.campaign.layers {
            layers.extend(self.layer(layer, name, cells)?);
        }
        Ok(CardMeasurements {
            layers,
            ..CardMeasurements::new(self.campaign, &label, name.clone(), key, host)
        })
    }

    /// Summarizes the runs of a card through one layer; `None` if there are none.
    fn layer(
        &mut self,
        layer: &Layer,
        card: &str,
        cells: &Cells,
    ) -> Result<Option<LayerMeasurements>, FindError> {
        let in_rounds = matches!(self.campaign.repeats, RepeatRule::Steady { .. });
        let (mut parts, mut rounds) = (Vec::new(), Vec::new());
        let mut prepared = Vec::new();
        for workload in &self.campaign.workloads {
            let Some(rows) = cells.get(&(layer.name.clone(), workload.name.clone())) else {
                continue;
            };
            let records = self.records(rows)?;
            if records.is_empty() {
                continue;
            }
            note_preparation(&mut prepared, &records);
            self.note_circumstances(card, &records);
            parts.push(hakaru_analysis::summarize(&records));
            if in_rounds {
                rounds.extend(hakaru_analysis::rounds::round_points(&records));
            }
        }
        Ok(
            hakaru_analysis::join(parts).map(|summary| LayerMeasurements {
                layer: layer.name.clone(),
                summary: Summary {
                    scenario: self.campaign.name.clone(),
                    ..summary
                },
                prepared,
                rounds,
            }),
        )
    }

    /// Notes the circumstances of runs on a real card.
    fn note_circumstances(&mut self, card: &str, records: &[RunRecord]) {
        for run in records {
            if !run.caveats.contains(&Caveat::Simulated) {
                self.circumstances.note(card, &run.target, &run.environment);
                if let Origin::Measured { version } = &run.origin {
                    self.circumstances.note_version(version);
                }
            }
        }
    }

    /// Reads the runs of a cell in the order of time.
    fn records(&mut self, rows: &BTreeMap<u32, PointRow>) -> Result<Vec<RunRecord>, FindError> {
        let found = in_time(rows).map(|row| (row.run.clone(), self.store.run(&row.run)));
        let Readable {
            records,
            unreadable,
        } = Readable::collect(found)?;
        for (run, error) in unreadable {
            let row = rows.values().find(|row| row.run == run);
            let point = row.map(point_words).unwrap_or_default();
            self.unreadable.push(FailedRun {
                run,
                point,
                because: error.to_string(),
            });
        }
        Ok(records)
    }
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
    let name = match row.label.is_empty() {
        true => &row.card,
        false => &row.label,
    };
    let workload = hakaru_report::workload_words(&row.workload);
    if row.repeat >= CampaignPoint::TRACED {
        return both!(
            "{name}, {}, {workload}, traced run",
            "{name}、{}、{workload}、トレースした測定";
            row.layer
        );
    }
    let number = row.repeat % RECHECK + 1;
    match is_recheck(row.repeat) {
        true => both!(
            "{name}, {}, {workload}, recheck {number}",
            "{name}、{}、{workload}、再測定{number}回目";
            row.layer
        ),
        false => both!(
            "{name}, {}, {workload}, repeat {number}",
            "{name}、{}、{workload}、{number}回目";
            row.layer
        ),
    }
}

/// Lists a run that did not complete.
fn fail(summary: &mut CampaignSummary, row: &PointRow, store: &Store) -> Result<(), FindError> {
    let (run, point) = (row.run.clone(), point_words(row));
    let (list, because) = match row.outcome {
        OutcomeKind::Failed if summary.failed.len() < NAMED_FAILURES => match store.run(&row.run) {
            Ok(record) => {
                let because = hakaru_report::text::failed_run(&record);
                let outcome = || format!("{:?}", record.outcome);
                (&mut summary.failed, because.unwrap_or_else(outcome))
            }
            Err(error) if error.is_unreadable() => (&mut summary.unreadable, error.to_string()),
            Err(error) => return Err(error),
        },
        OutcomeKind::Interrupted => (&mut summary.failed, both!("it was stopped", "途中で停止")),
        _ => (&mut summary.failed, both!("it failed", "失敗")),
    };
    list.push(FailedRun {
        run,
        point,
        because,
    });
    Ok(())
}

/// Number of runs of the plan. Each further host that has begun a card measures it as often.
fn planned(campaign: &Campaign, cards: &[CardMeasurements]) -> u64 {
    let mut hosts: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for card in cards {
        hosts.entry(&card.name).or_default().insert(&card.host);
    }
    let further = hosts.iter().map(|(card, hosts)| {
        let hosts = hosts.len() as u64;
        campaign.cells_of(card).saturating_mul(hosts - 1)
    });
    further.fold(campaign.cells(), u64::saturating_add)
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
        ..CampaignSummary::default()
    }
}

/// Whether the caches of the host could not be dropped before some runs.
fn kept_caches(summary: &CampaignSummary) -> bool {
    let layers = summary.cards.iter().flat_map(|card| &card.layers);
    let mut caveats = layers.flat_map(|layer| &layer.summary.caveats);
    let path = CacheOf::Host;
    caveats.any(|caveat| matches!(caveat, Caveat::NotInvalidated { path: of, .. } if *of == path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::testing::campaign;

    /// Regression: a campaign on two hosts was reported as "180 of 90 runs", and as complete when one host had not ended.
    #[test]
    fn each_host_that_measures_a_card_carries_out_the_plan() {
        let campaign = campaign("repeats = 2");
        let names: Vec<String> = campaign
            .cards
            .iter()
            .map(|card| card.label.clone())
            .collect();
        let card = |name: &str, host: &str| {
            CardMeasurements::new(&campaign, name, name.to_owned(), name, host)
        };
        let once: Vec<CardMeasurements> = names.iter().map(|name| card(name, "a")).collect();
        assert_eq!(planned(&campaign, &[]), campaign.cells());
        assert_eq!(planned(&campaign, &once), campaign.cells());
        // A card that is measured on one host only is planned once, whatever the host.
        let mut both = once.clone();
        both.push(card(&names[0], "b"));
        let more = campaign.cells_of(&names[0]);
        assert_eq!(planned(&campaign, &both), campaign.cells() + more);
        let twice: Vec<_> = names
            .iter()
            .map(|name| card(name, "b"))
            .chain(once)
            .collect();
        assert_eq!(planned(&campaign, &twice), 2 * campaign.cells());
    }
}
