//! Estimates the duration of a campaign from its settings and from the times of earlier runs.

use super::file::PointOrder;
use super::journal::{CampaignProgress, PointKey};
use super::matrix::Point;
use super::spec::{Campaign, CampaignWorkload, CardLocation, Layer, LayerKind};
use hakaru_model::job::{Job, SizeSpec};
use hakaru_model::units::Bytes;
use hakaru_report::both;
use std::time::Duration;

/// Assumed sequential speed of an unmeasured card in bytes per second, between slow and fast cards.
const SEQUENTIAL: f64 = 20e6;
/// Assumed random speed in bytes per second.
const RANDOM: f64 = 2e6;
/// Seconds to create and mount a file system.
const MKFS: f64 = 8.0;
/// Assumed size of a card that has not been found yet.
const CARD: Bytes = Bytes(32_000_000_000);

/// Returns the seconds of one run, including its cool-down.
pub(super) fn run_seconds(campaign: &Campaign, point: &Point, journal: &CampaignProgress) -> f64 {
    let workload = &campaign.workloads[point.workload];
    if let Some(seconds) = journal.pace(&workload.name) {
        return seconds;
    }
    if let CardLocation::Sim(_) = campaign.cards[point.card].location {
        return 0.0;
    }
    let phases = workload
        .scenario
        .phases
        .iter()
        .map(|phase| phase.jobs.iter().map(job_seconds).fold(0.0, f64::max));
    phases.sum::<f64>() + campaign.cool_down.as_secs_f64()
}

/// Returns the assumed speed of a job on an unmeasured card, in bytes per second.
fn assumed_speed(job: &Job) -> f64 {
    if job.access.random {
        RANDOM
    } else {
        SEQUENTIAL
    }
}

/// Returns the seconds of a job.
fn job_seconds(job: &Job) -> f64 {
    let bounded = job.timing.runtime.map(|runtime| runtime.as_secs_f64());
    let lead = job.timing.startdelay.as_secs_f64() + job.timing.ramp_time.as_secs_f64();
    let speed = assumed_speed(job);
    let size = match job.extent.io_size.or(job.extent.size) {
        Some(SizeSpec::Bytes(size)) => Some(size.0),
        _ => None,
    };
    let amount = size.map(|size| {
        size as f64 * f64::from(job.numjobs) * f64::from(job.extent.loops.max(1)) / speed
    });
    lead + match (bounded, amount) {
        (Some(runtime), _) if job.timing.time_based => runtime,
        (Some(runtime), Some(amount)) => runtime.min(amount),
        (runtime, amount) => runtime.or(amount).unwrap_or(60.0),
    }
}

/// Returns the seconds to prepare a card for a group of runs through one layer; `first` for the first preparation of
/// the card.
pub(super) fn preparation_seconds(
    campaign: &Campaign,
    card: usize,
    layer: usize,
    first: bool,
    size: Option<Bytes>,
) -> f64 {
    if !matches!(campaign.cards[card].location, CardLocation::Reader { .. }) {
        return 0.0;
    }
    let preparation = &campaign.preparation;
    let whole = first || preparation.each != super::file::PrepareScope::Card;
    let size = size.unwrap_or(CARD).0 as f64;
    let passes = f64::from(preparation.fill_passes);
    let filled = preparation
        .fill
        .filter(|_| whole)
        .map_or(0.0, |_| size * passes);
    let layer = &campaign.layers[layer];
    let LayerKind::Fs(_) = layer.through else {
        return filled / SEQUENTIAL;
    };
    let level = preparation.fill_level.map_or(0.0, |share| share.0 * size);
    MKFS + (filled + level + largest_file(campaign, layer)) / SEQUENTIAL
}

/// Returns the bytes of the largest file of the workloads, which is laid out once.
fn largest_file(campaign: &Campaign, layer: &Layer) -> f64 {
    let jobs = campaign.workloads.iter().flat_map(CampaignWorkload::jobs);
    let sizes = jobs.filter_map(|job| match job.extent.size {
        Some(SizeSpec::Bytes(size)) => Some(size.0.min(layer.size.unwrap_or(size).0)),
        _ => None,
    });
    sizes.max().unwrap_or(0) as f64
}

/// Returns the bytes that fills write for a group of runs through one layer; `whole` if the whole card is prepared.
/// Zero if the size of the card is unknown.
pub(super) fn preparation_bytes(
    campaign: &Campaign,
    layer: usize,
    whole: bool,
    size: Option<Bytes>,
) -> Bytes {
    let Some(size) = size else { return Bytes(0) };
    let fill = if whole && campaign.preparation.fill.is_some() {
        let passes = u64::from(campaign.preparation.fill_passes);
        size.0.saturating_mul(passes)
    } else {
        0
    };
    let level = match (
        &campaign.layers[layer].through,
        campaign.preparation.fill_level,
    ) {
        (LayerKind::Fs(_), Some(share)) => (share.0 * size.0 as f64) as u64,
        _ => 0,
    };
    Bytes(fill.saturating_add(level))
}

/// Returns the maximum remaining seconds of a campaign, including preparations; `size_of` returns the size of a card
/// by its index, if known.
pub(super) fn left(
    campaign: &Campaign,
    journal: &CampaignProgress,
    size_of: impl Fn(usize) -> Option<Bytes>,
) -> f64 {
    let cards: f64 = campaign
        .wanted_cards()
        .map(|card| card_seconds(campaign, card, journal, size_of(card)))
        .sum();
    cards + recheck_seconds(campaign, journal, size_of)
}

