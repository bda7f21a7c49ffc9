//! Describes a campaign before it runs: points, time, erased data, missing requirements, and limits of its design.

use super::card_finder::{CardFinder, CardSearch};
use super::estimate::{self, seconds_in_words};
use super::file::{PointOrder, RepeatRule};
use super::journal::CampaignProgress;
use super::prepared_target;
use super::spec::{Campaign, CampaignWorkload, CardLocation, Layer, LayerKind};
use hakaru_device::Roots;
use hakaru_device::guard;
use hakaru_model::campaign::{PlanNote, Weakness};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::{Job, SizeSpec, Target};
use hakaru_model::lint::{LintWarning, Severity};
use hakaru_model::units::Bytes;
use hakaru_report::text::{
    self, PlannedExtent, PlannedJob, PlannedPlace, PlannedRecheck, PlannedRuns, Selected,
    TurnPreparation,
};
use hakaru_report::{columns_of, padded, plain, workload_words, wrapped};
use std::path::PathBuf;

/// Returns the maximum remaining seconds of a campaign, with the sizes of the cards that are present.
pub fn seconds_left(campaign: &Campaign, journal: &CampaignProgress, roots: &Roots) -> f64 {
    let finder = CardFinder {
        campaign,
        journal,
        roots,
    };
    estimate::left(campaign, journal, |card| size_of(&finder, card))
}

/// Returns the size of a card that is present.
fn size_of(finder: &CardFinder<'_>, card: usize) -> Option<Bytes> {
    match finder.look(&finder.campaign.cards[card]) {
        CardSearch::Found(found) => found.disk?.size(finder.roots),
        CardSearch::NotThere(_) => None,
    }
}

/// Describes the requirements of an alternating card order; `None` if cards do not alternate.
fn turns_words(campaign: &Campaign) -> Option<String> {
    let cards = campaign.wanted_cards().count();
    if !campaign.card_order.takes_turns() || cards < 2 {
        return None;
    }
    let is_folder =
        |card: &usize| matches!(campaign.cards[*card].location, CardLocation::Folder(_));
    let shared = campaign.wanted_cards().filter(is_folder).nth(1).is_some();
    let prepared = preparation_in_turns(campaign);
    let order = campaign.card_order.name();
    Some(text::cards_in_turns(order, cards, prepared, shared))
}

/// Returns how often cards that alternate are prepared; `None` if they are not.
fn preparation_in_turns(campaign: &Campaign) -> Option<TurnPreparation> {
    let mut layers = campaign.wanted_layers();
    let several = campaign.wanted_layers().nth(1).is_some();
    if campaign.preparation.each_run_anew() {
        Some(TurnPreparation::EachRun)
    } else if !layers.any(|layer| matches!(campaign.layers[layer].through, LayerKind::Fs(_))) {
        None
    } else if campaign.order == PointOrder::Shuffled && several {
        Some(TurnPreparation::EachLayerChange)
    } else {
        Some(TurnPreparation::OncePerLayer)
    }
}

/// Returns the plan of a campaign as text of lines with at most `width` columns.
pub fn plan(
    campaign: &Campaign,
    journal: &CampaignProgress,
    roots: &Roots,
    width: usize,
) -> String {
    let finder = CardFinder {
        campaign,
        journal,
        roots,
    };
    let mut page = PlanPage::new(campaign, width);
    overview(&mut page, campaign, journal);
    let mut total = 0.0;
    for index in campaign.wanted_cards() {
        total += card_plan(&mut page, &finder, index);
    }
    let mut has_words = false;
    for workload in campaign.wanted_workloads() {
        let workload = &campaign.workloads[workload];
        has_words |= name_of(workload) != plain(&workload.name);
        page.item(&name_of(workload), &planned_jobs(workload));
    }
    if has_words {
        page.paragraph(text::only_explained());
    }
    if let Some(words) = turns_words(campaign) {
        page.paragraph(&words);
    }
    if let Some((seconds, words)) = recheck_plan(&finder) {
        total += seconds;
        page.paragraph(&words);
    }
    page.paragraph(&text::planned_time(&seconds_in_words(total)));
    for note in weaknesses(campaign) {
        page.line("! ", &text::plan_note(&note));
    }
    page.out
}

/// A workload in words with its name in the file, or that name alone.
fn name_of(workload: &CampaignWorkload) -> String {
    let (words, name) = (workload_words(&workload.name), plain(&workload.name));
    match words == name {
        true => name,
        false => format!("{words} ({name})"),
    }
}

