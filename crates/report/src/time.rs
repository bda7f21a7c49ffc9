//! Formats times: milliseconds since 1970 to UTC, without a clock, a time zone or a library.

/// Formats a time of the proleptic Gregorian calendar: `2026-01-05 10:00:00 UTC`. Every number is valid.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`.
pub fn utc(unix_ms: i64) -> String {
    let seconds = unix_ms.div_euclid(1000);
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Formats a date: `2026-01-05`.
pub fn day(unix_ms: i64) -> String {
    utc(unix_ms)
        .split(' ')
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Formats an hour: `10:00`.
pub(crate) fn hour(unix_ms: i64) -> String {
    let text = utc(unix_ms);
    let clock = text.split(' ').nth(1).and_then(|clock| clock.get(..5));
    clock.unwrap_or_default().to_owned()
}

/// Formats a time for machines: `2026-01-05T10:00:00.000Z`.
pub fn iso(unix_ms: i64) -> String {
    let text = utc(unix_ms);
    let millis = unix_ms.rem_euclid(1000);
    format!(
        "{}.{millis:03}Z",
        text.trim_end_matches(" UTC").replace(' ', "T")
    )
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months are counted from March, so that the leap day is the last day of the year.
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        // From `date -u -d @N`.
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400_000), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_767_607_200_000), "2026-01-05 10:00:00 UTC");
        assert_eq!(utc(4_107_542_399_000), "2100-02-28 23:59:59 UTC");
        assert_eq!(utc(-1000), "1969-12-31 23:59:59 UTC");
        assert_eq!(iso(1_767_607_200_042), "2026-01-05T10:00:00.042Z");
        assert_eq!(hour(1_767_607_200_042), "10:00");
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        assert!(!utc(i64::MAX).is_empty() && !iso(i64::MIN).is_empty());
    }
}
