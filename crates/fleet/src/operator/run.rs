//! Carries out a campaign on its hosts: sends jobs, and stores results until all jobs have ended.

use super::assign::{AssignedCards, Assigner, EraseQuestion};
use super::collect::{CollectedResults, ResultReader};
use super::dispatched::{DispatchedJob, DispatchedJobs};
use super::{HostState, OperatorLink, patiently};
use crate::directory::FleetDirectory;
use crate::message::{HostJob, JobEnd, JobOutcome, JobProgress};
use crate::{VERSION, names, server};
use anyhow::Result;
use futures_util::StreamExt as _;
use hakaru_campaign::campaign::file::RepeatRule;
use hakaru_campaign::campaign::journal::CampaignProgress;
use hakaru_campaign::campaign::spec::Campaign;
use hakaru_campaign::campaign::status;
use hakaru_campaign::{new_id, now_unix_ms};
use hakaru_model::record::{Outcome, RunRecord};
use hakaru_store::Store;
use hakaru_store::live::LivePublisher;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Time in which results are awaited before progress is shown again.
const TURN: Duration = Duration::from_millis(500);

/// Interval in which the jobs are compared with those that the server holds.
const LOOK: Duration = Duration::from_secs(5);

/// A campaign to carry out on a fleet.
pub struct FleetRun<'a> {
    /// The fleet.
    pub directory: &'a FleetDirectory,
    /// The campaign, with its selection.
    pub campaign: &'a Campaign,
    /// Its file and the files it names, as kept in the store.
    pub asked: &'a str,
    /// Number of repeats, if it is not that of the file.
    pub repeats: Option<u32>,
    /// Store of the results.
    pub store: &'a mut Store,
    /// Decides whether a card may be erased.
    pub permit: &'a mut dyn FnMut(&EraseQuestion) -> bool,
    /// Time for which permissions to erase are valid.
    pub valid: Duration,
    /// Whether hosts may have other versions of hakaru.
    pub mixed_versions: bool,
    /// Set by another thread to end watching; the hosts go on.
    pub stop: &'a AtomicBool,
    /// Receives progress.
    pub reporter: &'a mut dyn FleetReporter,
    /// Publishes the progress for other processes, such as `hakaru serve`.
    pub live: Option<LivePublisher>,
}

/// Receives the progress of a fleet.
pub trait FleetReporter {
    /// A run was stored; `done` of at most `of` runs count now.
    fn stored(&mut self, host: &str, record: &RunRecord, done: u64, of: u64);
    /// A host reports what it does.
    fn progress(&mut self, host: &str, progress: &JobProgress);
    /// Something that the user should know.
    fn note(&mut self, text: &str);
}

/// Result of carrying out a campaign on a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetResult {
    /// Runs stored by this call that completed.
    pub stored: u64,
    /// Runs stored by this call that were interrupted or failed: time and wear without a result.
    pub unfinished: u64,
    /// Runs that count, including earlier ones.
    pub done: u64,
    /// Maximum number of runs.
    pub of: u64,
    /// Failed runs, with host and reason.
    pub failures: Vec<(String, String)>,
    /// Skipped cards with the reasons.
    pub skipped: Vec<(String, String)>,
    /// IDs of runs of repeats that were measured more than once.
    pub duplicates: Vec<String>,
    /// Messages that were not accepted, with the host.
    pub rejected: Vec<(String, String)>,
    /// Number of jobs that have not ended.
    pub outstanding: u64,
    /// Whether points are open that are neither failed nor skipped.
    pub has_open: bool,
}

impl FleetResult {
    /// Whether all is measured.
    pub fn is_complete(&self) -> bool {
        self.outstanding == 0
            && !self.has_open
            && self.failures.is_empty()
            && self.skipped.is_empty()
    }
}

