//! Results: stored once, and acknowledged when they are stored.

use super::OperatorLink;
use crate::message::{HostReport, JobEnd, Receipt};
use crate::names;
use anyhow::Result;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use hakaru_model::record::RunRecord;
use hakaru_store::{Appended, RecordText, Store};
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum number of results that are stored in one transaction.
const BATCH: usize = 256;

/// What a batch of results contained.
#[derive(Default)]
pub(super) struct CollectedResults {
    /// New runs with the name of their host.
    pub(super) stored: Vec<(String, RunRecord)>,
    /// Ends of jobs with the name of their host.
    pub(super) ends: Vec<(String, JobEnd)>,
    /// Why messages were not accepted, with the name of the host that the subject has.
    pub(super) rejected: Vec<(String, String)>,
    /// Number of messages.
    pub(super) received: usize,
}

/// Reads results from the server.
pub(super) struct ResultReader<'a> {
    link: &'a OperatorLink,
    consumer: PullConsumer,
}

impl<'a> ResultReader<'a> {
    pub(super) async fn open(link: &'a OperatorLink) -> Result<ResultReader<'a>> {
        let consumer = link
            .context
            .get_consumer_from_stream(names::OPERATOR, names::RESULT)
            .await?;
        Ok(ResultReader { link, consumer })
    }

    /// Waits for results up to a time, stores and acknowledges them. A lost connection is no error: it is made again.
    pub(super) async fn collect(
        &self,
        store: &mut Store,
        wait: Duration,
    ) -> Result<CollectedResults> {
        let batch = self.consumer.batch().max_messages(BATCH).expires(wait);
        let mut messages = Vec::new();
        // The server ends the request; without it, this would wait for ever.
        let until = tokio::time::Instant::now() + wait + Duration::from_secs(2);
        if let Ok(mut batch) = batch.messages().await {
            while let Ok(Some(Ok(message))) = tokio::time::timeout_at(until, batch.next()).await {
                messages.push(message);
            }
        } else {
            tokio::time::sleep(wait.min(Duration::from_millis(500))).await;
        }
        let mut collected = CollectedResults {
            received: messages.len(),
            ..CollectedResults::default()
        };
        let mut runs: Vec<(String, RecordText)> = Vec::new();
        let mut accepted = Vec::new();
        for message in messages {
            let host = names::host_of(&message.subject).to_owned();
            match self.read(&host, &message) {
                Ok(ReadReport::Run(run)) => runs.push((host, *run)),
                Ok(ReadReport::End(end)) => collected.ends.push((host, end)),
                Err(why) => {
                    collected.rejected.push((host, why));
                    let _ = message.ack_with(AckKind::Term).await;
                    continue;
                }
            }
            accepted.push(message);
        }
        self.keep(store, runs, &mut collected).await?;
        // A message whose acknowledgment is lost comes again, and its run is found stored.
        join_all(accepted.iter().map(Message::ack)).await;
        Ok(collected)
    }

    /// Checks who sent a message, and reads it.
    fn read(&self, host: &str, message: &Message) -> Result<ReadReport, String> {
        let report = self
            .link
            .signed(&message.subject, message.headers.as_ref(), &message.payload);
        match report.map_err(|why| why.to_string())? {
            HostReport::End(end) => Ok(ReadReport::End(end)),
            HostReport::Run { record } => {
                let run = RecordText::read(record).map_err(|error| error.to_string())?;
                let point = run.record().campaign.as_ref();
                let of = point.and_then(|point| point.assignment.as_ref());
                if of.is_none_or(|of| of.host != host) || run.record().environment.hostname != host
                {
                    return Err(both!(
                        "run {} is not one of this host",
                        "測定{}はこのホストのものではありません";
                        hakaru_report::plain(&run.record().id)
                    ));
                }
                Ok(ReadReport::Run(Box::new(run)))
            }
        }
    }

    /// Stores runs, and tells their hosts.
    async fn keep(
        &self,
        store: &mut Store,
        runs: Vec<(String, RecordText)>,
        collected: &mut CollectedResults,
    ) -> Result<()> {
        let all = store.append_texts(runs.iter().map(|(_, run)| run));
        let appended: Vec<Option<Appended>> = match all {
            Ok(appended) => appended.into_iter().map(Some).collect(),
            // One of them cannot be stored; the others can.
            Err(_) => {
                let mut each = Vec::new();
                for (host, run) in &runs {
                    match store.append_texts([run]) {
                        Ok(one) => each.push(one.first().copied()),
                        Err(error @ hakaru_store::AppendError::Store(_)) => {
                            return Err(error.into());
                        }
                        Err(error) => {
                            collected.rejected.push((host.clone(), error.to_string()));
                            each.push(None);
                        }
                    }
                }
                each
            }
        };
        let mut receipts: BTreeMap<&str, Receipt> = BTreeMap::new();
        for ((host, run), appended) in runs.iter().zip(&appended) {
            if appended.is_some() {
                let receipt = receipts.entry(host).or_default();
                receipt.runs.push(run.record().id.clone());
            }
        }
        let sent = receipts.iter().map(|(host, receipt)| async move {
            let (subject, id) = (names::receipt(host), hakaru_campaign::new_id());
            self.link.publish(&subject, &id, receipt).await
        });
        // A host without a receipt sends its runs again after its next start, which is harmless.
        join_all(sent).await;
        for ((host, run), appended) in runs.into_iter().zip(appended) {
            if appended == Some(Appended::Stored) {
                collected.stored.push((host, run.into_record()));
            }
        }
        Ok(())
    }
}

enum ReadReport {
    Run(Box<RecordText>),
    End(JobEnd),
}
