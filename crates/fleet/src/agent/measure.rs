//! Carries out a job with the runner of campaigns, in a thread of its own.

use super::operator::{AgentOperator, ServerClock};
use crate::message::{HostJob, JobEnd, JobOutcome};
use anyhow::{Context as _, Result, anyhow};
use hakaru_campaign::campaign::file::RepeatRule;
use hakaru_campaign::campaign::runner::{self, CampaignOutcome, CampaignResult, CampaignRun};
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_model::campaign::{Assignment, ClockOffset};
use hakaru_report::{Language, with_language};
use hakaru_results::campaign::{self, CampaignText};
use hakaru_store::Store;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

/// What happens while a job is carried out.
pub(super) enum JobEvent {
    /// What is measured, or done, and the bandwidth of the running phase.
    Progress {
        text: String,
        point: Option<[String; 3]>,
        bandwidth: Option<u64>,
    },
    /// A note for the log.
    Note(String),
    /// A run with this ID is stored.
    Stored(String),
    /// The operator lacks these runs although it acknowledged them.
    Lost(Vec<String>),
    /// The job ended.
    Ended(JobEnd),
}

/// A job with all that is needed to carry it out.
pub(super) struct JobRun {
    pub(super) job: HostJob,
    /// Name of this host in the fleet.
    pub(super) host: String,
    pub(super) clock: Option<ClockOffset>,
    pub(super) database: PathBuf,
    /// State directory of preparations.
    pub(super) state: PathBuf,
    pub(super) stop: Arc<AtomicBool>,
    pub(super) language: Language,
    pub(super) events: UnboundedSender<JobEvent>,
}

impl JobRun {
    /// Begins in a thread of its own, which ends with [`JobEvent::Ended`].
    pub(super) fn begin(self) -> std::io::Result<std::thread::JoinHandle<()>> {
        let thread = std::thread::Builder::new().name("job".to_owned());
        thread.spawn(move || {
            let (language, events) = (self.language, self.events.clone());
            let job = self.job.id.clone();
            let end = with_language(language, || self.carry_out());
            let end = end.unwrap_or_else(|error| JobEnd {
                job,
                outcome: JobOutcome::Incomplete,
                failures: vec![(both!("the job", "ジョブ"), format!("{error:#}"))],
                ..JobEnd::default()
            });
            let _ = events.send(JobEvent::Ended(end));
        })
    }

    fn carry_out(self) -> Result<JobEnd> {
        let campaign = self.campaign()?;
        let mut store = Store::open(&self.database)?;
        store.keep_campaign(&campaign.id, &self.job.asked)?;
        self.tell_lost(&campaign, &store)?;
        let since = Instant::now();
        let now = i64::try_from(crate::clock::now_ns() / 1_000_000).unwrap_or(i64::MAX);
        let known = self.clock.map(|clock| {
            (
                clock.to_server_ms(now),
                clock.uncertainty_ns.div_ceil(1_000_000),
            )
        });
        let mut operator = AgentOperator {
            permissions: self.job.permissions.clone(),
            clock: ServerClock { known, since },
            events: self.events.clone(),
            stop: self.stop.clone(),
            place: String::new(),
            point: None,
            last: None,
        };
        let ended = runner::run(CampaignRun {
            campaign: &campaign,
            store: &mut store,
            state: &self.state,
            stop: &self.stop,
            operator: &mut operator,
            assignment: Some(Assignment {
                host: self.host.clone(),
                job: self.job.id.clone(),
                clock: self.clock,
            }),
        });
        // Runs that an earlier process left unfinished are stored too, and belong to the results.
        for row in store.points(&campaign.id)? {
            let _ = self.events.send(JobEvent::Stored(row.run));
        }
        Ok(end_of(&self.job.id, &ended?))
    }

    /// Reads the campaign, limited to what this host measures.
    fn campaign(&self) -> Result<Campaign> {
        let HostJob {
            campaign: id,
            asked,
            cards,
            layers,
            workloads,
            repeats,
            ..
        } = &self.job;
        let text = CampaignText::of_asked(id, asked).with_context(|| {
            both!(
                "the campaign is not one",
                "キャンペーンの形式ではありません"
            )
        })?;
        let loaded = campaign::parse(text).map_err(|invalid| anyhow!("{}", invalid.error))?;
        let mut campaign = loaded.campaign;
        campaign.select(cards, layers, workloads).map_err(|name| {
            anyhow!(both!(
                "the campaign has no `{name}`",
                "キャンペーンに「{name}」はありません"
            ))
        })?;
        if let Some(times) = repeats {
            campaign.repeats = RepeatRule::Times(*times);
        }
        Ok(campaign)
    }

    /// Reports the runs of this campaign if the operator has fewer of them.
    fn tell_lost(&self, campaign: &Campaign, store: &Store) -> Result<()> {
        let rows = store.points(&campaign.id)?;
        if rows.len() as u64 > self.job.stored {
            let runs = rows.into_iter().map(|row| row.run).collect();
            let _ = self.events.send(JobEvent::Lost(runs));
        }
        Ok(())
    }
}

fn end_of(job: &str, ended: &CampaignResult) -> JobEnd {
    JobEnd {
        job: job.to_owned(),
        outcome: match ended.end {
            CampaignOutcome::Complete => JobOutcome::Complete,
            CampaignOutcome::Incomplete => JobOutcome::Incomplete,
            CampaignOutcome::Stopped | CampaignOutcome::TimeUp => JobOutcome::Stopped,
        },
        measured: ended.stored,
        failures: ended.failures.clone(),
        skipped: ended.skipped.clone(),
    }
}
