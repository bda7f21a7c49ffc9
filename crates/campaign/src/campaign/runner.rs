//! Runs a campaign: card by card or with alternating cards, in groups of runs that share a preparation. Stored runs
//! are not repeated.

use super::card_finder::{CardSearch, FoundCard, PresentDisk};
use super::estimate;
use super::journal::{CampaignProgress, PointKey};
use super::matrix::{Point, RECHECK, stretches};
use super::operator::{CampaignStatus, Operator};
pub use super::outcome::{CampaignError, CampaignOutcome, CampaignResult};
use super::prepared_target::{self, PreparedTarget, StageError, TargetSetup};
use super::retarget::aim;
use super::spec::Campaign;
use crate::session::{RunRequest, SeriesPosition, Session, SessionError, SessionPolicy};
use hakaru_device::Roots;
use hakaru_device::guard::Confirmation;
use hakaru_device::prepare;
use hakaru_engine::{ClockChoice, RunError};
use hakaru_model::campaign::{CampaignPoint, PreparedStep};
use hakaru_model::caveat::{CacheOf, Caveat};
use hakaru_model::job::Scenario;
use hakaru_model::record::{Outcome, Overhead};
use hakaru_model::units::Bytes;
use hakaru_store::{OrphanedRun, Store};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

mod limits;
mod lock;
mod measure;
mod row;
mod turns;

use limits::NextStep;
use lock::lock;

/// Default number of consecutive failed runs after which a card is skipped.
pub const FAILURES: u32 = 3;

/// Parameters of carrying out a campaign.
pub struct CampaignRun<'a> {
    /// The campaign.
    pub campaign: &'a Campaign,
    /// Store of its runs.
    pub store: &'a mut Store,
    /// State directory for preparation journals and mount points, on a disk that is not under test.
    pub state: &'a Path,
    /// Set by another thread to stop the campaign.
    pub stop: &'a AtomicBool,
    /// The user or script that operates the hardware.
    pub hands: &'a mut dyn Operator,
}

/// Carries out a campaign, or continues it.
///
/// # Errors
/// [`CampaignError`] if the campaign cannot continue; runs stored until then are kept.
pub fn run(run: CampaignRun<'_>) -> Result<CampaignResult, CampaignError> {
    let CampaignRun {
        campaign,
        store,
        state,
        stop,
        hands,
    } = run;
    let _lock = lock(state, &campaign.id)?;
    let roots = Roots::live();
    clean_up(store, state, &roots, hands);
    let clock = ClockChoice::best();
    let host = hakaru_device::environment(&roots, clock.name()).hostname;
    let journal = CampaignProgress::read(campaign, store, &host)?;
    let overhead = hakaru_engine::measure_overhead(clock);
    let begun = Instant::now();
    let mut runner = Runner {
        campaign,
        store,
        state,
        stop,
        hands,
        roots,
        clock,
        overhead,
        journal,
        begun,
        stored: 0,
        failures: Vec::new(),
        skipped: Vec::new(),
        sizes: BTreeMap::new(),
        gone: BTreeMap::new(),
        leaves: BTreeMap::new(),
        told_of_caches: false,
        rechecking: false,
        shares: BTreeMap::new(),
    };
    runner.ask_beforehand()?;
    let end = if campaign.card_order.takes_turns() {
        runner.cards_in_turns()?
    } else {
        runner.all_cards()?
    };
    let Runner {
        journal,
        stored,
        failures,
        skipped,
        ..
    } = runner;
    Ok(CampaignResult {
        end,
        stored,
        done: journal.done_of(campaign),
        failures,
        skipped,
    })
}

/// Recovers after a killed run: undoes its preparations, such as mounts, and stores its partial results.
fn clean_up(store: &mut Store, state: &Path, roots: &Roots, hands: &mut dyn Operator) {
    for spool in hakaru_store::left(store.path()) {
        // Spools that cannot be read or stored are left to `recover`, which reports the reason.
        if let Ok(OrphanedRun::Run(record)) = store.keep_cut_short(&spool) {
            let (name, id) = (&record.scenario.name, &record.id);
            let how = if record.outcome == Outcome::Interrupted {
                "cut short"
            } else {
                "finished, but not stored"
            };
            hands.note(&format!(
                "left by an earlier run: {name} was {how}; stored as run {id}"
            ));
        }
    }
    // Preparations that `hakaru prepare` left on purpose stay until the user recovers them.
    for journal in prepare::pending(state)
        .into_iter()
        .filter(|journal| !prepare::is_left(journal))
    {
        // A journal that cannot be read or is in use is left to `recover`.
        let Ok(recovery) = prepare::recover(&journal, roots) else {
            continue;
        };
        recovery
            .items
            .iter()
            .for_each(|item| hands.note(&format!("left by an earlier run: {item}")));
    }
}

