//! The order in which the cards of a campaign were measured: one after another, or alternating.

use super::super::measurements::{CardMeasurements, LayerMeasurements};
use hakaru_model::caveat::Caveat;
use std::collections::BTreeMap;

/// The card of each run in the order of time, by host and layer.
pub(super) struct CardSequence(BTreeMap<(String, String), Vec<String>>);

/// Maximum distance between the mean positions of the runs of two cards that alternate, as a share of all their runs.
/// Cards measured one after another have a distance of 0.5; alternating cards with two repeats each have 0.25, and
/// less with more repeats.
const APART: f64 = 0.25;

impl CardSequence {
    /// Returns the order of these runs: host, layer, start and card of each.
    pub(super) fn of<'a>(
        runs: impl Iterator<Item = (&'a str, &'a str, i64, &'a str)>,
    ) -> CardSequence {
        let mut starts: BTreeMap<(String, String), Vec<(i64, String)>> = BTreeMap::new();
        for (host, layer, started_unix_ms, card) in runs {
            let of = (host.to_owned(), layer.to_owned());
            let starts = starts.entry(of).or_default();
            starts.push((started_unix_ms, card.to_owned()));
        }
        let in_time = |mut runs: Vec<(i64, String)>| {
            runs.sort();
            runs.into_iter().map(|(_, card)| card).collect()
        };
        let of_layers = starts.into_iter();
        CardSequence(of_layers.map(|(of, runs)| (of, in_time(runs))).collect())
    }

    /// Whether any two cards were measured one after another instead of alternating. Simulated cards have their own
    /// virtual time and do not count.
    pub(super) fn is_sequential(&self, cards: &[CardMeasurements]) -> bool {
        let real = |host: &str, layer: &str| -> Vec<&str> {
            let is_real = |of: &LayerMeasurements| {
                of.layer == layer && !of.summary.caveats.contains(&Caveat::Simulated)
            };
            let on_host = cards.iter().filter(|card| card.host == host);
            on_host
                .filter(|card| card.layers.iter().any(is_real))
                .map(|card| card.key.as_str())
                .collect()
        };
        self.0.iter().any(|((host, layer), runs)| {
            let cards = real(host, layer);
            let mut pairs = cards
                .iter()
                .enumerate()
                .flat_map(|(i, a)| cards[i + 1..].iter().map(move |b| (*a, *b)));
            pairs.any(|(a, b)| apart(runs, a, b) > APART)
        })
    }
}

/// Returns the distance between the mean positions of the runs of two cards in time, as a share of all their runs; 0
/// if either card has fewer than two runs.
fn apart(runs: &[String], a: &str, b: &str) -> f64 {
    let both: Vec<&str> = runs
        .iter()
        .map(String::as_str)
        .filter(|card| [a, b].contains(card))
        .collect();
    let middle = |of: &str| {
        let places: Vec<f64> = (0..both.len())
            .filter(|&i| both[i] == of)
            .map(|i| i as f64)
            .collect();
        (places.len() > 1).then(|| places.iter().sum::<f64>() / places.len() as f64)
    };
    let (Some(of_a), Some(of_b)) = (middle(a), middle(b)) else {
        return 0.0;
    };
    (of_a - of_b).abs() / both.len() as f64
}
