//! Runs a campaign: card by card or with alternating cards, in groups of runs that share a preparation. Stored runs
//! are not repeated.

use super::card_finder::{CardFinder, CardSearch, FoundCard, PresentDisk};
use super::estimate;
use super::journal::{CampaignProgress, PointKey};
use super::matrix::{Point, RECHECK, groups_of_points};
use super::operator::{CampaignStatus, Operator};
pub use super::outcome::{CampaignError, CampaignOutcome, CampaignResult};
use super::prepared_target::{self, PreparedTarget, StageError, TargetSetup};
use super::retarget::retarget;
use super::spec::Campaign;
use crate::errors;
use crate::session::{RunRequest, RunResult, SeriesPosition, Session, SessionError, SessionPolicy};
use hakaru_device::guard::Confirmation;
use hakaru_device::prepare;
use hakaru_device::{MeasurementLock, Roots};
use hakaru_engine::{ClockChoice, RunError};
use hakaru_model::campaign::{Assignment, CampaignPoint, PreparedStep};
use hakaru_model::caveat::{CacheOf, Caveat};
use hakaru_model::job::Scenario;
use hakaru_model::record::{Outcome, Overhead, RunRecord};
use hakaru_model::units::Bytes;
use hakaru_report::both;
use hakaru_store::{OrphanedRun, Store};
use std::path::Path;
use std::rc::{Rc, Weak};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

mod limits;
mod lock;
mod measure;
mod publish;
mod row;
mod turns;

/// Default number of consecutive failed runs after which a card is skipped.
const FAILURES: u32 = 3;

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
    pub operator: &'a mut dyn Operator,
    /// The host and job of a fleet for which the runs are measured; `None` to measure for this host alone.
    pub assignment: Option<Assignment>,
}

/// Carries out a campaign, or continues it.
///
/// # Errors
/// [`CampaignError`] if the campaign cannot continue; runs stored until then are kept.
pub fn run(run: CampaignRun<'_>) -> Result<CampaignResult, CampaignError> {
    let _lock = lock::lock(run.state, &run.campaign.id)?;
    let mut runner = Runner::new(run)?;
    runner.publish_points()?;
    runner.ask_beforehand()?;
    let end = if runner.campaign.card_order.takes_turns() {
        runner.cards_in_turns()?
    } else {
        runner.all_cards()?
    };
    Ok(CampaignResult {
        end,
        stored: runner.stored,
        done: runner.journal.done_of(runner.campaign),
        failures: runner.failures,
        skipped: runner.skipped,
    })
}

/// Recovers after a killed run: undoes its preparations, such as mounts, and stores its partial results.
fn clean_up(store: &mut Store, state: &Path, roots: &Roots, operator: &mut dyn Operator) {
    for spool in hakaru_store::left(store.path()) {
        // Spools that cannot be read or stored are left to `recover`, which reports the reason.
        if let Ok(OrphanedRun::Run(record)) = store.keep_cut_short(&spool) {
            let (name, id) = (&record.scenario.name, &record.id);
            operator.note(&match record.outcome {
                Outcome::Interrupted => both!(
                    "left by an earlier run: {name} was cut short; stored as run {id}",
                    "前回の{name}は中断していました。測定{id}として保存しました"
                ),
                Outcome::Completed | Outcome::Failed { .. } => both!(
                    "left by an earlier run: {name} was finished, but not stored; stored as run {id}",
                    "前回の{name}は完了後、未保存でした。測定{id}として保存しました"
                ),
            });
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
        recovery.items.iter().for_each(|item| {
            operator.note(&both!(
                "left by an earlier run: {item}",
                "前回の残り: {item}"
            ))
        });
    }
}

/// Outcome of one card.
enum CardOutcome {
    /// Nothing more can be done on it now.
    Done,
    /// It was disconnected.
    Gone,
    /// The campaign ends.
    Ends(CampaignOutcome),
}

/// The outcome when the user stops the campaign.
const STOPPED: CardOutcome = CardOutcome::Ends(CampaignOutcome::Stopped);

/// A step that a limit may forbid.
#[derive(Clone, Copy)]
enum NextStep {
    /// A preparation of the whole card, or only of its layer.
    Preparation { whole: bool },
    /// A run; if its files do not exist yet, it writes them first. `fills` is the size of a fill of the file system.
    Run { lays_out: bool, fills: Bytes },
}

struct Runner<'a> {
    campaign: &'a Campaign,
    store: &'a mut Store,
    state: &'a Path,
    stop: &'a AtomicBool,
    operator: &'a mut dyn Operator,
    assignment: Option<Assignment>,
    roots: Roots,
    clock: &'static ClockChoice,
    overhead: Option<Overhead>,
    journal: CampaignProgress,
    begun: Instant,
    stored: u64,
    failures: Vec<(String, String)>,
    skipped: Vec<(String, String)>,
    /// State of each card of the campaign.
    cards: Vec<CardProgress>,
    /// Locks of the cards in use; cards of one directory share its lock.
    locks: Vec<Weak<MeasurementLock>>,
    /// Whether the operator was informed that the caches of the host cannot be dropped.
    reported_caches: bool,
    /// Whether the recheck of the first card is in progress.
    rechecking: bool,
}

