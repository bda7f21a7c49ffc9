//! Sizes, times and shares in a campaign file: `"16 GiB"`, `"90 s"`, `"2 %"`.

use hakaru_model::units::{Bytes, Nanos, SizeSuffixes, parse_size};
use hakaru_report::both;
use serde::{Deserialize, Deserializer, de};
use std::fmt;
use std::marker::PhantomData;

/// A size: text with a unit, or a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub Bytes);

/// A time: text with a unit, or a number of seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub Nanos);

/// A share: text with a percent sign, or a number of percent. Stored as a fraction of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(pub f64);

/// A speed as printed on cards: a number of MB/s, or text with that unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrintedSpeed(pub f64);

/// A value that is written as text or as a number.
trait Quantity: Sized {
    /// What the value has to be.
    fn what() -> String;
    fn of_text(text: &str) -> Result<Self, String>;
    fn of_number(number: f64) -> Option<Self>;
}

impl Quantity for Size {
    fn what() -> String {
        both!(
            "a size greater than 0, such as \"64 MiB\"",
            "0より大きいサイズ（例: \"64 MiB\"）"
        )
    }

    fn of_text(text: &str) -> Result<Size, String> {
        let size = parse_size(text, SizeSuffixes::Iec).map_err(|e| e.to_string())?;
        if size.0 == 0 {
            Err(both!(
                "`{text}` is not a usable size: it must be greater than 0",
                "サイズ「{text}」は使えません（0より大きい値が必要）"
            ))
        } else {
            Ok(Size(size))
        }
    }

    fn of_number(number: f64) -> Option<Size> {
        (number.fract() == 0.0 && (1.0..9e18).contains(&number))
            .then_some(Size(Bytes(number as u64)))
    }
}

impl Quantity for Time {
    fn what() -> String {
        both!("a time such as \"90 s\"", "時間（例: \"90 s\"）")
    }

    fn of_text(text: &str) -> Result<Time, String> {
        parse_time(text).map(Time)
    }

    fn of_number(number: f64) -> Option<Time> {
        (0.0..9e9)
            .contains(&number)
            .then_some(Time(Nanos((number * 1e9) as u64)))
    }
}

impl Quantity for Share {
    fn what() -> String {
        both!("a percentage such as \"2%\"", "割合（例: \"2%\"）")
    }

    fn of_text(text: &str) -> Result<Share, String> {
        let number = text
            .trim()
            .strip_suffix('%')
            .map(str::trim)
            .unwrap_or_default();
        let share = number.parse().ok().and_then(Share::of_number);
        share.ok_or_else(|| {
            both!(
                "`{text}` is not a percentage: expected 0 to 100 with a percent sign, such as 2%",
                "「{text}」は割合ではありません。0〜100に%を付けてください（例: 2%）"
            )
        })
    }

    fn of_number(number: f64) -> Option<Share> {
        (0.0..=100.0)
            .contains(&number)
            .then_some(Share(number / 100.0))
    }
}

impl Quantity for PrintedSpeed {
    fn what() -> String {
        both!(
            "a number of MB/s greater than 0, such as 90",
            "0より大きいMB/sの値（例: 90）"
        )
    }

    fn of_text(text: &str) -> Result<PrintedSpeed, String> {
        let number = text
            .trim()
            .strip_suffix("MB/s")
            .map(str::trim)
            .unwrap_or_default();
        let speed = number.parse().ok().and_then(PrintedSpeed::of_number);
        speed.ok_or_else(|| {
            both!(
                "`{text}` is not a rated speed: expected a number of MB/s greater than 0, such as \
                90",
                "「{text}」は公称速度ではありません。0より大きいMB/sの値を指定してください（例: 90）"
            )
        })
    }

    fn of_number(number: f64) -> Option<PrintedSpeed> {
        (number.is_finite() && number > 0.0).then_some(PrintedSpeed(number))
    }
}

