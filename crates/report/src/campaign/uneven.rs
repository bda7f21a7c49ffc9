//! Workloads whose runs differ much more through a layer than through the reference layer.

use super::view::{View, Work};
use super::words::percent;
use crate::escape::plain;
use crate::text;

/// Smallest standard deviation, as a share of the mean, that counts as a large spread.
const LARGE: f64 = 0.1;

/// Smallest factor between the median spreads of both layers.
const MUCH_MORE: f64 = 3.0;

/// A sentence for each layer and workload whose runs differ much more than those through the reference layer.
pub(super) fn sentences(view: &View<'_>) -> Vec<String> {
    let reference = &view.of.reference_layer;
    let name = |layer: &str| text::layer_in_brief(&plain(layer));
    let mut all = Vec::new();
    for layer in view.held_layers() {
        for work in &view.works {
            let through = SpreadRange::of(view, layer, work);
            let before = SpreadRange::of(view, reference, work);
            let (Some(through), Some(before)) = (through, before) else {
                continue;
            };
            if through.most >= LARGE && through.median >= MUCH_MORE * before.median {
                let uneven = through.by_card.iter().zip(&before.by_card);
                let uneven = uneven.filter(|(through, before)| **through >= MUCH_MORE * **before);
                all.push(text::spread_through_layer(
                    &work.noun,
                    (&name(layer), &percent(through.most)),
                    (&name(reference), &percent(before.most)),
                    (uneven.count() as u64, through.by_card.len() as u64),
                ));
            }
        }
    }
    all
}

/// Standard deviations of several cards, as shares of their means.
struct SpreadRange {
    by_card: Vec<f64>,
    median: f64,
    most: f64,
}

impl SpreadRange {
    /// Returns the spreads of a workload through a layer; `None` unless each measured card has one.
    fn of(view: &View<'_>, layer: &str, work: &Work) -> Option<SpreadRange> {
        let cells = view.cells(layer, work).into_iter().flatten();
        let shares = cells.map(|phase| {
            let rate = work.rate(phase);
            let share = rate.deviation? / rate.mean;
            share.is_finite().then_some(share)
        });
        let by_card: Vec<f64> = shares.collect::<Option<_>>()?;
        let mut shares = by_card.clone();
        shares.sort_by(f64::total_cmp);
        Some(SpreadRange {
            by_card,
            median: *shares.get(shares.len() / 2)?,
            most: *shares.last()?,
        })
    }
}
