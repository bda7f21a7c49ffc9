//! Prices of cards.

use std::fmt;
use std::str::FromStr;

/// Price of a card: an amount of a currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The amount; more than 0.
    pub amount: f64,
    /// Code of the currency, such as `JPY`; empty if it was not given.
    pub currency: String,
}

/// A text that is not a price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a price: expected an amount above 0 with or without a currency, such as 1480, 1480JPY or 12.50EUR"
)]
pub struct PriceError(pub String);

/// Symbols and names of currencies, with their codes.
const CURRENCIES: [(&str, &str); 10] = [
    ("¥", "JPY"),
    ("￥", "JPY"),
    ("円", "JPY"),
    ("YEN", "JPY"),
    ("€", "EUR"),
    ("EURO", "EUR"),
    ("$", "USD"),
    ("DOLLAR", "USD"),
    ("£", "GBP"),
    ("POUND", "GBP"),
];

/// Longest name of a currency, in characters.
const LONGEST: usize = 12;

impl FromStr for Price {
    type Err = PriceError;

    /// Parses `1480`, `1,480 yen`, `¥1480`, `12.50EUR`.
    fn from_str(text: &str) -> Result<Price, PriceError> {
        let failed = || PriceError(text.to_owned());
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let trimmed = text.trim();
        let start = trimmed.find(is_number).ok_or_else(failed)?;
        let (before, rest) = trimmed.split_at(start);
        let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        let currency = match (before.trim(), after.trim()) {
            ("", after) => after,
            (before, "") => before,
            _ => return Err(failed()),
        };
        let stray = |c: char| c.is_ascii_digit() || c.is_control() || matches!(c, '-' | '+');
        let named = !currency.contains(stray);
        if !named || currency.chars().count() > LONGEST {
            return Err(failed());
        }
        let amount = without_separators(digits).and_then(|digits| digits.parse::<f64>().ok());
        let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0);
        Ok(Price {
            amount: amount.ok_or_else(failed)?,
            currency: code(currency),
        })
    }
}

/// Removes commas between groups of three digits; `None` if they are anywhere else.
fn without_separators(digits: &str) -> Option<String> {
    let whole = digits.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default().len();
    let grouped = groups.clone().all(|group| group.len() == 3);
    let sound = groups.next().is_none() || (grouped && (1..=3).contains(&first));
    let in_fraction = digits[whole.len()..].contains(',');
    (sound && !in_fraction).then(|| digits.replace(',', ""))
}

/// Returns the code of a currency: that of a known symbol or name, otherwise the text in upper case.
fn code(currency: &str) -> String {
    let upper = currency.to_uppercase();
    let singular = upper.strip_suffix('S').unwrap_or(&upper);
    let known = CURRENCIES
        .into_iter()
        .find(|(name, _)| *name == upper || *name == singular);
    known.map_or(upper.clone(), |(_, code)| code.to_owned())
}

impl fmt::Display for Price {
    /// Formats the price so that it can be parsed again: `1480 JPY`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Price { amount, currency } = self;
        match currency.is_empty() {
            true => write!(f, "{amount}"),
            false => write!(f, "{amount} {currency}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_amounts_with_symbols_names_and_separators() {
        for (text, amount, currency) in [
            ("1480", 1480.0, ""),
            ("680 yen", 680.0, "JPY"),
            ("¥1,480", 1480.0, "JPY"),
            ("2000円", 2000.0, "JPY"),
            ("12.50EUR", 12.5, "EUR"),
            ("$9.99", 9.99, "USD"),
            ("10 dollars", 10.0, "USD"),
            ("1,234,567.5 chf", 1_234_567.5, "CHF"),
            ("3 twelve chars", 3.0, "TWELVE CHARS"),
        ] {
            let price: Price = text.parse().unwrap();
            let wanted = (amount, currency.to_owned());
            assert_eq!((price.amount, price.currency.clone()), wanted, "{text}");
            assert_eq!(price.to_string().parse(), Ok(price), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_price() {
        for text in [
            "",
            "yen",
            "0",
            "0 yen",
            "-3",
            "1,48",
            "12,50",
            "1.2.3",
            "1480 yen 2",
            "USD 3 EUR",
            "1.000,50",
            "3 thirteen char",
            "7 a very long name of money",
            "gift of 1999 to me",
        ] {
            let found = text.parse::<Price>();
            assert!(found.is_err(), "{text}: {found:?}");
        }
    }
}
