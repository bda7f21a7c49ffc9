//! fio's format of wall-clock times: `Wed Nov  5 12:26:48 2025`.

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Formats a time in ms since 1970 UTC, with an offset in seconds east, like C's `ctime`.
pub(super) fn ctime(unix_ms: i64, utc_offset_s: i32) -> String {
    let seconds = unix_ms.div_euclid(1000) + i64::from(utc_offset_s);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = date(days);
    let weekday = DAYS[days.rem_euclid(7) as usize];
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{weekday} {} {day:2} {hour:02}:{minute:02}:{second:02} {year}",
        MONTHS[month]
    )
}

/// Year, month from 0 and day from 1 of a day counted from 1970.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`: eras
/// of 400 years that start in March, so that the leap day is the last of its year.
fn date(days: i64) -> (i64, usize, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    (
        year_of_era + era * 400 + i64::from(month < 2),
        month as usize,
        day,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_in_c() {
        assert_eq!(ctime(0, 0), "Thu Jan  1 00:00:00 1970");
        assert_eq!(ctime(1_762_313_208_999, 0), "Wed Nov  5 03:26:48 2025");
        assert_eq!(
            ctime(1_762_313_208_999, 9 * 3600),
            "Wed Nov  5 12:26:48 2025"
        );
        assert_eq!(ctime(1_709_164_800_000, 0), "Thu Feb 29 00:00:00 2024");
        assert_eq!(ctime(-1, 0), "Wed Dec 31 23:59:59 1969");
        assert_eq!(ctime(951_868_799_000, 0), "Tue Feb 29 23:59:59 2000");
    }
}