/// State of a card between its uses.
#[derive(Clone, Default)]
struct CardProgress {
    /// Its size, once it was found.
    size: Option<Bytes>,
    /// Number of disconnects since its last stored run.
    disconnects: u32,
    /// The disk that was present before the first run, and the permission to erase it, if the user gave it.
    permission: Option<(PresentDisk, Option<Confirmation>)>,
    /// Maximum bytes for its files, if directories share a file system.
    share: Option<Bytes>,
}

/// State of a card while it is measured.
struct CardInUse {
    index: usize,
    /// Keeps other processes from measuring the card; `None` for simulated cards.
    _lock: Option<Rc<MeasurementLock>>,
    found: FoundCard,
    confirmation: Option<Confirmation>,
    /// Preparation of the whole card; its speed map is kept until a run that records it is stored.
    whole: Vec<PreparedStep>,
    /// Number of consecutive failed runs.
    failed: u32,
}

/// A card that is prepared for runs through a layer.
struct Ready {
    target: PreparedTarget,
    /// Preparation for this layer; its written bytes are kept until a run that records them is stored.
    since: Vec<PreparedStep>,
}

impl<'a> Runner<'a> {
    /// Recovers from an earlier run, and reads the stored progress.
    fn new(run: CampaignRun<'a>) -> Result<Runner<'a>, CampaignError> {
        let roots = Roots::live();
        clean_up(run.store, run.state, &roots, run.operator);
        let clock = ClockChoice::best();
        let host = match &run.assignment {
            Some(assigned) => assigned.host.clone(),
            None => hakaru_device::environment(&roots, clock.name()).hostname,
        };
        Ok(Runner {
            journal: CampaignProgress::read(run.campaign, run.store, &[&host])?,
            cards: vec![CardProgress::default(); run.campaign.cards.len()],
            locks: Vec::new(),
            campaign: run.campaign,
            store: run.store,
            state: run.state,
            stop: run.stop,
            operator: run.operator,
            assignment: run.assignment,
            roots,
            clock,
            overhead: hakaru_engine::measure_overhead(clock),
            begun: Instant::now(),
            stored: 0,
            failures: Vec::new(),
            skipped: Vec::new(),
            reported_caches: false,
            rechecking: false,
        })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Records why a card is skipped.
    fn skip(&mut self, card: usize, why: impl Into<String>) {
        let (label, why) = (self.campaign.cards[card].label.clone(), why.into());
        self.publish_skip(&label, &why);
        self.skipped.push((label, why));
    }

    fn finder(&self) -> CardFinder<'_> {
        CardFinder {
            campaign: self.campaign,
            journal: &self.journal,
            roots: &self.roots,
        }
    }

    /// Whether a point still has to be measured.
    fn is_open(&mut self, key: &str, point: &Point) -> Result<bool, CampaignError> {
        Ok(self
            .journal
            .is_open(self.campaign, key, point, self.store)?)
    }

    fn open_points(&mut self, card: usize, key: &str) -> Result<Vec<Point>, CampaignError> {
        let mut open = Vec::new();
        let points = match self.rechecking {
            true => self.campaign.recheck_points(),
            false => self.campaign.points_of(card),
        };
        for point in points {
            if self.is_open(key, &point)? {
                open.push(point);
            }
        }
        Ok(open)
    }

    fn card(&mut self, index: usize, found: FoundCard) -> Result<CardOutcome, CampaignError> {
        let Some((mut on, points)) = self.admit(index, found)? else {
            return Ok(CardOutcome::Done);
        };
        for group in groups_of_points(&points, self.campaign.preparation.each_run_anew()) {
            match self.group(&mut on, group)? {
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
        let points = self.open_points(index, &found.key)?;
        if points.is_empty() {
            return Ok(None);
        }
        let lock = self.lock_card(index, &found);
        if self.is_stopped() {
            return Ok(None);
        }
        let permission = match self.exchanged_below(index, &found.key)? {
            Some(why) => Err(why),
            None => self.permission_to_erase(index, &found),
        };
        let confirmation = match permission {
            Ok(confirmation) => confirmation,
            Err(why) => {
                self.skip(index, why);
                return Ok(None);
            }
        };
        let size = found.disk.as_ref().and_then(|disk| disk.size(&self.roots));
        self.cards[index].size = size.or(self.cards[index].size);
        let on = CardInUse {
            index,
            _lock: lock,
            whole: self.done_to_whole_card(&found.key)?,
            found,
            confirmation,
            failed: 0,
        };
        Ok(Some((on, points)))
    }

    /// Returns the number of consecutive failures after which a card is skipped.
    fn most_failures(&self) -> u32 {
        self.campaign.limits.failures.unwrap_or(FAILURES)
    }

    /// Whether a card has failed too often; it is then recorded as skipped.
    fn has_failed_too_often(&mut self, on: &CardInUse) -> bool {
        let given_up = on.failed >= self.most_failures();
        if given_up {
            let why = both!(
                "stopped after {} consecutive failures",
                "{}回続けて失敗したため終了しました";
                on.failed
            );
            self.skip(on.index, why);
        }
        given_up
    }

    /// Returns the permission to erase a card; `None` if the campaign does not erase it.
    fn permission_to_erase(
        &mut self,
        index: usize,
        found: &FoundCard,
    ) -> Result<Option<Confirmation>, String> {
        let Some(disk) = found.disk.as_ref().filter(|_| self.campaign.erases(index)) else {
            return Ok(None);
        };
        let candidate = disk.candidate(&self.roots)?;
        let earlier = self.cards[index].permission.as_ref();
        let permission = match earlier.filter(|(asked, _)| asked == disk) {
            Some((_, permission)) => permission.clone(),
            None => self
                .operator
                .may_erase(&self.campaign.cards[index], &candidate),
        };
        permission
            .map(Some)
            .ok_or_else(|| both!("no permission to erase it", "消去の許可がありません"))
    }

    /// Asks for permission to erase all present cards before the first run, so that the user can leave.
    fn ask_beforehand(&mut self) -> Result<(), CampaignError> {
        let campaign = self.campaign;
        for index in campaign.wanted_cards() {
            if !campaign.erases(index) {
                continue;
            }
            if self.is_stopped() {
                break;
            }
            let CardSearch::Found(FoundCard {
                key,
                disk: Some(disk),
            }) = self.finder().look(&campaign.cards[index])
            else {
                continue;
            };
            if self.open_points(index, &key)?.is_empty() {
                continue;
            }
            if let Some(permission) = self.ask_for(index, &disk) {
                self.cards[index].permission = Some((disk, permission));
            }
        }
        Ok(())
    }

    /// Asks for permission to erase a disk, once for several cards in it. `None` if the disk cannot be checked again
    /// now: permission is then requested later.
    fn ask_for(&mut self, index: usize, disk: &PresentDisk) -> Option<Option<Confirmation>> {
        let mut asked = self.cards.iter().flat_map(|card| &card.permission);
        if let Some((_, permission)) = asked.find(|(asked, _)| asked == disk) {
            return Some(permission.clone());
        }
        let candidate = disk.candidate(&self.roots).ok()?;
        let card = &self.campaign.cards[index];
        Some(self.operator.may_erase(card, &candidate))
    }

    /// Returns earlier preparation steps of the whole card, so that they are not repeated.
    fn done_to_whole_card(&mut self, key: &str) -> Result<Vec<PreparedStep>, CampaignError> {
        let steps = self.a_run_of(key)?.and_then(|run| run.campaign);
        let steps = steps.map(|point| point.prepared);
        let mut steps = steps.unwrap_or_default();
        steps.retain(prepared_target::of_whole_card);
        Ok(without_measurements(steps))
    }

    /// Returns a stored run of a card, if one can be read: other points can be measured without it.
    fn a_run_of(&self, key: &str) -> Result<Option<RunRecord>, CampaignError> {
        let run = self.journal.a_run_of(key).map(|run| self.store.run(run));
        match run.transpose() {
            Err(error) if error.is_unreadable() => Ok(None),
            found => Ok(found?),
        }
    }

    /// Prepares the card, measures a group of points and tears the storage down. `Some` ends the card.
    fn group(
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
            if end.is_some() || on.failed >= self.most_failures() {
                break;
            }
        }
        self.tear_down(ready);
        Ok(end)
    }

    /// Prepares a card for runs through the layer of a point. The error is the outcome of the card, if it ends.
    fn make_ready(
        &mut self,
        on: &mut CardInUse,
        first: &Point,
    ) -> Result<Ready, Option<CardOutcome>> {
        // A recheck begins with the card in the same state as its first measurement.
        let whole = self.rechecking
            || prepared_target::each_group(self.campaign)
            || !self.journal.knows(&on.found.key) && on.whole.is_empty();
        if let Some(end) = self.limit(first, &on.found.key, NextStep::Preparation { whole }) {
            return Err(Some(end));
        }
        let target = match self.setup(on, first.layer, whole).prepare() {
            Ok(target) => target,
            Err(StageError::Stopped) => return Err(Some(STOPPED)),
            // Ctrl-C also ends a running mkfs tool, which is not a failure of the card.
            Err(_) if self.is_stopped() => return Err(Some(STOPPED)),
            Err(error) => return Err(self.failed(on, first, &error.message())),
        };
        let mut since = target.prepared().to_vec();
        let written = since.iter().map(|step| step.bytes_written().0);
        self.journal
            .note_written(&on.found.key, written.fold(0, u64::saturating_add));
        if whole {
            (on.whole, since) = since.into_iter().partition(prepared_target::of_whole_card);
        }
        Ok(Ready { target, since })
    }

    /// Returns the settings for preparing a card for a layer.
    fn setup<'s>(&'s mut self, on: &'s CardInUse, layer: usize, whole: bool) -> TargetSetup<'s> {
        let mount_name = match self.campaign.card_order.takes_turns() {
            false => format!("mnt-{}", self.campaign.id),
            // Several cards are mounted at the same time.
            true => format!("mnt-{}-{}", self.campaign.id, on.index + 1),
        };
        TargetSetup {
            campaign: self.campaign,
            card: &self.campaign.cards[on.index],
            layer: &self.campaign.layers[layer],
            disk: on.found.disk.as_ref(),
            confirmation: on.confirmation.as_ref(),
            whole,
            share: self.cards[on.index].share,
            state: self.state,
            mount_name,
            roots: &self.roots,
            stop: self.stop,
            operator: &mut *self.operator,
        }
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
        let end = self.point(on, point, &mut ready.target, prepared)?;
        if self.stored > stored {
            on.whole = without_measurements(std::mem::take(&mut on.whole));
            ready.since = without_measurements(std::mem::take(&mut ready.since));
        }
        Ok(end)
    }

    /// Tears the storage down.
    fn tear_down(&mut self, ready: Ready) {
        let failures = ready.target.teardown();
        failures
            .iter()
            .for_each(|failure| self.operator.note(failure));
    }

    fn point(
        &mut self,
        on: &mut CardInUse,
        point: &Point,
        target: &mut PreparedTarget,
        prepared: Vec<PreparedStep>,
    ) -> Result<Option<CardOutcome>, CampaignError> {
        // Points that were open when the card was inserted may be known precisely enough by now.
        if !self.is_open(&on.found.key, point)? {
            return Ok(None);
        }
        let caveats = match self.begin(on, point, target) {
            Ok(caveats) => caveats,
            Err(end) => return Ok(Some(end)),
        };
        if let Err(why) = self.still_there(on, target) {
            return Ok(self.failed(on, point, &why));
        }
        let begun = Instant::now();
        let cell = PointKey::of(self.campaign, &on.found.key, point.layer, point.workload);
        match self.measure(point, &cell, target, prepared, caveats) {
            Ok(()) => {
                let seconds = begun.elapsed().as_secs_f64() + self.pause(target).as_secs_f64();
                self.journal.note_pace(&cell.workload, seconds);
                on.failed = 0;
                Ok(None)
            }
            Err(RunFailure::Stopped) => Ok(Some(STOPPED)),
            Err(RunFailure::Failed(why)) => Ok(self.failed(on, point, &why)),
            Err(RunFailure::Fatal(error)) => Err(error),
        }
    }

    /// Checks the limits, announces a run and waits. The error is the outcome of the card, if it ends.
    fn begin(
        &mut self,
        on: &CardInUse,
        point: &Point,
        target: &mut PreparedTarget,
    ) -> Result<Vec<Caveat>, CardOutcome> {
        let scenario = self.retargeted(point, target);
        let next = NextStep::Run {
            lays_out: target.lacks_files(&scenario),
            fills: target.fills(&scenario),
        };
        if let Some(end) = self.limit(point, &on.found.key, next) {
            return Err(end);
        }
        self.announce(point);
        self.wait(target)
    }

    /// Returns the first open point of a group.
    fn first_open(&mut self, key: &str, points: &[Point]) -> Result<Option<Point>, CampaignError> {
        for point in points {
            if self.is_open(key, point)? {
                return Ok(Some(*point));
            }
        }
        Ok(None)
    }

    /// Checks that the card is still the prepared one.
    fn still_there(&self, on: &CardInUse, target: &PreparedTarget) -> Result<(), String> {
        target
            .check_unchanged(&self.roots)
            .map_err(|refusal| errors::message(&refusal))?;
        match &on.found.disk {
            Some(disk) if !disk.is_there(&self.roots) => Err(
                both!("{} was removed or replaced", "{}が取り外されたか交換されました"; disk.node.display()),
            ),
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

/// Returns the steps without their speed and written bytes, which an earlier run recorded.
fn without_measurements(steps: Vec<PreparedStep>) -> Vec<PreparedStep> {
    let steps = steps.into_iter();
    steps.map(PreparedStep::without_measurements).collect()
}
