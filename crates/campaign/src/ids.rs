//! Run IDs and the wall clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns an ID that sorts by time (UUID version 7, RFC 9562).
pub fn new_id() -> String {
    id_at(SystemTime::now())
}

fn id_at(now: SystemTime) -> String {
    let id = match now.duration_since(UNIX_EPOCH) {
        Ok(_) => uuid::Uuid::now_v7(),
        // On a board without a clock battery the time may be before 1970, which these IDs cannot represent.
        Err(_) => uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, 0, 0)),
    };
    id.to_string()
}

/// Returns the milliseconds since 1970 UTC.
pub fn now_unix_ms() -> i64 {
    unix_ms(SystemTime::now())
}

fn unix_ms(time: SystemTime) -> i64 {
    let whole = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_before_1970_gives_ids_and_times() {
        let before = UNIX_EPOCH - Duration::from_millis(1500);
        let ids = [id_at(before), id_at(before), id_at(SystemTime::now())];
        assert!(
            ids.iter()
                .all(|id| uuid::Uuid::parse_str(id).is_ok_and(|id| id.get_version_num() == 7)),
            "{ids:?}"
        );
        assert!(ids[0] != ids[1] && ids[1] < ids[2], "{ids:?}");
        assert_eq!(
            (
                unix_ms(before),
                unix_ms(UNIX_EPOCH),
                unix_ms(UNIX_EPOCH + Duration::from_secs(2))
            ),
            (-1500, 0, 2000)
        );
    }
}
