//! The operator's side of a fleet: hosts, jobs and results.

mod assign;
mod collect;
mod control;
mod dispatched;
mod lost;
mod published;
mod run;

pub use assign::EraseQuestion;
pub use control::{HostLog, JobState, logs, status, stop};
pub use run::{FleetReporter, FleetResult, FleetRun, collect, run};

use crate::directory::FleetDirectory;
use crate::message::HostHello;
use crate::signed::{self, Signer};
use crate::{clock, names};
use anyhow::Result;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, Context};
use async_nats::{Client, HeaderMap};
use futures_util::StreamExt as _;
use hakaru_model::campaign::ClockOffset;
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// Time after which a server that does not answer is an error.
const PATIENCE: Duration = Duration::from_secs(120);

/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Time in which agents answer.
const ANSWER: Duration = Duration::from_millis(1500);

/// State of a host of the fleet.
#[derive(Clone, Debug, PartialEq)]
pub struct HostState {
    /// Its name in the fleet.
    pub name: String,
    /// Whether it answers now.
    pub present: bool,
    /// What it announced last; `None` if it never did.
    pub hello: Option<HostHello>,
}

/// A connection of the operator.
struct OperatorLink {
    client: Client,
    context: Context,
    signer: Signer,
    /// Public keys of the agents by name.
    keys: BTreeMap<String, String>,
}

impl OperatorLink {
    async fn connect(directory: &FleetDirectory) -> Result<OperatorLink> {
        let seed = directory.seed()?;
        let client = directory.access(&seed).connect(|_| {}).await?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(Duration::from_secs(10));
        let agents = directory.agents()?.into_iter();
        Ok(OperatorLink {
            client,
            context,
            signer: directory.signer()?,
            keys: agents.map(|agent| (agent.name, agent.key)).collect(),
        })
    }

    /// Publishes a signed message to a stream, and returns its number when the server has stored it. While the server is
    /// away, this tries again; the server drops what it has stored already.
    async fn publish<T: Serialize>(&self, subject: &str, id: &str, content: &T) -> Result<u64> {
        let (headers, payload) = self.signer.seal(subject, content)?;

        patiently(async || {
            let message = PublishMessage::build()
                .headers(headers.clone())
                .message_id(id)
                .payload(payload.clone().into());
            let stored = self
                .context
                .send_publish(subject.to_owned(), message)
                .await?;
            Ok(stored.await?.sequence)
        })
        .await
    }

    /// Reads a message of a host, which must be enrolled and have signed it.
    fn signed<T: serde::de::DeserializeOwned>(
        &self,
        subject: &str,
        headers: Option<&HeaderMap>,
        payload: &[u8],
    ) -> Result<T, signed::Rejected> {
        let key = self.keys.get(names::host_of(subject));
        // No key has this text, so a host that is not enrolled is refused like a wrong key.
        let key = key.map_or("", String::as_str);
        signed::open(subject, headers, payload, key)
    }

    /// Returns the state of all enrolled hosts: those that answer, and what others announced last.
    async fn hosts(&self) -> Result<Vec<HostState>> {
        let mut states: BTreeMap<String, HostState> = BTreeMap::new();
        for name in self.keys.keys() {
            states.insert(
                name.clone(),
                HostState {
                    name: name.clone(),
                    present: false,
                    hello: None,
                },
            );
        }
        for hello in self.answers().await? {
            if let Some(state) = states.get_mut(&hello.name) {
                state.present = true;
                state.hello = Some(hello);
            }
        }
        let stream = self.context.get_stream_no_info(names::HOST).await?;
        for state in states.values_mut().filter(|state| state.hello.is_none()) {
            let subject = names::host(&state.name);
            if let Ok(last) = stream.get_last_raw_message_by_subject(&subject).await {
                state.hello = self
                    .signed(&subject, Some(&last.headers), &last.payload)
                    .ok();
            }
        }
        Ok(states.into_values().collect())
    }

    /// Asks all agents for an announcement.
    async fn answers(&self) -> Result<Vec<HostHello>> {
        let inbox = self.client.new_inbox();
        let mut replies = self.client.subscribe(inbox.clone()).await?;
        self.client
            .publish_with_reply(names::ASK, inbox, "".into())
            .await?;
        let until = Instant::now() + ANSWER;
        let mut all: BTreeMap<String, HostHello> = BTreeMap::new();
        while all.len() < self.keys.len() {
            let Ok(Some(reply)) = tokio::time::timeout_at(until, replies.next()).await else {
                break;
            };
            if let Some(hello) = self.hello(&reply) {
                all.insert(hello.name.clone(), hello);
            }
        }
        Ok(all.into_values().collect())
    }

    /// Reads an announcement, which its host must have signed.
    fn hello(&self, reply: &async_nats::Message) -> Option<HostHello> {
        let headers = reply.headers.as_ref()?;
        let from = signed::sender(headers)?;
        let (name, _) = self.keys.iter().find(|(_, key)| **key == from)?;
        let hello: HostHello = self
            .signed(&names::host(name), Some(headers), &reply.payload)
            .ok()?;
        (hello.name == *name).then_some(hello)
    }

    /// Returns the difference between the clock of this host and that of the server.
    async fn clock(&self) -> Option<ClockOffset> {
        let before = clock::now_ns();
        let subject = names::host(names::OPERATOR);
        let stored = self
            .publish(&subject, &before.to_string(), &())
            .await
            .ok()?;
        let times = (before, clock::now_ns());
        clock::offset(&self.client, names::OPERATOR, stored, times).await
    }
}

/// Repeats a request until it succeeds, or the server has been away for too long.
///
/// # Errors
/// The last error.
async fn patiently<T>(mut request: impl AsyncFnMut() -> Result<T>) -> Result<T> {
    let until = Instant::now() + PATIENCE;
    loop {
        match request().await {
            Err(_) if Instant::now() < until => tokio::time::sleep(PAUSE).await,
            ended => return ended,
        }
    }
}

/// Returns the state of all hosts of a fleet.
///
/// # Errors
/// If there is no connection to the server.
pub fn hosts(directory: &FleetDirectory) -> Result<Vec<HostState>> {
    crate::block_on(async { OperatorLink::connect(directory).await?.hosts().await })
}
