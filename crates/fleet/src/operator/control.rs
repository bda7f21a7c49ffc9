//! Jobs that wait or run, stopping them, and the logs of the hosts.

use super::OperatorLink;
use super::dispatched::DispatchedJobs;
use crate::directory::FleetDirectory;
use crate::message::{AgentLogLine, StopRequest};
use crate::names;
use anyhow::Result;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use futures_util::StreamExt as _;
use std::collections::BTreeMap;
use std::time::Duration;

/// Time in which a host answers.
const ANSWER: Duration = Duration::from_secs(2);

/// A job that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobState {
    /// Its ID.
    pub id: String,
    /// ID of its campaign.
    pub campaign: String,
    /// Its host.
    pub host: String,
    /// Labels of its cards.
    pub cards: Vec<String>,
    /// Whether the host has received it.
    pub received: bool,
}

/// Returns the jobs that have not ended, oldest first.
///
/// # Errors
/// If there is no connection to the server.
pub fn status(directory: &FleetDirectory) -> Result<Vec<JobState>> {
    crate::block_on(async {
        let link = OperatorLink::connect(directory).await?;
        let mut delivered: BTreeMap<String, u64> = BTreeMap::new();
        let mut states = Vec::new();
        for job in DispatchedJobs::open(directory)?.all()? {
            if !delivered.contains_key(&job.host) {
                let name = names::worker(&job.host);
                let consumer: Result<PullConsumer, _> = link
                    .context
                    .get_consumer_from_stream(&name, names::WORK)
                    .await;
                let last = consumer.map_or(0, |of| of.cached_info().delivered.stream_sequence);
                delivered.insert(job.host.clone(), last);
            }
            states.push(JobState {
                received: job.sequence > 0 && delivered.get(&job.host) >= Some(&job.sequence),
                id: job.id,
                campaign: job.campaign,
                host: job.host,
                cards: job.cards,
            });
        }
        Ok(states)
    })
}

/// Stops the jobs of a campaign, or all jobs. Returns their states before: hosts that did not answer go on until they
/// are reached again.
///
/// # Errors
/// If there is no connection to the server.
pub fn stop(directory: &FleetDirectory, campaign: Option<&str>) -> Result<Vec<(JobState, bool)>> {
    let jobs = status(directory)?.into_iter();
    let jobs: Vec<JobState> = jobs
        .filter(|job| campaign.is_none_or(|campaign| job.campaign == campaign))
        .collect();
    crate::block_on(async {
        let link = OperatorLink::connect(directory).await?;
        let dispatched = DispatchedJobs::open(directory)?;
        let sequences: BTreeMap<String, u64> = dispatched
            .all()?
            .into_iter()
            .map(|job| (job.id, job.sequence))
            .collect();
        let stream = link.context.get_stream_no_info(names::WORK).await?;
        let mut by_host: BTreeMap<&str, StopRequest> = BTreeMap::new();
        for job in &jobs {
            if job.received {
                by_host
                    .entry(&job.host)
                    .or_default()
                    .jobs
                    .push(job.id.clone());
            } else if let Some(sequence) = sequences.get(&job.id) {
                let _ = stream.delete_message(*sequence).await;
                dispatched.forget(&job.id);
            }
        }
        let mut answered = Vec::new();
        for (host, request) in by_host {
            let subject = names::stop(host);
            let (headers, payload) = link.signer.seal(&subject, &request)?;
            let asked = link
                .client
                .request_with_headers(subject, headers, payload.into());
            if matches!(tokio::time::timeout(ANSWER, asked).await, Ok(Ok(_))) {
                answered.push(host.to_owned());
            }
        }
        let stopped = jobs.iter().map(|job| {
            let reached = !job.received || answered.contains(&job.host);
            (job.clone(), reached)
        });
        Ok(stopped.collect())
    })
}

/// Lines of the log of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLog {
    /// Name of the host.
    pub host: String,
    /// The line, without control characters.
    pub line: AgentLogLine,
}

/// Passes the last lines of the logs to `print`, oldest first; of all hosts, or of one.
///
/// # Errors
/// If there is no connection to the server, or the error of `print`.
pub fn logs(
    directory: &FleetDirectory,
    host: Option<&str>,
    most: usize,
    print: &mut dyn FnMut(&HostLog) -> Result<()>,
) -> Result<()> {
    crate::block_on(async {
        let link = OperatorLink::connect(directory).await?;
        let config = pull::Config {
            filter_subject: names::log(host.unwrap_or("*")),
            deliver_policy: DeliverPolicy::All,
            ack_policy: AckPolicy::None,
            inactive_threshold: Duration::from_secs(60),
            ..pull::Config::default()
        };
        let consumer = link
            .context
            .create_consumer_on_stream(config, names::LOG)
            .await?;
        let mut all = std::collections::VecDeque::new();
        loop {
            let mut batch = consumer.fetch().max_messages(500).messages().await?;
            let mut received = 0;
            while let Some(message) = batch.next().await {
                let Ok(message) = message else { break };
                received += 1;
                let Ok(line) = serde_json::from_slice::<AgentLogLine>(&message.payload) else {
                    continue;
                };
                all.push_back(HostLog {
                    host: names::host_of(&message.subject).to_owned(),
                    line: AgentLogLine {
                        text: hakaru_report::plain(&line.text),
                        ..line
                    },
                });
                if all.len() > most {
                    all.pop_front();
                }
            }
            if received == 0 {
                break;
            }
        }
        all.iter().try_for_each(print)
    })
}
