//! The runs, verifications and anatomies of one card.

use crate::not_there;
use crate::sides::{ResultSource, number_jobs};
use anyhow::{Result, bail};
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::facts::Identity;
use hakaru_model::integrity::Verification;
use hakaru_model::job::Op;
use hakaru_model::record::{Latency, RunRecord};
use hakaru_store::{RunTerm, Store};
use std::collections::BTreeSet;

/// Most cards that an error names.
const MOST_NAMED: usize = 10;

/// Whether a name means this identity: one of its IDs, its label, its model, or its display name.
fn is_called(identity: &Identity, name: &str) -> bool {
    let model = identity
        .device
        .known()
        .and_then(|device| device.model.known());
    let names = identity.ids().into_iter().map(str::to_owned);
    let mut names = names
        .chain(identity.label.clone())
        .chain(model.cloned())
        .chain([identity.display_name()]);
    // Pages join a number and its unit by a no-break space, also in a name that is copied from there.
    let name = name.replace('\u{a0}', " ");
    names.any(|known| known.eq_ignore_ascii_case(&name))
}

/// Returns the runs, verifications and anatomies of the card with this name, and of all others with one of its IDs, runs
/// oldest first.
///
/// # Errors
/// If no card or several cards have the name, or the database cannot be read.
pub fn of_card(
    source: &mut ResultSource<'_>,
    name: &str,
    verifications: Vec<Verification>,
    anatomies: Vec<AnatomyRecord>,
) -> Result<CardResults> {
    let all = CardResults {
        records: source.chosen(&[])?,
        verifications,
        anatomies,
        left_out: 0,
    };
    select_card(all, name)
}

/// Returns those of these results that are of the card with this name, runs oldest first.
fn select_card(all: CardResults, name: &str) -> Result<CardResults> {
    let CardResults {
        mut records,
        mut verifications,
        mut anatomies,
        left_out,
    } = all;
    let targets = || {
        let of_runs = records.iter().map(|record| &record.target);
        of_runs
            .chain(
                verifications
                    .iter()
                    .map(|verification| &verification.target),
            )
            .chain(anatomies.iter().map(|anatomy| &anatomy.target))
    };
    let called: Vec<&Identity> = targets().filter(|target| is_called(target, name)).collect();
    if called.is_empty() {
        let known: BTreeSet<String> = targets().map(Identity::display_name).collect();
        let more = known.len() > MOST_NAMED;
        let mut known: Vec<String> = known.into_iter().take(MOST_NAMED).collect();
        known.extend(more.then(|| "…".to_owned()));
        return Err(not_there(match known.is_empty() {
            true => both!(
                "no results are stored yet; help: create one with `hakaru bench`",
                "結果がまだ保存されていません; help: hakaru benchで測定してください"
            ),
            false => unknown_card(name, &known),
        }));
    }
    // A label may have been given to several cards: each is named by an ID then.
    let firsts: BTreeSet<&str> = called
        .iter()
        .filter_map(|target| target.ids().first().copied())
        .collect();
    if firsts.len() > 1 {
        let ids: Vec<&str> = firsts.into_iter().collect();
        bail!(
            both!("{name} stands for several cards; help: name one of the IDs {}", "{name}に該当するカードが複数あります; help: ID {}のいずれかを指定してください"; ids.join(", "))
        );
    }
    let ids: BTreeSet<String> = called
        .iter()
        .flat_map(|target| target.ids())
        .map(str::to_ascii_lowercase)
        .collect();
    let is_it = |target: &Identity| {
        let own = target.ids();
        match own.is_empty() {
            true => is_called(target, name),
            false => own.iter().any(|id| ids.contains(&id.to_ascii_lowercase())),
        }
    };
    // Records are large: those of other cards are dropped, not the others copied.
    records.retain(|record| is_it(&record.target));
    records.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
    verifications.retain(|of| is_it(&of.target));
    anatomies.retain(|of| is_it(&of.target));
    Ok(CardResults {
        records,
        verifications,
        anatomies,
        left_out,
    })
}

