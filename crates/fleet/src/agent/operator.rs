//! The operator of a campaign on an agent: nobody is there to insert cards, and only the signed job permits erasing.

use super::measure::JobEvent;
use crate::message::ErasePermission;
use hakaru_campaign::campaign::operator::{
    CampaignStatus, CandidateDisk, Operator, OperatorReply, PreparingStep,
};
use hakaru_campaign::campaign::spec::Card;
use hakaru_device::ScanProgress;
use hakaru_device::guard::{Candidate, Confirmation};
use hakaru_engine::{Flow, Observer, PhaseProgress};
use hakaru_model::job::Op;
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::RunRecord;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;

/// Interval of progress messages.
const PERIOD: Duration = Duration::from_secs(1);

/// The clock of the server, as far as this host knows it.
#[derive(Clone, Copy)]
pub(super) struct ServerClock {
    /// Server time at `since`, in milliseconds since 1970 UTC, and the uncertainty.
    pub(super) known: Option<(i64, u64)>,
    pub(super) since: Instant,
}

impl ServerClock {
    /// Returns the latest time that the clock of the server may show; `None` if it is not known.
    fn latest_ms(&self) -> Option<i64> {
        let (at, uncertainty) = self.known?;
        let passed = i64::try_from(self.since.elapsed().as_millis()).ok()?;
        let uncertainty = i64::try_from(uncertainty).ok()?;
        at.checked_add(passed)?.checked_add(uncertainty)
    }
}

/// Carries out the operator's part on an agent.
pub(super) struct AgentOperator {
    pub(super) permissions: Vec<ErasePermission>,
    pub(super) clock: ServerClock,
    pub(super) events: UnboundedSender<JobEvent>,
    pub(super) stop: Arc<AtomicBool>,
    /// The current point, in words and by name.
    pub(super) place: String,
    pub(super) point: Option<[String; 3]>,
    pub(super) last: Option<Instant>,
}

impl AgentOperator {
    fn tell(&self, event: JobEvent) {
        // The receiver is gone only when the agent ends.
        let _ = self.events.send(event);
    }

    /// Returns the ID that confirms a card, or why it must not be erased.
    fn permitted(&self, card: &Card, candidate: &Candidate) -> Result<String, String> {
        let permission = self.permissions.iter().find(|of| of.card == card.label);
        let Some(ErasePermission {
            id, until_unix_ms, ..
        }) = permission
        else {
            return Err(both!(
                "the operator gave no permission to erase it; help: `hakaru fleet run --erase ID`",
                "消去の許可がありません; help: hakaru fleet run --erase ID"
            ));
        };
        let Some(now) = self.clock.latest_ms() else {
            return Err(both!(
                "the permission to erase it has a time limit, but the time of the server is not known",
                "消去の許可には期限がありますが、サーバの時刻が分かりません"
            ));
        };
        if now >= *until_unix_ms {
            return Err(both!(
                "the permission to erase it has expired",
                "消去の許可の期限が過ぎています"
            ));
        }
        let own = candidate.own_ids();
        if !candidate.tells_itself() || !own.iter().any(|own| own.eq_ignore_ascii_case(id)) {
            let seen = own.join(", ");
            return Err(both!(
                "the permission is for the card {id}, but this is {seen}",
                "許可されたカードは{id}ですが、接続されているのは{seen}です"
            ));
        }
        Ok(id.clone())
    }
}

impl Observer for AgentOperator {
    fn progress(&mut self, _phase: &PhasePlan, progress: &PhaseProgress) -> Flow {
        if self.last.is_none_or(|last| last.elapsed() >= PERIOD) {
            self.last = Some(Instant::now());
            let bandwidth = Op::ALL.into_iter().map(|op| progress.bytes_per_s[op]);
            self.tell(JobEvent::Progress {
                text: self.place.clone(),
                point: self.point.clone(),
                bandwidth: Some(bandwidth.sum::<u64>()),
            });
        }
        match self.stop.load(Relaxed) {
            true => Flow::Stop,
            false => Flow::Continue,
        }
    }
}

impl Operator for AgentOperator {
    fn insert(&mut self, _wanted: &Card, _why: &str, _seen: &[CandidateDisk]) -> OperatorReply {
        OperatorReply::Skip
    }

    fn may_erase(&mut self, card: &Card, candidate: &Candidate) -> Option<Confirmation> {
        match self.permitted(card, candidate) {
            Ok(id) => Some(Confirmation::Serial(id)),
            Err(why) => {
                self.tell(JobEvent::Note(format!("{}: {why}", card.label)));
                None
            }
        }
    }

    fn begins(&mut self, status: &CampaignStatus) {
        let [card, layer, workload] = &status.names;
        let (number, of) = (status.number, status.of);
        let workload = hakaru_report::workload_words(workload);
        self.place = format!("[{number}/{of}] {card}  {layer}  {workload}");
        self.point = Some(status.names.clone());
        let (text, point) = (self.place.clone(), self.point.clone());
        self.tell(JobEvent::Progress {
            text,
            point,
            bandwidth: None,
        });
    }

    fn preparing(&mut self, step: PreparingStep, _progress: Option<ScanProgress>) {
        if self.last.is_none_or(|last| last.elapsed() >= PERIOD) {
            self.last = Some(Instant::now());
            let text = step.text();
            self.tell(JobEvent::Progress {
                text,
                point: None,
                bandwidth: None,
            });
        }
    }

    fn stored(&mut self, record: &RunRecord) {
        self.tell(JobEvent::Stored(record.id.clone()));
    }

    fn note(&mut self, text: &str) {
        self.tell(JobEvent::Note(text.to_owned()));
    }
}
