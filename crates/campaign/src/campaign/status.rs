//! Describes the progress of a campaign: completed layers of each card, and remaining work.

use super::estimate::{self, words};
use super::journal::{CampaignProgress, PointKey};
use super::matrix::Point;
use super::spec::Campaign;
use hakaru_store::{FindError, OutcomeKind, Store};
use std::fmt::Write;
use std::time::Duration;

/// Returns the progress of a campaign on this host as text.
///
/// # Errors
/// [`FindError`] if the database cannot be read.
pub fn status(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
) -> Result<String, FindError> {
    let mut out = format!("{} (stored as {})\n", campaign.name, campaign.id);
    let lines = lines(campaign, journal, store)?;
    let open: u64 = lines
        .iter()
        .flat_map(|line| &line.cells)
        .flatten()
        .map(|(_, open)| *open)
        .sum();
    let open = open + open_rechecks(campaign, journal, store, open == 0)?;
    let done = journal.done_of(campaign);
    let _ = write!(out, "{} stored, ", runs(done));
    if open == 0 {
        out.push_str("complete.\n");
    } else {
        let at_most = if matches!(campaign.repeats, super::file::RepeatRule::Until(_)) {
            "at most "
        } else {
            ""
        };
        let left = Duration::try_from_secs_f64(estimate::left(campaign, journal, |_| None))
            .unwrap_or_default();
        let _ = writeln!(out, "{at_most}{open} left: about {}.", words(left));
    }
    out.push('\n');
    table(&mut out, campaign, &lines);
    let others: Vec<_> = store
        .points(&campaign.id)?
        .into_iter()
        .filter(|p| p.outcome != OutcomeKind::Completed)
        .collect();
    if !others.is_empty() {
        let _ = writeln!(
            out,
            "\n{} did not finish and do not count.",
            runs(others.len() as u64)
        );
    }
    if journal.other() > 0 {
        let what = runs(journal.other());
        let _ = writeln!(
            out,
            "\n{what} do not count: they were measured with different settings."
        );
    }
    Ok(out)
}

/// Returns the remaining runs of a recheck; the maximum until the campaign itself is done.
fn open_rechecks(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
    done: bool,
) -> Result<u64, FindError> {
    let points = campaign.recheck_points();
    let key = campaign.rechecked().and_then(|(card, _)| {
        journal
            .key_of(&campaign.cards[card].label)
            .map(str::to_owned)
    });
    let Some(key) = key.filter(|_| done) else {
        return Ok((points.len() as u64).saturating_sub(journal.rechecked(campaign)));
    };
    let mut open = 0;
    for point in points {
        let layer = campaign.layers[point.layer].name.clone();
        let cell = PointKey {
            card: key.clone(),
            layer,
            workload: campaign.workloads[point.workload].name.clone(),
        };
        open += u64::from(journal.is_open(campaign.repeats, &cell, &point, store)?);
    }
    Ok(open)
}

fn runs(count: u64) -> String {
    if count == 1 {
        "1 run".to_owned()
    } else {
        format!("{count} runs")
    }
}

/// One card: its ID, and the stored and open runs of each layer.
struct CardStatus {
    label: String,
    key: Option<String>,
    cells: Vec<Option<(u64, u64)>>,
}

fn lines(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
) -> Result<Vec<CardStatus>, FindError> {
    let mut lines = Vec::new();
    for card in campaign.wanted_cards() {
        let label = campaign.cards[card].label.clone();
        let key = journal.key_of(&label).map(str::to_owned);
        let mut cells = Vec::new();
        for layer in 0..campaign.layers.len() {
            let suits = campaign.layers_of(card).any(|suiting| suiting == layer);
            let counted =
                suits.then(|| counted(campaign, journal, store, (card, layer), key.as_deref()));
            cells.push(counted.transpose()?);
        }
        lines.push(CardStatus { label, key, cells });
    }
    Ok(lines)
}

/// Returns the stored and open runs of a card through a layer.
fn counted(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
    (card, layer): (usize, usize),
    key: Option<&str>,
) -> Result<(u64, u64), FindError> {
    let (mut done, mut open) = (0, 0);
    let most = campaign.repeats.most();
    for workload in campaign.wanted_workloads() {
        let Some(key) = key else {
            open += u64::from(most);
            continue;
        };
        let of = &campaign.workloads[workload];
        let stored = journal.repeats(key, &campaign.layers[layer], of);
        done += u64::from(stored);
        let cell = PointKey {
            card: key.to_owned(),
            layer: campaign.layers[layer].name.clone(),
            workload: of.name.clone(),
        };
        // The repeat after the last one is open unless the mean is known precisely enough.
        let next = Point {
            card,
            layer,
            workload,
            repeat: most,
        };
        if stored < most && journal.is_open(campaign.repeats, &cell, &next, store)? {
            open += u64::from(most - stored);
        }
    }
    Ok((done, open))
}

fn table(out: &mut String, campaign: &Campaign, lines: &[CardStatus]) {
    let text = |cell: &Option<(u64, u64)>| {
        cell.map_or("–".to_owned(), |(done, open)| {
            format!("{done}/{}", done + open)
        })
    };
    let label = lines
        .iter()
        .map(|line| line.label.chars().count())
        .max()
        .unwrap_or(0);
    let wanted: Vec<usize> = (0..campaign.layers.len())
        .filter(|&layer| lines.iter().any(|line| line.cells[layer].is_some()))
        .collect();
    let width = |layer: usize| {
        let cells = lines
            .iter()
            .map(|line| text(&line.cells[layer]).chars().count());
        cells
            .chain([campaign.layers[layer].name.chars().count()])
            .max()
            .unwrap_or(0)
    };
    let heads: String = wanted
        .iter()
        .map(|&layer| format!("  {:>1$}", campaign.layers[layer].name, width(layer)))
        .collect();
    let _ = writeln!(out, "  {:label$}{heads}", "");
    for line in lines {
        let cells: String = wanted
            .iter()
            .map(|&layer| format!("  {:>1$}", text(&line.cells[layer]), width(layer)))
            .collect();
        let key = match &line.key {
            Some(key) if *key == line.label => String::new(),
            Some(key) => format!("  {key}"),
            None => "  not measured yet".to_owned(),
        };
        let _ = writeln!(out, "  {:<label$}{cells}{key}", line.label);
    }
}
