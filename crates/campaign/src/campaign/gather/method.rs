//! Describes the method of a campaign for its report.

use super::super::estimate::repeats_in_words;
use super::super::file::{CardOrder, PointOrder, PreparationSpec, PrepareScope};
use super::super::spec::{Campaign, Layer, LayerKind};
use hakaru_report::both;

/// Describes the method; `emptied` is whether the caches of the host were dropped before each run as requested.
pub(super) fn method(campaign: &Campaign, emptied: bool) -> Vec<(String, String)> {
    let line = |title: String, text: String| (title, text);
    let repeats = both!("each point {}", "各測定点{}"; repeats_in_words(campaign.repeats));
    let mut lines = vec![
        line(both!("Repeats", "繰り返し"), repeats),
        line(both!("Order", "順序"), order_words(campaign.order)),
    ];
    if campaign.cards.len() > 1 {
        let order = card_order_words(campaign.card_order);
        lines.push(line(both!("Order of the cards", "カードの順序"), order));
    }
    let prepared = preparation_words(&campaign.preparation, emptied);
    if !prepared.is_empty() {
        lines.push(line(
            both!("Preparation", "前処理"),
            prepared.join(&both!("; ", "、")),
        ));
    }
    if campaign.cool_down.0 > 0 {
        let pause = campaign.cool_down.to_string();
        lines.push(line(
            both!("Pause before each run", "測定前の待ち時間"),
            pause,
        ));
    }
    lines.extend(campaign.layers.iter().filter_map(layer_words));
    lines.push(line(both!("Seed", "シード"), campaign.seed.to_string()));
    lines
}

fn order_words(order: PointOrder) -> String {
    match order {
        PointOrder::Blocked => both!(
            "all repeats of a workload, then the next workload, then the next layer",
            "1つのワークロードの全繰り返し、次のワークロード、次のレイヤの順"
        ),
        PointOrder::Interleaved => both!(
            "one repeat of each workload in turn, layer by layer",
            "レイヤごとに、各ワークロードを1回ずつ交互に測定"
        ),
        PointOrder::Shuffled => both!("shuffled by the seed", "シードによる無作為順"),
    }
}

fn card_order_words(order: CardOrder) -> String {
    match order {
        CardOrder::Sequential => both!("one after another", "1枚ずつ"),
        CardOrder::Interleaved => both!("one run of each in turn", "1回ずつ交互"),
        CardOrder::Abba => both!(
            "one run of each in turn, every second repeat in the reverse order",
            "1回ずつ交互、偶数回目は逆順"
        ),
        CardOrder::Shuffled => both!(
            "one run of each in turn, in an order shuffled by the seed",
            "1回ずつ、シードによる無作為順"
        ),
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
        PrepareScope::Card => both!("once a card", "カードごとに1回"),
        PrepareScope::Layer => both!("before each layer", "各レイヤの前"),
        PrepareScope::Run => both!("before each run", "各測定の前"),
    };
    let caches = match emptied {
        true => both!(
            "host caches dropped before each run",
            "各測定の前にホストのキャッシュを破棄"
        ),
        false => both!(
            "host caches were not dropped before every run as requested (see the caveats)",
            "ホストのキャッシュを破棄できなかった測定あり（測定上の注意を参照）"
        ),
    };
    let passes = match fill_passes {
        1 => String::new(),
        passes => both!(" {passes} times", "{passes}回の"),
    };
    let fresh = both!(
        "a fresh file system for each run",
        "測定ごとに新しいファイルシステム"
    );
    let steps = [
        discard.map(|how| both!("discarded ({how:?}) {often}", "discard（{how:?}、{often}）").to_lowercase()),
        fill.map(|with| {
            both!("filled with {with:?}{passes} {often}", "{with:?}の{passes}全域書き込み（{often}）")
                .to_lowercase()
        }),
        fill_level.map(|share| both!("each file system filled to {}% used", "各ファイルシステムの使用率{}%まで書き込み"; share.0 * 100.0)),
        drop_caches.then_some(caches),
        preparation.each_run_anew().then_some(fresh),
    ];
    steps.into_iter().flatten().collect()
}

fn layer_words(layer: &Layer) -> Option<(String, String)> {
    let mut words = Vec::new();
    if let LayerKind::Fs(spec) = &layer.through {
        words.push(both!("{}, made anew", "{}を新規作成"; spec.fs));
        words.extend(spec.partition.map(|table| {
            both!(
                "in one partition ({table:?})",
                "1つのパーティション（{table:?}）"
            )
            .to_lowercase()
        }));
        words.extend(
            (!spec.mkfs.is_empty())
                .then(|| both!("mkfs options {}", "mkfsのオプション{}"; spec.mkfs.join(" "))),
        );
        words.extend(
            (!spec.mount.is_empty())
                .then(|| both!("mount options {}", "マウントオプション{}"; spec.mount)),
        );
    }
    words.extend(
        layer
            .size
            .map(|size| both!("files of {size} at most", "ファイルは最大{size}")),
    );
    (!words.is_empty()).then(|| {
        (
            both!("Layer {}", "レイヤ{}"; layer.name),
            words.join(&both!(", ", "、")),
        )
    })
}