/// Outcome of one card.
enum CardOutcome {
    /// Nothing more can be done on it now.
    Done,
    /// It was disconnected.
    Gone,
    Stopped,
    TimeUp,
}

struct Runner<'a> {
    campaign: &'a Campaign,
    store: &'a mut Store,
    state: &'a Path,
    stop: &'a AtomicBool,
    hands: &'a mut dyn Operator,
    roots: Roots,
    clock: &'static ClockChoice,
    overhead: Option<Overhead>,
    journal: CampaignProgress,
    begun: Instant,
    stored: u64,
    failures: Vec<(String, String)>,
    skipped: Vec<(String, String)>,
    /// Sizes of the cards that were found, by index.
    sizes: BTreeMap<usize, Bytes>,
    /// Number of disconnects since the last stored run of each card, by index.
    gone: BTreeMap<usize, u32>,
    /// Replies to the questions before the first run, by index of the card: whether the disk that was present then
    /// may be erased.
    leaves: BTreeMap<usize, (PresentDisk, Option<Confirmation>)>,
    /// Whether the operator was informed that the caches of the host cannot be dropped.
    told_of_caches: bool,
    /// Whether the recheck of the first card is in progress.
    rechecking: bool,
    /// Maximum bytes for files in directories that share a file system, by index of the card.
    shares: BTreeMap<usize, Bytes>,
}

/// State of a card while it is measured.
struct CardInUse {
    index: usize,
    found: FoundCard,
    confirmation: Option<Confirmation>,
    /// Preparation of the whole card; its speed map is kept until a run that records it is stored.
    whole: Vec<PreparedStep>,
    /// Number of consecutive failed runs.
    failed: u32,
}

/// A card that is prepared for runs through a layer.
struct Ready {
    stage: PreparedTarget,
    /// Preparation for this layer; its written bytes are kept until a run that records them is stored.
    since: Vec<PreparedStep>,
}