/// Carries out a campaign, or continues it.
///
/// # Errors
/// If there is no connection, or the store cannot be read or written. Results stay on the server then.
pub fn run(run: FleetRun<'_>) -> Result<FleetResult> {
    crate::block_on(async {
        let link = OperatorLink::connect(run.directory).await?;
        let jobs = DispatchedJobs::open(run.directory)?;
        let mut watch = FleetWatch::new(&link, &jobs, run)?;
        watch.carry_out().await
    })
}

/// Stores the results that the server holds, whatever their campaign, and returns their number.
///
/// # Errors
/// If there is no connection, or the store cannot be written.
pub fn collect(directory: &FleetDirectory, store: &mut Store) -> Result<u64> {
    crate::block_on(async {
        let link = OperatorLink::connect(directory).await?;
        let (jobs, reader) = (
            DispatchedJobs::open(directory)?,
            ResultReader::open(&link).await?,
        );
        let mut stored = 0;
        loop {
            let collected = reader.collect(store, TURN).await?;
            stored += collected.stored.len() as u64;
            collected
                .ends
                .iter()
                .for_each(|(_, end)| jobs.forget(&end.job));
            if collected.received == 0 {
                return Ok(stored);
            }
        }
    })
}

/// A job that is awaited.
pub(super) struct AwaitedJob {
    pub(super) job: DispatchedJob,
    /// Since when the server no longer holds it.
    pub(super) gone: Option<Instant>,
}

/// The jobs of a campaign while they are carried out.
pub(super) struct FleetWatch<'l, 'r> {
    pub(super) link: &'l OperatorLink,
    pub(super) dispatched: &'l DispatchedJobs,
    pub(super) run: FleetRun<'r>,
    pub(super) awaited: BTreeMap<String, AwaitedJob>,
    pub(super) progress: CampaignProgress,
    /// Names of the card, layer and workload that each job measures; a host may have several jobs.
    pub(super) measured: BTreeMap<String, [String; 3]>,
    pub(super) result: FleetResult,
}

fn progress_of(campaign: &Campaign, store: &Store) -> Result<CampaignProgress> {
    hakaru_results::campaign::documents::journal(campaign, store)
}

impl<'l, 'r> FleetWatch<'l, 'r> {
    fn new(
        link: &'l OperatorLink,
        dispatched: &'l DispatchedJobs,
        run: FleetRun<'r>,
    ) -> Result<FleetWatch<'l, 'r>> {
        let progress = progress_of(run.campaign, run.store)?;
        let awaited = dispatched.of(&run.campaign.id)?.into_iter();
        let awaited = awaited.map(|job| (job.id.clone(), AwaitedJob { job, gone: None }));
        Ok(FleetWatch {
            awaited: awaited.collect(),
            link,
            dispatched,
            run,
            progress,
            measured: BTreeMap::new(),
            result: FleetResult::default(),
        })
    }

    async fn carry_out(&mut self) -> Result<FleetResult> {
        let reader = ResultReader::open(self.link).await?;
        let mut news = self.link.client.subscribe(names::progress("*")).await?;
        // What earlier jobs have sent counts before new ones are sent.
        while self.take(&reader, TURN).await? {}
        self.look_for_lost_jobs().await;
        self.send_jobs().await?;
        self.publish_stored(None)?;
        let mut looked = Instant::now();
        while !self.awaited.is_empty() && !self.run.stop.load(Relaxed) {
            self.take(&reader, TURN).await?;
            while let Ok(Some(message)) = tokio::time::timeout(Duration::ZERO, news.next()).await {
                let host = names::host_of(&message.subject);
                if let Ok(progress) = serde_json::from_slice::<JobProgress>(&message.payload) {
                    self.run.reporter.progress(host, &progress);
                    self.publish_running(progress);
                }
            }
            if looked.elapsed() >= LOOK {
                self.look_for_lost_jobs().await;
                looked = Instant::now();
            }
        }
        self.end()
    }