/// Units of time in nanoseconds; longer names come first, so that `ms` is not parsed as `m`.
const UNITS: [(&str, f64); 9] = [
    ("ms", 1e6),
    ("us", 1e3),
    ("µs", 1e3),
    ("min", 6e10),
    ("hours", 3.6e12),
    ("hour", 3.6e12),
    ("h", 3.6e12),
    ("s", 1e9),
    ("d", 8.64e13),
];

/// Parses a time: `90 s`, `500 ms`, `1 h 30 min`.
fn parse_time(text: &str) -> Result<Nanos, String> {
    let wrong = || {
        both!(
            "`{text}` is not a time: expected a number with a unit (ms, s, min, h, d), such as 90 s",
            "「{text}」は時間ではありません。数値に単位（ms、s、min、h、d）を付けてください（例: 90 s）"
        )
    };
    let mut rest = text.trim();
    let mut total = 0.0;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .ok_or_else(wrong)?;
        let number: f64 = rest[..end].parse().map_err(|_| wrong())?;
        let unit = rest[end..].trim_start();
        let (name, ns) = UNITS
            .iter()
            .find(|(name, _)| word(unit) == *name)
            .ok_or_else(wrong)?;
        total += number * ns;
        rest = unit[name.len()..].trim_start();
    }
    if total < 9e18 {
        Ok(Nanos(total.round() as u64))
    } else {
        Err(wrong())
    }
}

/// Returns the leading letters of a text.
fn word(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(text.len());
    &text[..end]
}

struct Visitor<T>(PhantomData<T>);

impl<T: Quantity> de::Visitor<'_> for Visitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&T::what())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::of_text(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        T::of_number(number as f64)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        T::of_number(number as f64)
            .ok_or_else(|| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        T::of_number(number).ok_or_else(|| E::invalid_value(de::Unexpected::Float(number), &self))
    }
}

macro_rules! deserialize {
    ($($name:ty),*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                deserializer.deserialize_any(Visitor(PhantomData))
            }
        }
    )*};
}

deserialize!(Size, Time, Share, PrintedSpeed);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        let seconds = |text: &str| parse_time(text).map(Nanos::as_secs_f64);
        assert_eq!(seconds("90 s"), Ok(90.0));
        assert_eq!(seconds("1h30min"), Ok(5400.0));
        assert_eq!(seconds("500ms"), Ok(0.5));
        assert_eq!(seconds("1.5 min"), Ok(90.0));
        for wrong in ["", "90", "s", "5 m", "5 sm", "1..2 s", "9999999999 d"] {
            assert!(
                seconds(wrong).unwrap_err().contains("such as 90 s"),
                "{wrong}"
            );
        }
    }

    #[test]
    fn sizes_are_over_nothing() {
        assert_eq!(Size::of_text("4 KiB"), Ok(Size(Bytes(4096))));
        assert!(
            Size::of_text("0").unwrap_err().contains("greater than 0")
                && Size::of_number(0.0).is_none()
        );
    }

    #[test]
    fn shares_have_a_percent_sign() {
        assert_eq!(Share::of_text("2.5 %"), Ok(Share(0.025)));
        assert!(Share::of_text("2").is_err() && Share::of_text("101 %").is_err());
    }

    #[test]
    fn printed_speeds_are_megabytes_and_no_bits() {
        assert_eq!(PrintedSpeed::of_text(" 90 MB/s"), Ok(PrintedSpeed(90.0)));
        for wrong in ["90 Mbit/s", "90 MiB/s", "90", "MB/s", "-1 MB/s", "nan MB/s"] {
            assert!(
                PrintedSpeed::of_text(wrong)
                    .unwrap_err()
                    .contains("a number of MB/s greater than 0"),
                "{wrong}"
            );
        }
        assert_eq!(
            [0.0, -1.0, f64::NAN, f64::INFINITY].map(PrintedSpeed::of_number),
            [None; 4]
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_quantity_or_an_error(text in ".{0,16}") {
            let _ = (Size::of_text(&text), Time::of_text(&text), Share::of_text(&text));
        }
    }
}