/// The text of a plan.
struct PlanPage {
    out: String,
    /// Columns of a line.
    width: usize,
    /// Columns of the names of cards and workloads.
    names: usize,
}

impl PlanPage {
    fn new(campaign: &Campaign, width: usize) -> PlanPage {
        let cards = campaign
            .wanted_cards()
            .map(|card| columns_of(&campaign.cards[card].label));
        let workloads = campaign
            .wanted_workloads()
            .map(|workload| columns_of(&name_of(&campaign.workloads[workload])));
        PlanPage {
            out: String::new(),
            width,
            names: cards.chain(workloads).max().unwrap_or(0),
        }
    }

    fn line(&mut self, lead: &str, text: &str) {
        self.out += &(wrapped(lead, text, self.width) + "\n");
    }

    fn paragraph(&mut self, text: &str) {
        self.out.push('\n');
        self.line("", text);
    }

    /// A text beside its name, or below it where there is little room.
    fn item(&mut self, name: &str, text: &str) {
        if self.names + LEAST_TEXT <= self.width {
            return self.line(&format!("  {}  ", padded(name, self.names)), text);
        }
        if !name.is_empty() {
            self.line("  ", name);
        }
        self.line("    ", text);
    }
}

/// Columns of a text beside a name, with the blanks around the name.
const LEAST_TEXT: usize = 30;

/// Describes the name, size and progress of a campaign.
fn overview(page: &mut PlanPage, campaign: &Campaign, journal: &CampaignProgress) {
    page.line("", &text::campaign_title(&campaign.name, &campaign.id));
    if !campaign.about.is_empty() {
        page.line("", &campaign.about);
    }
    let selected = |chosen: usize, all: usize| Selected {
        chosen: chosen as u64,
        all: all as u64,
    };
    page.paragraph(&text::planned_extent(&PlannedExtent {
        cards: selected(campaign.wanted_cards().count(), campaign.cards.len()),
        layers: selected(campaign.wanted_layers().count(), campaign.layers.len()),
        workloads: selected(
            campaign.wanted_workloads().count(),
            campaign.workloads.len(),
        ),
        repeats: campaign.repeats.method(),
    }));
    let runs = PlannedRuns {
        most: campaign.count(),
        done: journal.done_of(campaign),
    };
    page.line("", &text::planned_runs(runs));
    if journal.other() > 0 {
        page.line("", &text::runs_with_other_settings(journal.other()));
    }
    page.out.push('\n');
}

/// Returns the seconds and the description of the recheck, if there is one.
fn recheck_plan(finder: &CardFinder<'_>) -> Option<(f64, String)> {
    let campaign = finder.campaign;
    let (card, layer) = campaign.rechecked()?;
    let size_of = |card: usize| size_of(finder, card);
    let seconds = estimate::recheck_seconds(campaign, finder.journal, size_of);
    let words = text::planned_recheck(&PlannedRecheck {
        card: &campaign.cards[card].label,
        layer: &campaign.layers[layer].name,
        points: campaign.recheck_points().len() as u64,
        time: &seconds_in_words(seconds),
        writes: estimate::recheck_bytes(campaign, size_of(card)),
        by_hand: matches!(campaign.cards[card].location, CardLocation::Reader { .. }),
    });
    Some((seconds, words))
}

/// Writes the plan of one card: location, layers, time, lost data. Returns its seconds.
fn card_plan(page: &mut PlanPage, finder: &CardFinder<'_>, index: usize) -> f64 {
    let campaign = finder.campaign;
    let card = &campaign.cards[index];
    let (size, node) = present(finder, index);
    let layers: Vec<&str> = campaign
        .layers_of(index)
        .map(|layer| campaign.layers[layer].name.as_str())
        .collect();
    let seconds = estimate::card_seconds(campaign, index, finder.journal, size);
    let shown = node.as_ref().map(|node| node.display().to_string());
    let place = match (&card.location, finder.look(card), &shown) {
        (CardLocation::Sim(_), ..) => PlannedPlace::Simulated,
        (CardLocation::Folder(folder), CardSearch::Found(_), _) => {
            PlannedPlace::Directory(folder.display().to_string())
        }
        (_, CardSearch::Found(_), node) => {
            PlannedPlace::Device(node.as_deref().unwrap_or_default(), size)
        }
        (_, CardSearch::NotThere(why), _) => PlannedPlace::Absent(why),
    };
    let time = seconds_in_words(seconds);
    page.item(&card.label, &text::planned_card(&place, &layers, &time));
    if campaign.erases(index) {
        page.item("", &losses(node.as_deref()));
    }
    seconds
}

