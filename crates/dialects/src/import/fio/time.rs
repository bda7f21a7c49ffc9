//! Parses the date that fio prints: `Wed Nov  5 12:19:01 2025`, in the local time of its host, without a time zone.

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Parses the date as ms since 1970 in local time, as if it were UTC. `None` if it is not a date.
pub(super) fn unix_ms(date: &str) -> Option<i64> {
    let words: Vec<&str> = date.split_whitespace().collect();
    let [_, month, day, clock, year] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|known| *known == month)? as i64 + 1;
    let (day, year): (i64, i64) = (day.parse().ok()?, year.parse().ok()?);
    let clock: Vec<i64> = clock
        .split(':')
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let [hour, minute, second] = clock[..] else {
        return None;
    };
    let fits = (1..=31).contains(&day) && (0..24).contains(&hour) && (0..60).contains(&minute);
    if !fits || !(0..=60).contains(&second) || !(1970..3000).contains(&year) {
        return None;
    }
    let seconds = ((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    Some(seconds * 1000)
}

/// Days since 1970 in the Gregorian calendar, counted from March so that the leap day is the last of its year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    of_years + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_moments() {
        assert_eq!(unix_ms("Thu Jan  1 00:00:00 1970"), Some(0));
        assert_eq!(unix_ms("Wed Nov  5 12:19:01 2025"), Some(1_762_345_141_000));
        assert_eq!(unix_ms("Mon Feb 29 23:59:60 2016"), Some(1_456_790_400_000));
        for text in [
            "",
            "Wed Nov 5 2025",
            "Wed Nov 99 12:19:01 2025",
            "Wed Nov 5 12:19 2025",
            "a b c d e",
        ] {
            assert_eq!(unix_ms(text), None, "{text}");
        }
    }
}
