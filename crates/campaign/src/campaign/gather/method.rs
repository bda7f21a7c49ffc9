//! Describes the method of a campaign for its report.

use super::super::check;
use super::super::file::PreparationSpec;
use super::super::spec::{Campaign, CampaignWorkload, Card, CardLocation, Layer, LayerKind};
use hakaru_model::method::PreparationMethod::{CachesDropped, CachesKept};
use hakaru_model::method::{LayerMethod, MethodTitle, PreparationMethod};
use hakaru_report::text;

/// Describes the method; `emptied` is whether the caches of the host were dropped before each run as requested.
pub(super) fn method(campaign: &Campaign, emptied: bool) -> Vec<(String, String)> {
    let line = |title, text: String| (text::method_head(title), text);
    let repeats = text::each_point(campaign.repeats.method());
    let order = text::point_order(campaign.order).to_owned();
    let mut lines = vec![
        line(MethodTitle::Repeats, repeats),
        line(MethodTitle::Order, order),
    ];
    if campaign.cards.len() > 1 {
        let order = text::card_order(campaign.card_order).to_owned();
        lines.push(line(MethodTitle::CardOrder, order));
    }
    let prepared = text::preparation_method(&preparation(campaign, emptied));
    lines.push(line(MethodTitle::Preparation, prepared));
    if campaign.cool_down.0 > 0 {
        lines.push(line(MethodTitle::Pause, campaign.cool_down.to_string()));
    }
    lines.extend(campaign.layers.iter().filter_map(layer));
    lines.extend(campaign.workloads.iter().map(workload));
    lines.push(line(MethodTitle::Seed, campaign.seed.to_string()));
    lines
}

/// Describes what is known of the method behind published figures: the repeats, the layers and the workloads.
pub(super) fn method_of_published(campaign: &Campaign) -> Vec<(String, String)> {
    let repeats = text::each_point(campaign.repeats.method());
    let repeats = (text::method_head(MethodTitle::Repeats), repeats);
    let layers = campaign.layers.iter().filter_map(layer);
    let workloads = campaign.workloads.iter().map(workload);
    std::iter::once(repeats)
        .chain(layers)
        .chain(workloads)
        .collect()
}

fn workload(workload: &CampaignWorkload) -> (String, String) {
    let title = MethodTitle::Workload(&workload.name);
    (text::method_head(title), check::planned_jobs(workload))
}

fn preparation(campaign: &Campaign, emptied: bool) -> Vec<PreparationMethod> {
    let is_simulated = |card: &Card| matches!(card.location, CardLocation::Sim(_));
    let is_simulated = campaign.cards.iter().all(is_simulated);
    let preparation = &campaign.preparation;
    let PreparationSpec {
        discard,
        fill,
        fill_passes,
        each,
        fill_level,
        drop_caches,
        fresh: _,
    } = preparation;
    let (each, passes) = (*each, *fill_passes);
    let caches = match emptied {
        true => PreparationMethod::CachesDropped,
        false => PreparationMethod::CachesKept,
    };
    let fresh = PreparationMethod::FreshFileSystem;
    let level = |percent| PreparationMethod::FillLevel { percent };
    let steps = [
        discard.map(|how| PreparationMethod::Discarded { how, each }),
        fill.map(|with| PreparationMethod::Filled { with, passes, each }),
        fill_level.map(|share| level(share.0 * 100.0)),
        drop_caches.then_some(caches),
        preparation.each_run_anew().then_some(fresh),
    ];
    let mut steps: Vec<PreparationMethod> = steps.into_iter().flatten().collect();
    if is_simulated {
        // Nothing is written to a simulated card before a run.
        steps.retain(|step| matches!(step, CachesDropped | CachesKept));
        steps.insert(0, PreparationMethod::NewSimulatedCard);
    } else if steps.is_empty() {
        steps.push(PreparationMethod::Unprepared);
    }
    steps
}

fn layer(layer: &Layer) -> Option<(String, String)> {
    let mut parts = Vec::new();
    let (table, mkfs);
    if let LayerKind::Fs(spec) = &layer.through {
        let partition = spec.partition.map(|table| format!("{table:?}"));
        table = partition.unwrap_or_default().to_lowercase();
        mkfs = spec.mkfs.join(" ");
        parts.push(LayerMethod::FileSystem(spec.fs.name()));
        parts.extend((!table.is_empty()).then_some(LayerMethod::Partition(&table)));
        parts.extend((!mkfs.is_empty()).then_some(LayerMethod::MkfsOptions(&mkfs)));
        let mount = LayerMethod::MountOptions(&spec.mount);
        parts.extend((!spec.mount.is_empty()).then_some(mount));
    }
    parts.extend(layer.size.map(LayerMethod::FileSize));
    let title = text::method_head(MethodTitle::Layer(&layer.name));
    (!parts.is_empty()).then(|| (title, text::layer_method(&parts)))
}