    fn end(&mut self) -> Result<FleetResult> {
        let campaign = self.run.campaign;
        self.progress = progress_of(campaign, self.run.store)?;
        self.result.done = self.progress.done_of(campaign);
        self.result.of = campaign.count();
        self.result.has_open = !self.open_cards()?.is_empty();
        self.result.outstanding = self.awaited.len() as u64;
        self.result.duplicates = self.progress.duplicates().to_vec();
        Ok(std::mem::take(&mut self.result))
    }

    /// Stores the results that arrive within a time; returns whether there were any.
    async fn take(&mut self, reader: &ResultReader<'_>, wait: Duration) -> Result<bool> {
        let CollectedResults {
            stored,
            ends,
            rejected,
            received,
        } = reader.collect(self.run.store, wait).await?;
        let campaign = self.run.campaign;
        if let Some((_, last)) = stored.last() {
            self.progress = progress_of(campaign, self.run.store)?;
            let series = last.series.clone();
            self.publish_stored(Some(series))?;
        }
        let (done, of) = (self.progress.done_of(campaign), campaign.count());
        let completed = stored
            .iter()
            .filter(|(_, run)| run.outcome == Outcome::Completed);
        let mut number = done.saturating_sub(completed.count() as u64);
        for (host, record) in stored {
            match record.outcome {
                Outcome::Completed => {
                    self.result.stored += 1;
                    number += 1;
                }
                Outcome::Interrupted | Outcome::Failed { .. } => {
                    self.result.unfinished += 1;
                    let name = record.target.display_name();
                    self.run.reporter.note(&both!(
                        "{host}: a run of {name} was cut short; its partial result is stored",
                        "{host}: {name}の測定が中断しました（途中までの結果を保存しました）"
                    ));
                }
            }
            self.run.reporter.stored(&host, &record, number, of);
        }
        for (host, why) in &rejected {
            let why = hakaru_report::plain(why);
            self.run.reporter.note(&both!(
                "refused a result of {host}: {why}",
                "{host}の結果を拒否しました: {why}"
            ));
        }
        self.result.rejected.extend(rejected);
        for (host, end) in ends {
            self.note_end(&host, end);
        }
        Ok(received > 0)
    }

    fn note_end(&mut self, host: &str, end: JobEnd) {
        // A host can end its own jobs only.
        let awaited = self.awaited.get(&end.job);
        if awaited.is_some_and(|awaited| awaited.job.host != host) {
            return;
        }
        self.awaited.remove(&end.job);
        self.dispatched.forget(&end.job);
        self.measured.remove(&end.job);
        let of_host = |(what, why): (String, String)| (format!("{host}: {what}"), why);
        self.result
            .failures
            .extend(end.failures.into_iter().map(of_host));
        self.result
            .skipped
            .extend(end.skipped.into_iter().map(of_host));
        if end.outcome == JobOutcome::Stopped {
            self.result
                .skipped
                .push((host.to_owned(), both!("it was stopped", "停止しました")));
        }
    }

    /// Sends the jobs of all points that are neither stored nor awaited.
    async fn send_jobs(&mut self) -> Result<()> {
        let link = self.link;
        let hosts = patiently(async || link.hosts().await).await?;
        let open = self.open_cards()?;
        let outstanding: Vec<DispatchedJob> = self
            .awaited
            .values()
            .map(|awaited| awaited.job.clone())
            .collect();
        let clock = self.link.clock().await;
        let now = clock.map_or_else(now_unix_ms, |clock| clock.to_server_ms(now_unix_ms()));
        let valid = i64::try_from(self.run.valid.as_millis()).unwrap_or(i64::MAX);
        let assigner = Assigner {
            campaign: self.run.campaign,
            hosts: &hosts,
            open: &open,
            outstanding: &outstanding,
            permit: &mut *self.run.permit,
            until_unix_ms: now.saturating_add(valid),
        };
        let assignment = assigner.assign();
        self.result.skipped.extend(assignment.skipped);
        self.prepare_hosts(&hosts, &assignment.jobs).await?;
        let refused = self.other_versions(&hosts);
        for cards in assignment.jobs {
            match refused.get(&cards.host) {
                Some(why) => {
                    let skipped = cards.cards.into_iter().map(|card| (card, why.clone()));
                    self.result.skipped.extend(skipped);
                }
                None => self.send(cards).await?,
            }
        }
        Ok(())
    }

