//! Jobs that will not end: the server has lost them, or has given them up.

use super::run::FleetWatch;
use crate::{names, server};
use async_nats::jetstream::stream::RawMessageErrorKind;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Time after which a job that the server no longer holds, and whose end has not arrived, counts as lost.
const GRACE: Duration = Duration::from_secs(30);

impl FleetWatch<'_, '_> {
    /// Finds jobs that the server no longer holds although their end has not arrived, and jobs that it gave up.
    pub(super) async fn look_for_lost_jobs(&mut self) {
        let Ok(stream) = self.link.context.get_stream_no_info(names::WORK).await else {
            return;
        };
        let given_up = self.given_up().await;
        let mut lost = Vec::new();
        for awaited in self.awaited.values_mut() {
            let host = &awaited.job.host;
            let held = match stream.get_raw_message(awaited.job.sequence).await {
                Ok(_) => true,
                Err(error) => error.kind() != RawMessageErrorKind::NoMessageFound,
            };
            let delivered = given_up.get(host);
            match (held, awaited.gone) {
                (true, _) if delivered.is_some_and(|last| awaited.job.sequence <= *last) => {
                    lost.push((awaited.job.clone(), true));
                }
                (true, _) => awaited.gone = None,
                (false, None) => awaited.gone = Some(Instant::now()),
                (false, Some(since)) if since.elapsed() >= GRACE || awaited.job.sequence == 0 => {
                    lost.push((awaited.job.clone(), false));
                }
                (false, Some(_)) => {}
            }
        }
        for (job, gave_up) in lost {
            let why = match gave_up {
                true => {
                    let _ = stream.delete_message(job.sequence).await;
                    both!(
                        "the job was delivered {} times and never ended; help: see `hakaru fleet logs {}`, then run again",
                        "ジョブを{}回配信しましたが終了しませんでした; help: hakaru fleet logs {}を確認してから再実行してください";
                        server::DELIVERIES, job.host
                    )
                }
                false => both!(
                    "the server has lost the job; help: run again",
                    "サーバがジョブを失いました; help: 再実行してください"
                ),
            };
            self.awaited.remove(&job.id);
            self.dispatched.forget(&job.id);
            let cards = job.cards.join(", ");
            self.result
                .failures
                .push((format!("{}: {cards}", job.host), why));
        }
    }

    /// Returns, for each host whose jobs the server gave up, the number of the last such job.
    async fn given_up(&self) -> BTreeMap<String, u64> {
        let mut given_up = BTreeMap::new();
        let hosts: BTreeSet<&String> = self.awaited.values().map(|of| &of.job.host).collect();
        // Asking for a few consumers a turn is enough: giving up takes minutes.
        for host in hosts.into_iter().take(50) {
            let name = names::worker(host);
            let consumer: Result<async_nats::jetstream::consumer::PullConsumer, _> = self
                .link
                .context
                .get_consumer_from_stream(&name, names::WORK)
                .await;
            let Ok(consumer) = consumer else { continue };
            let info = consumer.cached_info();
            // Nothing is pending or in work, but a job is still in the stream: it was delivered too often.
            if info.num_pending == 0
                && info.num_ack_pending == 0
                && info.delivered.stream_sequence > 0
            {
                given_up.insert(host.clone(), info.delivered.stream_sequence);
            }
        }
        given_up
    }
}
