//! The number of repeats of each point, as written in a campaign file.

use super::Share;
use hakaru_model::method::RepeatsMethod;
use hakaru_report::both;
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, de};
use std::fmt;

/// Number of repeats of each point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RepeatRule {
    /// A fixed number.
    Times(u32),
    /// Until half the 95% confidence interval of the mean is below a share of the mean.
    Until(Until),
    /// Until five rounds are in steady state; at most this number.
    Steady {
        /// Maximum number of rounds.
        at_most: u32,
    },
}

/// Precision at which the repeats of a point end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Until {
    /// Half the width of the confidence interval, as a share of the mean.
    pub until: Share,
    /// Minimum number of repeats; default 3.
    pub at_least: u32,
    /// Maximum number of repeats.
    pub at_most: u32,
}

/// A rule for the end of the repeats, as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct UntilEntry {
    #[serde(deserialize_with = "precision")]
    until: Option<Share>,
    at_least: Option<u32>,
    at_most: Option<u32>,
}

/// Parses a precision; `None` for `"steady"`.
fn precision<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Share>, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    match value.as_str() {
        Some("steady") => Ok(None),
        _ => Share::deserialize(value)
            .map(Some)
            .map_err(de::Error::custom),
    }
}

impl UntilEntry {
    fn rule<E: de::Error>(self) -> Result<RepeatRule, E> {
        match (self.until, self.at_least, self.at_most) {
            (Some(until), at_least, Some(at_most)) => Ok(RepeatRule::Until(Until {
                until,
                at_least: at_least.unwrap_or(FEWEST_UNTIL),
                at_most,
            })),
            (Some(_), _, None) => Err(E::missing_field("at-most")),
            (None, Some(_), _) => Err(E::custom(both!(
                "until = \"steady\" needs at least five rounds by its definition: omit at-least",
                "until = \"steady\"は定義上5ラウンド以上を要します。at-leastを省いてください"
            ))),
            (None, None, at_most) => Ok(RepeatRule::Steady {
                at_most: at_most.unwrap_or(MOST_ROUNDS),
            }),
        }
    }
}

/// Maximum number of rounds to reach steady state. Source: SNIA Solid State Storage Performance Test Specification.
const MOST_ROUNDS: u32 = 25;

/// Number of rounds in steady state.
const WINDOW: u32 = hakaru_analysis::steady::WINDOW as u32;

/// Maximum number of repeats; a larger number is assumed to be a typing error.
const MOST_REPEATS: u32 = 10_000;

/// Minimum number of runs before a point may end. Two runs are often close together by chance: in simulations of
/// normally distributed runs that differ by 1 to 5%, with `until = "2 %"`, 95% intervals cover the true mean in 88 to
/// 94% of campaigns; with three runs, in 90 to 95%.
const FEWEST_UNTIL: u32 = 3;

impl Default for RepeatRule {
    fn default() -> Self {
        RepeatRule::Times(3)
    }
}

impl RepeatRule {
    /// Returns the maximum number of repeats.
    pub fn most(self) -> u32 {
        match self {
            RepeatRule::Times(n) => n,
            RepeatRule::Until(until) => until.at_most,
            RepeatRule::Steady { at_most } => at_most,
        }
    }

    /// Returns the rule as a part of the method.
    pub(crate) fn method(self) -> RepeatsMethod {
        match self {
            RepeatRule::Times(n) => RepeatsMethod::Times(n),
            RepeatRule::Until(until) => RepeatsMethod::Until {
                percent: until.until.0 * 100.0,
                at_least: until.at_least,
                at_most: until.at_most,
            },
            RepeatRule::Steady { at_most } => RepeatsMethod::Steady { at_most },
        }
    }

    fn sound<E: de::Error>(self) -> Result<RepeatRule, E> {
        match self {
            RepeatRule::Times(n) if !(1..=MOST_REPEATS).contains(&n) => Err(E::custom(both!(
                "{n} repeats: expected 1 to {MOST_REPEATS}",
                "繰り返し{n}回: 1〜{MOST_REPEATS}を指定してください"
            ))),
            RepeatRule::Until(Until {
                at_least, at_most, ..
            }) if at_least < FEWEST_UNTIL || at_most < at_least || at_most > MOST_REPEATS => {
                Err(E::custom(both!(
                    "at-least = {at_least}, at-most = {at_most}: expected {FEWEST_UNTIL} ≤ at-least ≤ at-most ≤ \
                    {MOST_REPEATS}, because two runs agree by chance too often",
                    "at-least = {at_least}、at-most = {at_most}: at-leastは{FEWEST_UNTIL}以上、at-mostはat-least以上\
                    {MOST_REPEATS}以下にしてください（2回では偶然一致することが多いため）"
                )))
            }
            RepeatRule::Steady { at_most } if !(WINDOW..=MOST_REPEATS).contains(&at_most) => {
                Err(E::custom(both!(
                    "at-most = {at_most}: steady state needs {WINDOW} to {MOST_REPEATS} rounds",
                    "at-most = {at_most}: 定常状態には{WINDOW}〜{MOST_REPEATS}ラウンドが必要です"
                )))
            }
            sound => Ok(sound),
        }
    }
}

impl<'de> Deserialize<'de> for RepeatRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RepeatRule, D::Error> {
        deserializer.deserialize_any(RepeatsVisitor)
    }
}

struct RepeatsVisitor;

impl<'de> de::Visitor<'de> for RepeatsVisitor {
    type Value = RepeatRule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&both!(
            "a number such as 10, {{ until = \"2%\", at-least = 3, at-most = 20 }}, or {{ until = \
            \"steady\", at-most = 25 }}",
            "10のような回数、{{ until = \"2%\", at-least = 3, at-most = 20 }}、または{{ until = \
            \"steady\", at-most = 25 }}"
        ))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<RepeatRule, E> {
        RepeatRule::Times(u32::try_from(number).unwrap_or(0)).sound()
    }

    fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<RepeatRule, A::Error> {
        UntilEntry::deserialize(MapAccessDeserializer::new(map))?
            .rule()?
            .sound()
    }
}
