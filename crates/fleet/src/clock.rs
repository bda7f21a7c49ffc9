//! The difference between the clock of a host and that of the server.

use crate::names;
use async_nats::Client;
use hakaru_model::campaign::ClockOffset;
use jiff::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// Header with the time at which the server stored a message.
const STORED_AT: &str = "Nats-Time-Stamp";

/// Header with the number of a message in its stream.
const SEQUENCE: &str = "Nats-Sequence";

/// Returns the time of this host in nanoseconds since 1970 UTC.
pub(crate) fn now_ns() -> i128 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// Returns the difference of the clocks, from a message that this host published: the server stored it between `before`
/// and `after`, which are times of this host.
pub(crate) async fn offset(
    client: &Client,
    host: &str,
    sequence: u64,
    (before, after): (i128, i128),
) -> Option<ClockOffset> {
    let subject = format!("$JS.API.DIRECT.GET.{}.{}", names::HOST, names::host(host));
    let reply = client.request(subject, "".into()).await.ok()?;
    let headers = reply.headers?;
    let header = |name: &str| headers.get(name).map(|value| value.as_str().to_owned());
    if header(SEQUENCE)? != sequence.to_string() {
        return None;
    }
    let stored: Timestamp = header(STORED_AT)?.parse().ok()?;
    between(stored.as_nanosecond(), before, after)
}

/// Returns the offset of a server whose clock showed `server` between two times of the host.
fn between(server: i128, before: i128, after: i128) -> Option<ClockOffset> {
    let middle = before + (after - before) / 2;
    Some(ClockOffset {
        offset_ns: i64::try_from(server - middle).ok()?,
        uncertainty_ns: u64::try_from((after - before).max(0) / 2).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whenever the server reads its clock during the exchange, the true offset is within the bounds.
        #[test]
        fn the_true_offset_is_within_the_uncertainty(
            truth in -i64::from(u32::MAX) * 1_000_000..i64::from(u32::MAX) * 1_000_000,
            before in 0i64..2_000_000_000_000_000_000,
            taken in 0i64..10_000_000_000,
            part in 0.0..1.0f64,
        ) {
            let read = before + (taken as f64 * part) as i64;
            let found = between(
                i128::from(read) + i128::from(truth),
                i128::from(before),
                i128::from(before + taken),
            ).unwrap();
            let error = (found.offset_ns - truth).unsigned_abs();
            prop_assert!(error <= found.uncertainty_ns + 1, "{error} {found:?}");
        }
    }
}