/// The error for a name that no stored card has.
fn unknown_card(name: &str, known: &[String]) -> String {
    both!(
        "no stored card is called {name}; help: name one of {}",
        "{name}というカードは保存されていません; help: {}のいずれかを指定してください";
        known.join(&both!(", ", "、"))
    )
}

/// Results of a card, for its history.
#[derive(Clone, Debug, Default)]
pub struct CardResults {
    /// Runs, oldest first. Those of [`newest_of_card`] are without the distributions of latencies: a history shows rates.
    pub records: Vec<RunRecord>,
    /// Verifications, newest first.
    pub verifications: Vec<Verification>,
    /// Anatomies, newest first.
    pub anatomies: Vec<AnatomyRecord>,
    /// Number of older runs that are left out.
    pub left_out: usize,
}

/// Maximum number of runs of [`newest_of_card`]. A page with more says nothing that it does not say with these.
const MOST_RUNS: usize = 300;

/// Returns the newest runs, the verifications and the anatomies of the card with this name, and of all others with one of its IDs. Unlike
/// [`of_card`], it reads no record of another card.
///
/// # Errors
/// If no card or several cards have the name, or the database cannot be read.
pub fn newest_of_card(store: &Store, name: &str) -> Result<CardResults> {
    let name = name.replace('\u{a0}', " ");
    let verifications = store.verifications(u32::MAX)?.records;
    let anatomies = store.anatomies(u32::MAX)?.records;
    let (named, left_out) = newest(store, std::slice::from_ref(&name))?;
    // Other names of the same card: its runs may have had another label.
    let of_runs = named.iter().map(|record| &record.target);
    let of_verifications = verifications.iter().map(|of| &of.target);
    let of_anatomies = anatomies.iter().map(|of| &of.target);
    let called = of_runs.chain(of_verifications).chain(of_anatomies);
    let called = called.filter(|target| is_called(target, &name));
    let mut names = BTreeSet::from([name.clone()]);
    for target in called {
        let device = target.device.known();
        let facts = device.map(|device| [&device.serial, &device.model]);
        let known = facts.into_iter().flatten().filter_map(|fact| fact.known());
        names.extend(known.cloned());
        names.extend(target.ids().into_iter().map(str::to_owned));
    }
    let (records, left_out) = match names.len() {
        // No other name: these are all.
        1 => (named, left_out),
        _ => {
            drop(named);
            let names: Vec<String> = names.into_iter().collect();
            newest(store, &names)?
        }
    };
    let all = CardResults {
        records,
        verifications,
        anatomies,
        left_out,
    };
    let mut found = select_card(all, &name)?;
    number_jobs(&mut found.records, &mut Vec::new());
    Ok(found)
}

/// Returns the newest readable runs of cards with one of these names, oldest first, and the number of older ones.
fn newest(store: &Store, names: &[String]) -> Result<(Vec<RunRecord>, usize)> {
    let term = |name: &String| -> Result<RunTerm> {
        Ok(RunTerm::Card {
            series: store.series_with_alias(name)?,
            name: name.clone(),
        })
    };
    let terms = names.iter().map(term).collect::<Result<Vec<RunTerm>>>()?;
    let found = store.runs_with(&[terms])?;
    let left_out = found.len().saturating_sub(MOST_RUNS);
    let mut records = Vec::new();
    for id in &found[left_out..] {
        match store.run(id) {
            Ok(mut record) => {
                remove_latencies(&mut record);
                records.push(record);
            }
            Err(error) if error.is_unreadable() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok((records, left_out))
}

/// Removes the distributions of latencies, which are most of a record in memory.
fn remove_latencies(record: &mut RunRecord) {
    let workers = record
        .phases
        .iter_mut()
        .flat_map(|phase| &mut phase.workers);
    for worker in workers {
        forget_distribution(&mut worker.sync);
        for op in Op::ALL {
            let of = &mut worker.ops[op];
            for latency in [&mut of.slat, &mut of.clat, &mut of.lat] {
                forget_distribution(latency);
            }
        }
    }
}

fn forget_distribution(latency: &mut Latency) {
    latency.histogram = None;
    latency.over_time = Vec::new();
}
