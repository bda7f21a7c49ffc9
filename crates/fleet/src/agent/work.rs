//! Jobs: received one at a time for each card, kept alive while they are carried out, and answered when all results are
//! sent.

use super::measure::{JobEvent, JobRun};
use super::{Agent, RETRY, state_directory};
use crate::message::{HostJob, HostReport, JobEnd, JobOutcome, JobProgress};
use crate::{VERSION, names};
use anyhow::Result;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hakaru_campaign::campaign::resolve::is_plain_name;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc;

/// A job that is carried out.
pub(super) struct RunningJob {
    pub(super) id: String,
    pub(super) campaign: String,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl RunningJob {
    /// Asks it to stop; what it measured is kept.
    pub(super) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Waits for its end.
    pub(super) fn wait(self) {
        // A panic of the thread has been printed.
        let _ = self.thread.join();
    }
}

impl Agent<'_> {
    /// Receives and carries out jobs.
    pub(super) async fn jobs(&self) -> Result<()> {
        let name = names::worker(self.name());
        let mut consumer = self.consumer(names::WORK, &name).await;
        let mut running = FuturesUnordered::new();
        let mut next = Box::pin(self.next_job(consumer.clone()));
        loop {
            let most = usize::try_from(consumer.cached_info().config.max_ack_pending).unwrap_or(1);
            let has_room = running.len() < most.max(1);
            tokio::select! {
                Some(()) = running.next() => {}
                // The request is not dropped before it has ended: a job that was on its way would be lost for a while.
                message = &mut next, if has_room => {
                    if let Some(message) = message {
                        running.push(self.job(message));
                    }
                    // The operator may have changed how many jobs this host takes at a time.
                    if let Ok(changed) = self.context.get_consumer_from_stream(&name, names::WORK).await {
                        consumer = changed;
                    }
                    next = Box::pin(self.next_job(consumer.clone()));
                }
            }
        }
    }

    async fn next_job(&self, consumer: PullConsumer) -> Option<Message> {
        self.next(&consumer).await
    }

    /// Carries out one job.
    async fn job(&self, message: Message) {
        let job: HostJob = match self.signed(&message) {
            Ok(job) => job,
            Err(why) => {
                self.log_refusal(&message, &why.to_string()).await;
                let _ = message.ack_with(AckKind::Term).await;
                return;
            }
        };
        let id = hakaru_report::plain(&job.id);
        let end = match self.journal.end_of(&job.id) {
            Some(end) => {
                self.log(&both!(
                    "job {id} was done before",
                    "ジョブ{id}は完了済みです"
                ))
                .await;
                end
            }
            None => match refusal(&job) {
                Some(why) => {
                    self.log(&both!(
                        "refused job {id}: {why}",
                        "ジョブ{id}を拒否しました: {why}"
                    ))
                    .await;
                    JobEnd {
                        job: job.id.clone(),
                        outcome: JobOutcome::Refused,
                        skipped: job
                            .cards
                            .iter()
                            .map(|card| (card.clone(), why.clone()))
                            .collect(),
                        ..JobEnd::default()
                    }
                }
                None => self.measure(&job, &message).await,
            },
        };
        self.answer_job(&message, &end).await;
    }

    /// Sends the end of a job after all results, and tells the server that the job is done.
    async fn answer_job(&self, message: &Message, end: &JobEnd) {
        let mut waiting = self.waiting.subscribe();
        let mut beat = tokio::time::interval(self.beat());
        loop {
            tokio::select! {
                sent = waiting.wait_for(|waiting| *waiting == 0) => {
                    drop(sent);
                    break;
                }
                _ = beat.tick() => {
                    let _ = message.ack_with(AckKind::Progress).await;
                }
            }
        }
        if let Err(error) = self.journal.note(end) {
            // The job may be delivered again, and is then found done in the database.
            self.log(&format!("{error:#}")).await;
        }
        let subject = names::result(self.name());
        let report = HostReport::End(end.clone());
        while self.publish(&subject, &end.job, &report).await.is_err() {
            let _ = message.ack_with(AckKind::Progress).await;
            tokio::time::sleep(RETRY).await;
        }
        // If this is lost, the job is delivered again, and answered from the journal.
        let _ = message.double_ack().await;
    }