/// Returns the remaining seconds of the recheck of the first card.
pub(super) fn recheck_seconds(
    campaign: &Campaign,
    journal: &CampaignProgress,
    size_of: impl Fn(usize) -> Option<Bytes>,
) -> f64 {
    let Some((card, layer)) = campaign.rechecked() else {
        return 0.0;
    };
    let points = campaign.recheck_points();
    let left = (points.len() as u64).saturating_sub(journal.rechecked(campaign));
    if left == 0 {
        return 0.0;
    }
    let runs: f64 = points
        .iter()
        .map(|point| run_seconds(campaign, point, journal))
        .sum();
    let preparation = preparation_seconds(campaign, card, layer, true, size_of(card));
    let preparations = if campaign.preparation.each_run_anew() {
        left as f64
    } else {
        1.0
    };
    runs * left as f64 / points.len() as f64 + preparations * preparation
}

/// Returns the maximum bytes that the recheck writes, from the workloads; for time-based ones, from the assumed speed
/// of a card.
pub(super) fn recheck_bytes(campaign: &Campaign, size: Option<Bytes>) -> Bytes {
    let Some((_, layer)) = campaign.rechecked() else {
        return Bytes(0);
    };
    let written = |job: &Job| {
        let share = f64::from(100 - job.access.mix.read) / 100.0;
        job_seconds(job) * assumed_speed(job) * share
    };
    let jobs = campaign
        .wanted_workloads()
        .flat_map(|w| campaign.workloads[w].jobs());
    let once: f64 = jobs.map(written).sum();
    let preparations = match campaign.preparation.each_run_anew() {
        true => campaign.recheck_points().len() as u64,
        false => 1,
    };
    let fill = preparation_bytes(campaign, layer, true, size).0;
    let fills = fill.saturating_mul(preparations);
    Bytes(fills.saturating_add(
        (once * f64::from(campaign.repeats.most() + u32::from(campaign.trace.is_some()))) as u64,
    ))
}

/// Returns the maximum remaining seconds of one card; `size` is its size, if known.
pub(super) fn card_seconds(
    campaign: &Campaign,
    card: usize,
    journal: &CampaignProgress,
    size: Option<Bytes>,
) -> f64 {
    let key = journal.key_of(&campaign.cards[card].label);
    let mut seconds = 0.0;
    let mut first = key.is_none_or(|key| !journal.knows(key));
    let layers = campaign.layers_of(card).count();
    for layer in campaign.layers_of(card) {
        let (runs, measuring) = open_runs(campaign, journal, (card, layer), key);
        seconds += measuring;
        let times = preparations(campaign, runs, layers);
        if times > 0.0 {
            let preparation = |first| preparation_seconds(campaign, card, layer, first, size);
            seconds += preparation(first) + (times - 1.0) * preparation(false);
            first = false;
        }
    }
    seconds
}

/// Returns the maximum number of open runs of a card through a layer, and their seconds.
fn open_runs(
    campaign: &Campaign,
    journal: &CampaignProgress,
    (card, layer): (usize, usize),
    key: Option<&str>,
) -> (u32, f64) {
    let (mut runs, mut seconds) = (0, 0.0);
    for workload in campaign.wanted_workloads() {
        let cell = key.map(|key| PointKey::of(campaign, key, layer, workload));
        let stored = cell.as_ref().map_or(0, |cell| journal.repeats(cell));
        let is_traced = cell.is_some_and(|cell| journal.has_trace(&cell));
        let traced = u32::from(campaign.trace.is_some() && !is_traced);
        let open = campaign.repeats.most().saturating_sub(stored) + traced;
        let point = Point {
            card,
            layer,
            workload,
            repeat: 0,
        };
        runs += open;
        seconds += f64::from(open) * run_seconds(campaign, &point, journal);
    }
    (runs, seconds)
}

/// Returns how often a layer is prepared for a number of runs.
fn preparations(campaign: &Campaign, runs: u32, layers: usize) -> f64 {
    match (runs, campaign.preparation.each_run_anew(), campaign.order) {
        (0, ..) => 0.0,
        (_, true, _) => f64::from(runs),
        // With n layers, the previous run used a different layer with probability 1 - 1/n.
        (_, _, PointOrder::Shuffled) if layers > 1 => {
            (f64::from(runs) * (1.0 - 1.0 / layers as f64)).max(1.0)
        }
        _ => 1.0,
    }
}

/// Formats a duration with the precision of an estimate: `2 h 05 min`, `3 min 20 s`, `12 s`.
pub fn words(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0..60 => both!("{s} s", "{s}秒"),
        60..3600 => both!("{} min {:02} s", "{}分{:02}秒"; s / 60, s % 60),
        3600..172_800 => both!("{} h {:02} min", "{}時間{:02}分"; s / 3600, s % 3600 / 60),
        _ => both!("{} d {} h", "{}日{}時間"; s / 86_400, s % 86_400 / 3600),
    }
}

/// Formats a number of seconds like [`words`].
pub(super) fn seconds_in_words(seconds: f64) -> String {
    words(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}
