//! Describes the method of a campaign for its report.

use super::super::estimate::repeats_in_words;
use super::super::file::{CardOrder, PointOrder, PreparationSpec, PrepareScope};
use super::super::spec::{Campaign, Layer, LayerKind};

/// Describes the method; `emptied` is whether the caches of the host were dropped before each run as requested.
pub(super) fn method(campaign: &Campaign, emptied: bool) -> Vec<(String, String)> {
    let line = |title: &str, text: String| (title.to_owned(), text);
    let repeats = format!("each point {}", repeats_in_words(campaign.repeats));
    let mut lines = vec![
        line("Repeats", repeats),
        line("Order", order_words(campaign.order).to_owned()),
    ];
    if campaign.cards.len() > 1 {
        let order = card_order_words(campaign.card_order).to_owned();
        lines.push(line("Order of the cards", order));
    }
    let prepared = preparation_words(&campaign.preparation, emptied);
    if !prepared.is_empty() {
        lines.push(line("Preparation", prepared.join("; ")));
    }
    if campaign.cool_down.0 > 0 {
        let pause = campaign.cool_down.to_string();
        lines.push(line("Pause before each run", pause));
    }
    lines.extend(campaign.layers.iter().filter_map(layer_words));
    lines.push(line("Seed", campaign.seed.to_string()));
    lines
}

fn order_words(order: PointOrder) -> &'static str {
    match order {
        PointOrder::Blocked => {
            "all repeats of a workload, then the next workload, then the next layer"
        }
        PointOrder::Interleaved => "one repeat of each workload in turn, layer by layer",
        PointOrder::Shuffled => "shuffled by the seed",
    }
}

fn card_order_words(order: CardOrder) -> &'static str {
    match order {
        CardOrder::Sequential => "one after another",
        CardOrder::Interleaved => "one run of each in turn",
        CardOrder::Abba => "one run of each in turn, every second repeat in the reverse order",
        CardOrder::Shuffled => "one run of each in turn, in an order shuffled by the seed",
    }
}

fn preparation_words(preparation: &PreparationSpec, emptied: bool) -> Vec<String> {
    let PreparationSpec {
        discard,
        fill,
        fill_passes,
        each,
        fill_level,
        drop_caches,
        fresh: _,
    } = preparation;
    let often = match each {
        PrepareScope::Card => "once a card",
        PrepareScope::Layer => "before each layer",
        PrepareScope::Run => "before each run",
    };
    let caches = match emptied {
        true => "host caches dropped before each run",
        false => "host caches were not dropped before every run as requested (see the caveats)",
    };
    let passes = match fill_passes {
        1 => String::new(),
        passes => format!(" {passes} times"),
    };
    let fresh = "a fresh file system for each run".to_owned();
    let steps = [
        discard.map(|how| format!("discarded ({how:?}) {often}").to_lowercase()),
        fill.map(|with| format!("filled with {with:?}{passes} {often}").to_lowercase()),
        fill_level.map(|share| format!("each file system filled to {}% used", share.0 * 100.0)),
        drop_caches.then(|| caches.to_owned()),
        preparation.each_run_anew().then_some(fresh),
    ];
    steps.into_iter().flatten().collect()
}

fn layer_words(layer: &Layer) -> Option<(String, String)> {
    let mut words = Vec::new();
    if let LayerKind::Fs(spec) = &layer.through {
        words.push(format!("{}, made anew", spec.fs));
        words.extend(
            spec.partition
                .map(|table| format!("in one partition ({table:?})").to_lowercase()),
        );
        words.extend(
            (!spec.mkfs.is_empty()).then(|| format!("mkfs options {}", spec.mkfs.join(" "))),
        );
        words.extend((!spec.mount.is_empty()).then(|| format!("mount options {}", spec.mount)));
    }
    words.extend(layer.size.map(|size| format!("files of {size} at most")));
    (!words.is_empty()).then(|| (format!("Layer {}", layer.name), words.join(", ")))
}