    /// Interval of signs of life of a job.
    fn beat(&self) -> Duration {
        Duration::from_secs(u64::from(self.config.lease_seconds)) / 4
    }

    async fn measure(&self, job: &HostJob, message: &Message) -> JobEnd {
        let failed = |why: String| JobEnd {
            job: job.id.clone(),
            failures: vec![(both!("the job", "ジョブ"), why)],
            ..JobEnd::default()
        };
        // The offset of the clock is measured for each job, because clocks drift.
        let _ = self.announce().await;
        let (events, mut received) = mpsc::unbounded_channel();
        let stop = Arc::new(AtomicBool::new(false));
        let state = match state_directory(&self.directory) {
            Ok(state) => state,
            Err(error) => return failed(format!("{error:#}")),
        };
        let run = JobRun {
            job: job.clone(),
            host: self.name().to_owned(),
            clock: self.offset.get(),
            database: self.database(),
            state,
            stop: Arc::clone(&stop),
            language: self.language,
            events,
        };
        let thread = match run.begin() {
            Ok(thread) => thread,
            Err(error) => return failed(error.to_string()),
        };
        let (id, campaign) = (job.id.clone(), job.campaign.clone());
        self.log(&both!(
            "job {id}: campaign {campaign}",
            "ジョブ{id}: キャンペーン{campaign}"
        ))
        .await;
        self.running.borrow_mut().push(RunningJob {
            id,
            campaign,
            stop,
            thread,
        });
        let mut beat = tokio::time::interval(self.beat());
        let end = loop {
            tokio::select! {
                event = received.recv() => match event {
                    Some(JobEvent::Ended(end)) => break end,
                    Some(event) => self.note_event(&job.id, event).await,
                    None => break failed(both!("it ended without a result", "結果なしで終了しました")),
                },
                _ = beat.tick() => {
                    let _ = message.ack_with(AckKind::Progress).await;
                }
            }
        };
        self.running
            .borrow_mut()
            .retain(|running| running.id != job.id);
        self.unmap_when_idle();
        let (id, measured) = (&job.id, end.measured);
        self.log(&both!(
            "job {id}: {measured} runs measured",
            "ジョブ{id}: {measured}回を測定しました"
        ))
        .await;
        end
    }

    async fn note_event(&self, job: &str, event: JobEvent) {
        match event {
            JobEvent::Progress {
                text,
                point,
                bandwidth,
            } => {
                let progress = JobProgress {
                    job: job.to_owned(),
                    text,
                    point,
                    bandwidth,
                };
                if let Ok(json) = serde_json::to_vec(&progress) {
                    let _ = self
                        .client
                        .publish(names::progress(self.name()), json.into())
                        .await;
                }
            }
            JobEvent::Note(text) => self.log(&text).await,
            JobEvent::Stored(run) => {
                self.outbox.borrow_mut().add(run);
                self.note_waiting();
            }
            JobEvent::Lost(runs) => {
                self.outbox.borrow_mut().send_lost(runs.into_iter(), job);
                self.note_waiting();
            }
            JobEvent::Ended(_) => {}
        }
    }
}

/// Returns why a job is not carried out.
fn refusal(job: &HostJob) -> Option<String> {
    let theirs = hakaru_report::plain(&job.version);
    if job.version != VERSION && !job.any_version {
        return Some(both!(
            "the operator has hakaru {theirs}, this host has {VERSION}; help: install the same version, or use --mixed-versions",
            "管理側はhakaru {theirs}、このホストは{VERSION}です; help: 同じバージョンをインストールするか、--mixed-versionsを指定してください"
        ));
    }
    let names = [&job.id, &job.campaign];
    let odd = names.into_iter().find(|name| !is_plain_name(name))?;
    let odd = odd.escape_debug();
    Some(both!("`{odd}` is not an ID", "「{odd}」はIDではありません"))
}
