//! Carrying a campaign out: card by card or cards in turns, stretch by stretch, run by run; whatever is stored is never repeated.

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

/// A card is given up after so many failed runs on end, unless the campaign says otherwise.
pub const FAILURES: u32 = 3;

/// Everything a campaign needs to be carried out.
pub struct CampaignRun<'a> {
    /// The campaign.
    pub campaign: &'a Campaign,
    /// Where its runs are.
    pub store: &'a mut Store,
    /// Where what is in progress is noted, and file systems are mounted: on a disk that is not under test.
    pub state: &'a Path,
    /// Set by somebody else to end it.
    pub stop: &'a AtomicBool,
    /// The person or script at the bench.
    pub hands: &'a mut dyn Operator,
}

/// Carries a campaign out, or on from where it was.
///
/// # Errors
/// [`CampaignError`] when nothing more can be done: what was stored until then stays.
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

/// Takes back what a run that was killed left behind, such as a mounted card, and keeps what it had measured.
fn clean_up(store: &mut Store, state: &Path, roots: &Roots, hands: &mut dyn Operator) {
    for spool in hakaru_store::left(store.path()) {
        // One that cannot be read or stored is left to `recover`, which says why.
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
    // What `hakaru prepare` left on purpose is there for somebody, and stays until they ask for its recovery.
    for journal in prepare::pending(state)
        .into_iter()
        .filter(|journal| !prepare::is_left(journal))
    {
        // A journal that cannot be read or is in use belongs to somebody else, and is left to `recover`.
        let Ok(recovery) = prepare::recover(&journal, roots) else {
            continue;
        };
        recovery
            .items
            .iter()
            .for_each(|item| hands.note(&format!("left by an earlier run: {item}")));
    }
}

/// How one card ended.
enum CardOutcome {
    /// There is nothing more to do on it for now.
    Done,
    /// It is not there any more.
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
    /// Sizes of the cards that were there, by their places.
    sizes: BTreeMap<usize, Bytes>,
    /// How often cards dropped out since their last stored run, by their places.
    gone: BTreeMap<usize, u32>,
    /// What was answered before the first run, by the places of the cards: whether the disk that was there then may be
    /// erased.
    leaves: BTreeMap<usize, (PresentDisk, Option<Confirmation>)>,
    /// Whether somebody was told that the caches of the host stay as they are.
    told_of_caches: bool,
    /// Whether the first card is being measured again.
    rechecking: bool,
    /// Bytes that files may take in directories that share a file system, by the places of their cards.
    shares: BTreeMap<usize, Bytes>,
}

/// What is known of a card while it is measured.
struct CardInUse {
    index: usize,
    found: FoundCard,
    confirmation: Option<Confirmation>,
    /// What was done to the whole of it; with the speed along it until a run was stored that tells of it.
    whole: Vec<PreparedStep>,
    /// Failed runs on end.
    failed: u32,
}

/// A card that was made ready for runs through a layer.
struct Ready {
    stage: PreparedTarget,
    /// What was done to it for this layer; with what it wrote until a run was stored that tells of it.
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

    /// A card that is about to be measured, and its open points; `None` when there are none, or when it has to be left out.
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

    /// Whether a card is given up, which is noted.
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

    /// Asks for permission to erase all cards that are there, so that nobody has to come back for the second one.
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
                    // What cannot be looked at again now is asked for when its turn comes.
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

    /// What was done to the whole card before, so that it is not done again.
    fn done_to_whole_card(&mut self, key: &str) -> Result<Vec<PreparedStep>, CampaignError> {
        let Some(run) = self.journal.a_run_of(key) else {
            return Ok(Vec::new());
        };
        let record = match self.store.run(run) {
            // A record that cannot be read says nothing of what was done; that keeps no other point from being measured.
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

    /// Prepares, measures a stretch, gives the storage back. `Some` ends the card.
    fn stretch(
        &mut self,
        on: &mut CardInUse,
        points: &[Point],
    ) -> Result<Option<CardOutcome>, CampaignError> {
        // What was open as the card came may be known well enough by now.
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

    /// Prepares a card for runs through the layer of a point. An error is how the card ends, if it does.
    fn make_ready(
        &mut self,
        on: &mut CardInUse,
        first: &Point,
    ) -> Result<Ready, Option<CardOutcome>> {
        let layer = &self.campaign.layers[first.layer];
        // A recheck begins with the card in the state in which its first measurement began.
        let whole = self.rechecking
            || prepared_target::each_stretch(self.campaign)
            || !self.journal.knows(&on.found.key) && on.whole.is_empty();
        if let Some(end) = self.limit(first, &on.found.key, NextStep::Preparation { whole }) {
            return Err(Some(end));
        }
        let mount_name = match self.campaign.card_order.takes_turns() {
            false => format!("mnt-{}", self.campaign.id),
            // Several cards are mounted together.
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
            // Ctrl-C also ends the tool that was just making the file system, which is no failure of the card.
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

    /// Measures a point on a card that was made ready. `Some` ends the card.
    fn point_of(
        &mut self,
        on: &mut CardInUse,
        point: &Point,
        ready: &mut Ready,
    ) -> Result<Option<CardOutcome>, CampaignError> {
        // What was written, and how fast, is kept once, with the first run that is stored after it.
        let (prepared, stored) = ([&on.whole[..], &ready.since].concat(), self.stored);
        let end = self.point(on, point, &mut ready.stage, prepared)?;
        if self.stored > stored {
            on.whole = told_before(std::mem::take(&mut on.whole));
            ready.since = told_before(std::mem::take(&mut ready.since));
        }
        Ok(end)
    }

    /// Gives storage back.
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
        // What was open as the card came may be known well enough by now.
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

    /// The first point of a stretch that still has to be measured.
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

    /// Whether the card that is about to be measured is the one that was made ready.
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

/// Why a run does not count.
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
