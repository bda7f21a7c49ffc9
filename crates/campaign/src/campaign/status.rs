//! Describes the progress of a campaign: completed layers of each card, and remaining work.

use super::estimate::{self, seconds_in_words};
use super::file::RepeatRule;
use super::journal::{CampaignProgress, PointKey};
use super::matrix::Point;
use super::spec::Campaign;
use hakaru_report::text::{self, StoredRuns};
use hakaru_report::{columns_of, padded};
use hakaru_store::{FindError, OutcomeKind, Store};
use std::fmt::Write;

/// Returns the progress of a campaign on this host as text.
///
/// # Errors
/// [`FindError`] if the database cannot be read.
pub fn status(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
) -> Result<String, FindError> {
    let mut out = text::campaign_title(&campaign.name, &campaign.id) + "\n";
    let lines = lines(campaign, journal, store)?;
    let cells = lines.iter().flat_map(|line| &line.cells).flatten();
    let open: u64 = cells.map(|(_, open)| *open).sum();
    let open = open + open_rechecks(campaign, journal, store, open == 0)?;
    let left = match open {
        0 => String::new(),
        _ => seconds_in_words(estimate::left(campaign, journal, |_| None)),
    };
    let runs = StoredRuns {
        stored: journal.done_of(campaign),
        open,
        may_end_early: !matches!(campaign.repeats, RepeatRule::Times(_)),
    };
    out += &(text::progress_of_campaign(runs, &left) + "\n");
    out.push('\n');
    table(&mut out, campaign, &lines);
    out.push_str(&not_counted(campaign, journal, store)?);
    Ok(out)
}

/// Stored and open runs of a card through a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerProgress {
    /// Label of the card.
    pub card: String,
    /// Name of the layer.
    pub layer: String,
    /// Runs that count.
    pub stored: u64,
    /// Maximum number of runs still to be measured.
    pub open: u64,
}

/// Returns the progress of each card through each layer that suits it.
///
/// # Errors
/// [`FindError`] if the database cannot be read.
pub fn progress(
    campaign: &Campaign,
    journal: &mut CampaignProgress,
    store: &Store,
) -> Result<Vec<LayerProgress>, FindError> {
    let mut progress = Vec::new();
    for line in lines(campaign, journal, store)? {
        let cells = campaign.layers.iter().zip(&line.cells);
        progress.extend(cells.filter_map(|(layer, cell)| {
            let (stored, open) = (*cell)?;
            Some(LayerProgress {
                card: line.label.clone(),
                layer: layer.name.clone(),
                stored,
                open,
            })
        }));
    }
    Ok(progress)
}

/// Describes the stored runs that do not count; empty if there are none.
fn not_counted(
    campaign: &Campaign,
    journal: &CampaignProgress,
    store: &Store,
) -> Result<String, FindError> {
    let points = store.points(&campaign.id)?;
    let unfinished = points
        .iter()
        .filter(|p| p.outcome != OutcomeKind::Completed);
    let unfinished = unfinished.count() as u64;
    let mut lines = String::new();
    if unfinished > 0 {
        lines += &format!("\n{}\n", text::unfinished_runs(unfinished));
    }
    if journal.other() > 0 {
        lines += &format!("\n{}\n", text::runs_with_other_settings(journal.other()));
    }
    Ok(lines)
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
        open += u64::from(journal.is_open(campaign, &key, &point, store)?);
    }
    Ok(open)
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
            let cell =
                suits.then(|| runs_of(campaign, journal, store, (card, layer), key.as_deref()));
            cells.push(cell.transpose()?);
        }
        lines.push(CardStatus { label, key, cells });
    }
    Ok(lines)
}

/// Returns the stored and open runs of a card through a layer.
fn runs_of(
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
            open += u64::from(most) + u64::from(campaign.trace.is_some());
            continue;
        };
        let cell = PointKey::of(campaign, key, layer, workload);
        let stored = journal.repeats(&cell);
        done += u64::from(stored);
        if campaign.trace.is_some() {
            let traced = u64::from(journal.has_trace(&cell));
            (done, open) = (done + traced, open + 1 - traced);
        }
        // The repeat after the last one is open unless the mean is known precisely enough.
        let next = Point {
            card,
            layer,
            workload,
            repeat: most,
        };
        if stored < most && journal.is_open(campaign, key, &next, store)? {
            open += u64::from(most - stored);
        }
    }
    Ok((done, open))
}

impl CardStatus {
    /// Formats the runs of a layer as done and total; a dash for layers that do not suit the card.
    fn cell(&self, layer: usize) -> String {
        self.cells[layer].map_or("–".to_owned(), |(done, open)| {
            format!("{done}/{}", done + open)
        })
    }

    /// Formats the ID of the card, unless it is the label.
    fn key(&self) -> String {
        match &self.key {
            Some(key) if *key == self.label => String::new(),
            Some(key) => format!("  {key}"),
            None => format!("  {}", text::not_measured_yet()),
        }
    }
}

fn table(out: &mut String, campaign: &Campaign, lines: &[CardStatus]) {
    let widest = |texts: &mut dyn Iterator<Item = String>| {
        texts.map(|text| columns_of(&text)).max().unwrap_or(0)
    };
    let label = widest(&mut lines.iter().map(|line| line.label.clone()));
    let columns: Vec<(usize, usize)> = (0..campaign.layers.len())
        .filter(|&layer| lines.iter().any(|line| line.cells[layer].is_some()))
        .map(|layer| {
            let cells = lines.iter().map(|line| line.cell(layer));
            let head = campaign.layers[layer].name.clone();
            (layer, widest(&mut cells.chain([head])))
        })
        .collect();
    let row = |text: &dyn Fn(usize) -> String| -> String {
        let cells = columns.iter();
        cells
            .map(|&(layer, width)| {
                let cell = text(layer);
                let blanks = width.saturating_sub(columns_of(&cell));
                format!("  {:blanks$}{cell}", "")
            })
            .collect()
    };
    let heads = row(&|layer| campaign.layers[layer].name.clone());
    let _ = writeln!(out, "  {:label$}{heads}", "");
    for line in lines {
        let cells = row(&|layer| line.cell(layer));
        let _ = writeln!(out, "  {}{cells}{}", padded(&line.label, label), line.key());
    }
}
