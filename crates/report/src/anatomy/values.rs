//! Values of properties as text.

use crate::number;
use crate::text::{self, AnatomyLabel as Label};
use hakaru_model::anatomy::{CardFinding, CardProperty, DeclineReason, PropertyUnit};
use hakaru_model::units::Bytes;

/// Formats a value in the unit of its property.
pub(super) fn value(property: CardProperty, value: f64) -> String {
    match property.unit() {
        PropertyUnit::Bytes => bytes(value),
        PropertyUnit::Count => number::limit(value.round()),
        PropertyUnit::Flag => match value > 0.0 {
            true => text::anatomy_label(Label::Yes).to_owned(),
            false => text::anatomy_label(Label::No).to_owned(),
        },
        PropertyUnit::Rate => rate(value),
        PropertyUnit::Time => number::nanos(value),
        PropertyUnit::Percent => format!("{}%", number::significant(value)),
    }
}

/// Formats a size: a number of bytes that is a whole multiple of a binary unit stays exact.
pub(super) fn bytes(value: f64) -> String {
    Bytes(value.max(0.0) as u64).to_string()
}

/// Formats bytes per second.
pub(crate) fn rate(value: f64) -> String {
    format!("{} MB/s", number::significant(value / 1e6))
}

/// Value and interval of a finding; a finding without a value says why.
pub(super) fn finding(property: CardProperty, finding: &CardFinding) -> (String, String) {
    match finding {
        CardFinding::Known(known) if known.low == known.high => {
            (value(property, known.value), String::new())
        }
        CardFinding::Known(known) => {
            let [low, high] = [known.low, known.high].map(|end| value(property, end));
            (value(property, known.value), text::span(&low, &high))
        }
        CardFinding::Absent { up_to } => {
            let up_to = value(property, *up_to);
            (text::property_absent(property, &up_to), String::new())
        }
        CardFinding::Unknown(reason) => {
            let rough = match reason {
                DeclineReason::Noisy { value: rough, .. } if *rough > 0.0 => {
                    Some(value(property, *rough))
                }
                _ => None,
            };
            let because = text::property_unknown(reason, rough.as_deref());
            (format!("– ({because})"), String::new())
        }
    }
}