/// Returns the size and the node of a card in a reader that is present, as far as they are known.
fn present(finder: &CardFinder<'_>, index: usize) -> (Option<Bytes>, Option<PathBuf>) {
    let card = &finder.campaign.cards[index];
    match (&card.location, finder.look(card)) {
        (CardLocation::Reader { .. }, CardSearch::Found(found)) => {
            let node = found.disk.map(|disk| disk.node).unwrap_or_default();
            let candidate = guard::passive(&node, finder.roots).ok();
            let device = candidate.and_then(|c| c.identity().device.known().cloned());
            (device.map(|device| device.size), Some(node))
        }
        _ => (None, None),
    }
}

/// Describes the content of a card that will be erased.
fn losses(node: Option<&std::path::Path>) -> String {
    let found = node.map(guard::what_would_be_lost);
    let found = found.map(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>());
    text::planned_erasure(found.as_deref())
}

/// Describes the jobs of a workload.
pub(super) fn planned_jobs(workload: &CampaignWorkload) -> String {
    let jobs: Vec<String> = workload.jobs().map(planned_job).collect();
    jobs.join("; ")
}

/// Describes a job: `sequential write, 1 MiB, 60 s after 2 s, on 16 GiB`.
fn planned_job(job: &Job) -> String {
    let timing = &job.timing;
    let block = job.blocks_used().map(|b| b.max()).max();
    text::planned_job(&PlannedJob {
        random: job.access.random,
        mix: (job.access.mix.read, job.access.mix.write),
        block: block.unwrap_or(Bytes(0)),
        numjobs: job.numjobs,
        runtime: timing.runtime.map(|time| (time, !timing.time_based)),
        ramp: Some(timing.ramp_time).filter(|ramp| ramp.0 > 0),
        size: match job.extent.size {
            Some(SizeSpec::Bytes(size)) => Some(size),
            _ => None,
        },
        own_files: matches!(job.target, Target::Formatted { .. }),
        ioengine: job.ioengine.name(),
        iodepth: job.queue.iodepth,
        direct: job.files.direct,
    })
}

/// Returns missing requirements, and what the design cannot prove.
pub fn weaknesses(campaign: &Campaign) -> Vec<PlanNote> {
    let mut all = Vec::new();
    let erases = campaign.wanted_cards().any(|card| campaign.erases(card));
    if (erases || campaign.preparation.drop_caches) && !rustix::process::geteuid().is_root() {
        all.push(PlanNote::NeedsRoot);
    }
    for layer in campaign.wanted_layers() {
        all.extend(unavailable(&campaign.layers[layer]));
    }
    let real = campaign
        .wanted_cards()
        .filter(|&card| !matches!(campaign.cards[card].location, CardLocation::Sim(_)))
        .count();
    if real > 1 && !campaign.card_order.takes_turns() && !campaign.recheck {
        all.push(PlanNote::Weakness(Weakness::CardsInSequence));
    }
    if let RepeatRule::Times(runs @ 1..=4) = campaign.repeats {
        all.push(PlanNote::Caveat(Caveat::FewRuns { runs }));
    }
    let workloads = campaign.wanted_workloads();
    all.extend(mistakes(
        workloads.map(|workload| &campaign.workloads[workload]),
    ));
    all
}

/// Returns what a layer lacks on this host.
fn unavailable(layer: &Layer) -> Vec<PlanNote> {
    let LayerKind::Fs(spec) = &layer.through else {
        return Vec::new();
    };
    let lacking = prepared_target::lacking(spec, &Roots::live()).into_iter();
    let note = |because| PlanNote::Unavailable {
        layer: layer.name.clone(),
        because,
    };
    lacking.map(note).collect()
}

/// Returns the mistakes in the jobs of workloads, each with all workloads that have it.
fn mistakes<'a>(workloads: impl Iterator<Item = &'a CampaignWorkload>) -> Vec<PlanNote> {
    let mut all: Vec<(LintWarning, Vec<String>)> = Vec::new();
    for workload in workloads {
        let found = hakaru_analysis::lint(&workload.scenario, None);
        let warnings = found.into_iter().map(|remark| remark.slip);
        for warning in warnings.filter(|warning| warning.weight() >= Severity::Weak) {
            let name = workload.name.clone();
            match all.iter_mut().find(|(known, _)| *known == warning) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => all.push((warning, vec![name])),
            }
        }
    }
    let note = |(warning, workloads)| PlanNote::Lint { workloads, warning };
    all.into_iter().map(note).collect()
}