    /// Returns the labels of the cards with open points.
    fn open_cards(&mut self) -> Result<BTreeSet<String>> {
        let progress = status::progress(self.run.campaign, &mut self.progress, self.run.store)?;
        let open = progress.into_iter().filter(|layer| layer.open > 0);
        Ok(open.map(|layer| layer.card).collect())
    }

    /// Reports hosts that do not answer, and sets how many jobs each takes at a time.
    async fn prepare_hosts(&mut self, hosts: &[HostState], jobs: &[AssignedCards]) -> Result<()> {
        let lease = u64::from(self.run.directory.settings().lease_seconds);
        let wanted: BTreeSet<&str> = jobs.iter().map(|job| job.host.as_str()).collect();
        for host in &self.run.campaign.hosts {
            if !wanted.contains(host.name.as_str()) {
                continue;
            }
            let consumer = server::worker(&host.name, lease, host.parallel);
            let context = &self.link.context;
            patiently(async || server::create(context, names::WORK, consumer.clone()).await)
                .await?;
            let state = hosts.iter().find(|state| state.name == host.name);
            if state.is_some_and(|state| !state.present) {
                let name = &host.name;
                self.run.reporter.note(&both!(
                    "{name} does not answer; its jobs wait until its agent is back",
                    "{name}から応答がありません。エージェントが戻るまでジョブは待機します"
                ));
            }
        }
        Ok(())
    }

    /// Returns the hosts that have another version, unless that is allowed, with the reason.
    fn other_versions(&self, hosts: &[HostState]) -> BTreeMap<String, String> {
        let hellos = hosts
            .iter()
            .filter_map(|host| Some((host, host.hello.as_ref()?)));
        let others = hellos.filter(|(host, hello)| {
            host.present && hello.version != VERSION && !self.run.mixed_versions
        });
        let reason = |(host, hello): (&HostState, &crate::message::HostHello)| {
            let theirs = hakaru_report::plain(&hello.version);
            let why = both!(
                "{} has hakaru {theirs}, this host {VERSION}; help: install the same version (`hakaru fleet enroll`), or use \
                 --mixed-versions",
                "{}はhakaru {theirs}、このホストは{VERSION}です; help: hakaru fleet enrollで同じバージョンをインストールするか、--mixed-versionsを指定してください";
                host.name
            );
            (host.name.clone(), why)
        };
        others.map(reason).collect()
    }

    async fn send(&mut self, cards: AssignedCards) -> Result<()> {
        let AssignedCards {
            host,
            cards,
            permissions,
        } = cards;
        let campaign = self.run.campaign;
        let (layers, workloads) = campaign.selected();
        let rows = self.run.store.points(&campaign.id)?;
        let job = HostJob {
            id: new_id(),
            campaign: campaign.id.clone(),
            version: VERSION.to_owned(),
            any_version: self.run.mixed_versions,
            asked: self.run.asked.to_owned(),
            cards: cards.clone(),
            layers,
            workloads,
            repeats: self
                .run
                .repeats
                .filter(|_| matches!(campaign.repeats, RepeatRule::Times(_))),
            permissions,
            stored: rows.iter().filter(|row| row.host == host).count() as u64,
        };
        let mut sent = DispatchedJob {
            id: job.id.clone(),
            campaign: job.campaign.clone(),
            host: host.clone(),
            cards,
            sequence: 0,
        };
        // Noted before it is sent: a job that is sent and not noted would be sent twice.
        self.dispatched.note(&sent)?;
        sent.sequence = self
            .link
            .publish(&names::work(&host), &job.id, &job)
            .await?;
        self.dispatched.note(&sent)?;
        self.awaited.insert(
            job.id.clone(),
            AwaitedJob {
                job: sent,
                gone: None,
            },
        );
        Ok(())
    }
}