impl Runner<'_> {
    fn cell(&self, key: &str, point: &Point) -> PointKey {
        PointKey {
            card: key.to_owned(),
            layer: self.campaign.layers[point.layer].name.clone(),
            workload: self.campaign.workloads[point.workload].name.clone(),
        }
    }

    fn open_points(&mut self, card: usize, key: &str) -> Result<Vec<Point>, CampaignError> {
        let mut open = Vec::new();
        let points = if self.rechecking {
            self.campaign.recheck_points()
        } else {
            self.campaign.points_of(card)
        };
        for point in points {
            let cell = self.cell(key, &point);
            if self
                .journal
                .is_open(self.campaign.repeats, &cell, &point, self.store)?
            {
                open.push(point);
            }
        }
        Ok(open)
    }

    fn card(&mut self, index: usize, found: FoundCard) -> Result<CardOutcome, CampaignError> {
        let Some((mut on, points)) = self.admit(index, found)? else {
            return Ok(CardOutcome::Done);
        };
        for stretch in stretches(&points, self.campaign.preparation.each_run_anew()) {
            match self.stretch(&mut on, stretch)? {
                None => {}
                Some(end) => return Ok(end),
            }
            if self.has_failed_too_often(&on) {
                return Ok(CardOutcome::Done);
            }
        }
        Ok(CardOutcome::Done)
    }

    /// Returns the card with its open points; `None` if there are none, or if the card must be skipped.
    fn admit(
        &mut self,
        index: usize,
        found: FoundCard,
    ) -> Result<Option<(CardInUse, Vec<Point>)>, CampaignError> {
        let label = &self.campaign.cards[index].label;
        let points = self.open_points(index, &found.key)?;
        if points.is_empty() {
            return Ok(None);
        }
        if let Some(why) = self.exchanged_below(index, &found.key)? {
            self.skipped.push((label.clone(), why));
            return Ok(None);
        }
        let confirmation = match self.leave_to_erase(index, &found) {
            Ok(confirmation) => confirmation,
            Err(why) => {
                self.skipped.push((label.clone(), why));
                return Ok(None);
            }
        };
        let whole = self.done_to_whole_card(&found.key)?;
        let size = found.disk.as_ref().and_then(|disk| disk.size(&self.roots));
        size.map(|size| self.sizes.insert(index, size));
        Ok(Some((
            CardInUse {
                index,
                found,
                confirmation,
                whole,
                failed: 0,
            },
            points,
        )))
    }

    /// Whether a card has failed too often; it is then recorded as skipped.
    fn has_failed_too_often(&mut self, on: &CardInUse) -> bool {
        let given_up = on.failed >= self.campaign.limits.failures.unwrap_or(FAILURES);
        if given_up {
            let label = self.campaign.cards[on.index].label.clone();
            self.skipped.push((
                label,
                format!("stopped after {} consecutive failures", on.failed),
            ));
        }
        given_up
    }

    fn leave_to_erase(
        &mut self,
        index: usize,
        found: &FoundCard,
    ) -> Result<Option<Confirmation>, String> {
        let Some(disk) = found.disk.as_ref().filter(|_| self.campaign.erases(index)) else {
            return Ok(None);
        };
        let candidate = disk.candidate(&self.roots)?;
        let leave = match self.leaves.get(&index).filter(|(asked, _)| asked == disk) {
            Some((_, leave)) => leave.clone(),
            None => self
                .hands
                .may_erase(&self.campaign.cards[index], &candidate),
        };
        leave
            .map(Some)
            .ok_or_else(|| "no permission to erase it".to_owned())
    }

    /// Asks for permission to erase all present cards before the first run, so that the user can leave.
    fn ask_beforehand(&mut self) -> Result<(), CampaignError> {
        for index in self
            .campaign
            .wanted_cards()
            .filter(|index| self.campaign.erases(*index))
            .collect::<Vec<_>>()
        {
            if self.stop.load(Relaxed) {
                break;
            }
            let CardSearch::Found(FoundCard {
                key,
                disk: Some(disk),
            }) = self.bench().look(&self.campaign.cards[index])
            else {
                continue;
            };
            if self.open_points(index, &key)?.is_empty() {
                continue;
            }
            let asked = self
                .leaves
                .values()
                .find(|(asked, _)| *asked == disk)
                .map(|(_, leave)| leave.clone());
            let leave = match asked {
                Some(leave) => leave,
                None => {
                    // If a disk cannot be checked again now, permission is requested later.
                    let Ok(candidate) = disk.candidate(&self.roots) else {
                        continue;
                    };
                    self.hands
                        .may_erase(&self.campaign.cards[index], &candidate)
                }
            };
            self.leaves.insert(index, (disk, leave));
        }
        Ok(())
    }

    /// Returns earlier preparation steps of the whole card, so that they are not repeated.
    fn done_to_whole_card(&mut self, key: &str) -> Result<Vec<PreparedStep>, CampaignError> {
        let Some(run) = self.journal.a_run_of(key) else {
            return Ok(Vec::new());
        };
        let record = match self.store.run(run) {
            // An unreadable record does not show its preparation, but other points can still be measured.
            Err(error) if error.is_unreadable() => return Ok(Vec::new()),
            found => found?,
        };
        let prepared = record
            .campaign
            .map(|point| point.prepared)
            .unwrap_or_default();
        Ok(told_before(
            prepared
                .into_iter()
                .filter(prepared_target::of_whole_card)
                .collect(),
        ))
    }

    /// Prepares the card, measures a group of points and tears the storage down. `Some` ends the card.
    fn stretch(
        &mut self,
        on: &mut CardInUse,
        points: &[Point],
    ) -> Result<Option<CardOutcome>, CampaignError> {
        // Points that were open when the card was inserted may be known precisely enough by now.
        let Some(first) = self.first_open(&on.found.key, points)? else {
            return Ok(None);
        };
        let mut ready = match self.make_ready(on, &first) {
            Ok(ready) => ready,
            Err(end) => return Ok(end),
        };
        let mut end = None;
        for point in points {
            end = self.point_of(on, point, &mut ready)?;
            if end.is_some() || on.failed >= self.campaign.limits.failures.unwrap_or(FAILURES) {
                break;
            }
        }
        self.give_back(ready);
        Ok(end)
    }

    /// Prepares a card for runs through the layer of a point. The error is the outcome of the card, if it ends.
    fn make_ready(
        &mut self,
        on: &mut CardInUse,
        first: &Point,
    ) -> Result<Ready, Option<CardOutcome>> {
        let layer = &self.campaign.layers[first.layer];
        // A recheck begins with the card in the same state as its first measurement.
        let whole = self.rechecking
            || prepared_target::each_stretch(self.campaign)
            || !self.journal.knows(&on.found.key) && on.whole.is_empty();
        if let Some(end) = self.limit(first, &on.found.key, NextStep::Preparation { whole }) {
            return Err(Some(end));
        }
        let mount_name = match self.campaign.card_order.takes_turns() {
            false => format!("mnt-{}", self.campaign.id),
            // Several cards are mounted at the same time.
            true => format!("mnt-{}-{}", self.campaign.id, on.index + 1),
        };
        let setting = TargetSetup {
            campaign: self.campaign,
            card: &self.campaign.cards[on.index],
            layer,
            disk: on.found.disk.as_ref(),
            confirmation: on.confirmation.as_ref(),
            whole,
            share: self.shares.get(&on.index).copied(),
            state: self.state,
            mount_name,
            roots: &self.roots,
            stop: self.stop,
            hands: &mut *self.hands,
        };
        let stage = match setting.set() {
            Ok(stage) => stage,
            Err(StageError::Stopped) => return Err(Some(CardOutcome::Stopped)),
            // Ctrl-C also ends a running mkfs tool, which is not a failure of the card.
            Err(_) if self.stop.load(Relaxed) => return Err(Some(CardOutcome::Stopped)),
            Err(error) => return Err(self.failed(on, first, &error.to_string())),
        };
        if whole {
            on.whole = stage
                .prepared()
                .iter()
                .filter(|p| prepared_target::of_whole_card(p))
                .cloned()
                .collect();
        }
        let written = stage.prepared().iter().map(|step| step.bytes_written().0);
        self.journal
            .note_written(&on.found.key, written.fold(0, u64::saturating_add));
        let since = stage
            .prepared()
            .iter()
            .filter(|p| !whole || !prepared_target::of_whole_card(p))
            .cloned()
            .collect();
        Ok(Ready { stage, since })
    }

    /// Measures a point on a prepared card. `Some` ends the card.
    fn point_of(
        &mut self,
        on: &mut CardInUse,
        point: &Point,
        ready: &mut Ready,
    ) -> Result<Option<CardOutcome>, CampaignError> {
        // Written bytes and speed are recorded once, with the next run that is stored.
        let (prepared, stored) = ([&on.whole[..], &ready.since].concat(), self.stored);
        let end = self.point(on, point, &mut ready.stage, prepared)?;
        if self.stored > stored {
            on.whole = told_before(std::mem::take(&mut on.whole));
            ready.since = told_before(std::mem::take(&mut ready.since));
        }
        Ok(end)
    }

    /// Tears the storage down.
    fn give_back(&mut self, ready: Ready) {
        ready
            .stage
            .strike()
            .iter()
            .for_each(|trouble| self.hands.note(trouble));
    }

    fn point(
        &mut self,
        on: &mut CardInUse,
        point: &Point,
        stage: &mut PreparedTarget,
        prepared: Vec<PreparedStep>,
    ) -> Result<Option<CardOutcome>, CampaignError> {
        let cell = self.cell(&on.found.key, point);
        // Points that were open when the card was inserted may be known precisely enough by now.
        if !self
            .journal
            .is_open(self.campaign.repeats, &cell, point, self.store)?
        {
            return Ok(None);
        }
        let scenario = self.aimed(point, stage);
        let ahead = NextStep::Run {
            lays_out: stage.lacks_files(&scenario),
            fills: stage.fills(&scenario),
        };
        if let Some(end) = self.limit(point, &on.found.key, ahead) {
            return Ok(Some(end));
        }
        self.announce(point);
        let caveats = match self.wait(stage) {
            Ok(caveats) => caveats,
            Err(end) => return Ok(Some(end)),
        };
        if let Err(why) = self.still_there(on, stage) {
            return Ok(self.failed(on, point, &why));
        }
        let begun = Instant::now();
        let ran = self.measure(point, &cell, stage, prepared, caveats);
        match ran {
            Ok(()) => {
                let seconds = begun.elapsed().as_secs_f64() + self.pause(stage).as_secs_f64();
                self.journal.note_pace(&cell.workload, seconds);
                on.failed = 0;
                Ok(None)
            }
            Err(RunFailure::Stopped) => Ok(Some(CardOutcome::Stopped)),
            Err(RunFailure::Failed(why)) => Ok(self.failed(on, point, &why)),
            Err(RunFailure::Fatal(error)) => Err(error),
        }
    }

    /// Returns the first open point of a group.
    fn first_open(&mut self, key: &str, points: &[Point]) -> Result<Option<Point>, CampaignError> {
        for point in points {
            let cell = self.cell(key, point);
            if self
                .journal
                .is_open(self.campaign.repeats, &cell, point, self.store)?
            {
                return Ok(Some(*point));
            }
        }
        Ok(None)
    }

    /// Checks that the card is still the prepared one.
    fn still_there(&self, on: &CardInUse, stage: &PreparedTarget) -> Result<(), String> {
        stage
            .check_unchanged(&self.roots)
            .map_err(|refusal| refusal.to_string())?;
        match &on.found.disk {
            Some(disk) if !disk.is_there(&self.roots) => {
                Err(format!("{} was removed or replaced", disk.node.display()))
            }
            _ => Ok(()),
        }
    }
}

/// Reasons why a run does not count.
enum RunFailure {
    Stopped,
    Failed(String),
    Fatal(CampaignError),
}

fn told_before(prepared: Vec<PreparedStep>) -> Vec<PreparedStep> {
    prepared
        .into_iter()
        .map(PreparedStep::told_before)
        .collect()
}
