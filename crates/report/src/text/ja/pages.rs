//! Titles, headings and explanations of pages.

use super::listed;
use crate::text::compared::{ComparedThing, compared};
use crate::text::{ComparisonMarks, PagePart};
use crate::workload::WorkloadKind;
use hakaru_model::campaign::AS_MEASURED;
use hakaru_model::job::Op;
use hakaru_model::units::Nanos;

pub(in crate::text) fn page_part(part: PagePart) -> &'static str {
    match part {
        PagePart::Result => "結果",
        PagePart::Differences => match compared() {
            ComparedThing::Cards => "カード間の差",
            ComparedThing::CardHostPairs => "カードとホストによる差",
            ComparedThing::Sets => "測定結果間の差",
        },
        PagePart::Limits => "測定上の注意と測定方法",
        PagePart::EachCard => match compared() {
            ComparedThing::Cards => "カード別",
            ComparedThing::CardHostPairs => "カードとホスト別",
            ComparedThing::Sets => "測定結果別",
        },
        PagePart::NotCounted => "集計外の測定",
        PagePart::Proofs => "比較で分かること",
        PagePart::BadPlaces => "不良箇所",
    }
}

pub(in crate::text) fn comparison_of(names: &str) -> String {
    format!("{names}の比較")
}

pub(in crate::text) fn contents() -> &'static str {
    "目次"
}

pub(in crate::text) fn before_you_quote() -> &'static str {
    "引用する前に"
}

pub(in crate::text) fn more_caveats(n: usize, of: &str) -> String {
    format!("ほか{n}件は「{of}」に記載")
}

pub(in crate::text) fn fastest_for(layer: Option<&str>) -> String {
    match layer {
        Some(layer) => format!("ワークロード別の最速（{layer}）"),
        None => "ワークロード別の最速".to_owned(),
    }
}

pub(in crate::text) fn undecided() -> &'static str {
    "判定保留"
}

pub(in crate::text) fn limited_by_host() -> &'static str {
    "ホストが律速"
}

pub(in crate::text) fn perhaps_limited_by_host() -> &'static str {
    "ホスト側の上限の可能性"
}

pub(in crate::text) fn matrix_key(letters: bool, by: Option<&str>) -> String {
    let letters = match letters {
        true => " · 枠: 最速、または最速との有意差なし · 同じ文字: 有意差なし",
        false => "",
    };
    let rows = by.map_or(String::new(), |by| format!(" · 並び順: {by}"));
    format!("濃さ: 列の最良値に対する割合（20、40、60、80、95%で区切る）{letters}{rows}")
}

pub(in crate::text) fn uses_as_through(n: usize, layer: &str) -> String {
    format!("ほかの用途{n}件は{layer}と同じ")
}

pub(in crate::text) fn comparison_key(
    (first, second): (&str, &str),
    marks: ComparisonMarks,
) -> String {
    let mut parts = vec!["濃さ: 行の良いほうの値に対する割合".to_owned()];
    parts.extend(
        marks
            .framed
            .then(|| "枠: 有意差があり、良いほう".to_owned()),
    );
    let interval = match marks.interval {
        true => "と95%信頼区間",
        false => "",
    };
    parts.push(format!("比: {first}に対する{second}の比{interval}"));
    parts.extend(marks.equal.then(|| "=: 5%以内で同等".to_owned()));
    parts.extend(
        marks
            .open
            .then(|| "?: 有意差なし、または検定なし".to_owned()),
    );
    parts.join(" · ")
}

pub(in crate::text) fn not_slower() -> &'static str {
    "最速、または最速との有意差なし"
}

pub(in crate::text) fn group() -> &'static str {
    "グループ"
}

pub(in crate::text) fn matrix_about(runs: Option<u64>) -> String {
    match runs {
        Some(0 | 1) => "各1回の測定".to_owned(),
        Some(n) => format!("{n}回の平均 ± 標準偏差"),
        None => "平均 ± 標準偏差".to_owned(),
    }
}

pub(in crate::text) fn show_more_cards(n: usize) -> String {
    match compared() {
        ComparedThing::Cards => format!("ほか{n}枚を表示"),
        ComparedThing::CardHostPairs => format!("ほか{n}組を表示"),
        ComparedThing::Sets => format!("ほか{n}件を表示"),
    }
}

pub(in crate::text) fn card_column() -> &'static str {
    match compared() {
        ComparedThing::Cards => "カード",
        ComparedThing::CardHostPairs => "カードとホスト",
        ComparedThing::Sets => "測定結果",
    }
}

pub(in crate::text) fn series_column() -> &'static str {
    "測定シリーズ"
}

pub(in crate::text) fn layer(name: &str) -> String {
    match name {
        "raw" => "RAWデバイス".to_owned(),
        AS_MEASURED => "測定時のレイヤ".to_owned(),
        "vfat" => "vfat（FAT32）".to_owned(),
        name => name.to_owned(),
    }
}

pub(in crate::text) fn layer_in_brief(name: &str) -> String {
    match name {
        "raw" => "RAW".to_owned(),
        name => name.to_owned(),
    }
}

pub(in crate::text) fn of_simulated_cards(name: &str) -> String {
    format!("{name}（シミュレートしたカード）")
}

pub(in crate::text) fn layer_column() -> &'static str {
    "レイヤ"
}

pub(in crate::text) fn each_layer() -> &'static str {
    "各レイヤ"
}

pub(in crate::text) fn layer_cost_once(reference: &str) -> String {
    format!("同じカードの{reference}に対する速度の割合。各1回の測定のため証明にはならない。")
}

pub(in crate::text) fn layer_in_text(name: &str) -> String {
    match name {
        "raw" => "RAWデバイス".to_owned(),
        AS_MEASURED => "測定時のレイヤ".to_owned(),
        name => name.to_owned(),
    }
}

pub(in crate::text) fn of_layer(name: &str, layer: &str) -> String {
    format!("{name}、{}", layer_in_text(layer))
}

pub(in crate::text) fn row_kind(kind: WorkloadKind) -> &'static str {
    match kind {
        WorkloadKind::Sequential => "シーケンシャル",
        WorkloadKind::Random => "ランダム",
        WorkloadKind::Mixed => "読み書き混合",
        WorkloadKind::Durable => "fsync付き",
        WorkloadKind::Sustained => "長時間連続",
        WorkloadKind::Repeated => "2回目",
    }
}

pub(in crate::text) fn workload(kind: WorkloadKind, op: Op) -> &'static str {
    use WorkloadKind::*;
    match (kind, op) {
        (Sequential, Op::Read) => "シーケンシャル読み込み",
        (Sequential, Op::Write) => "シーケンシャル書き込み",
        (Sequential, Op::Trim) => "シーケンシャルTRIM",
        (Random, Op::Read) => "ランダム読み込み",
        (Random, Op::Write) => "ランダム書き込み",
        (Random, Op::Trim) => "ランダムTRIM",
        (Mixed, Op::Read) => "読み書き混合の読み込み",
        (Mixed, Op::Write) => "読み書き混合の書き込み",
        (Mixed, Op::Trim) => "読み書き混合のTRIM",
        (Durable, Op::Read) => "同期読み込み",
        (Durable, Op::Write) => "fsync付き書き込み",
        (Durable, Op::Trim) => "同期TRIM",
        (Sustained, Op::Read) => "長時間連続読み込み",
        (Sustained, Op::Write) => "長時間連続書き込み",
        (Sustained, Op::Trim) => "長時間連続TRIM",
        (Repeated, Op::Read) => "再読み込み",
        (Repeated, Op::Write) => "再書き込み",
        (Repeated, Op::Trim) => "再TRIM",
    }
}

pub(in crate::text) fn workload_of_size(noun: &str, block: &str) -> String {
    format!("{noun}（{block}）")
}

pub(in crate::text) fn within_sentence(name: &str) -> String {
    name.to_owned()
}

pub(in crate::text) fn workload_numbered(noun: &str, number: u32) -> String {
    format!("{noun}({number})")
}

pub(in crate::text) fn workload_named(noun: &str, name: &str) -> String {
    format!("{noun}（{name}）")
}

pub(in crate::text) fn durable_shape(block: &str) -> String {
    format!("{block} + fsync")
}

pub(in crate::text) fn sustained_shape(block: &str, time: Nanos) -> String {
    match time.0 / 1_000_000_000 {
        0 => block.to_owned(),
        seconds => format!("{block}、{seconds}秒"),
    }
}

pub(in crate::text) fn p99(value: Nanos) -> String {
    format!("P99 {value}")
}

pub(in crate::text) fn fsync_p99(value: Nanos) -> String {
    format!("fsync P99 {value}")
}

pub(in crate::text) fn card_runs(runs: usize) -> String {
    match runs {
        0 | 1 => "1回測定".to_owned(),
        n => format!("{n}回測定、平均 ± 標準偏差"),
    }
}

pub(in crate::text) fn rate_card_head() -> [&'static str; 3] {
    ["ワークロード", "読み込み、MB/s", "書き込み、MB/s"]
}

pub(in crate::text) fn card_key() -> &'static str {
    "棒: 行ごとに0からの目盛り · 1 MB/sは毎秒10⁶バイト"
}

pub(in crate::text) fn more_rows(n: usize) -> String {
    format!("ほか{n}行を表示")
}

pub(in crate::text) fn not_measured_here() -> &'static str {
    "未測定"
}

pub(in crate::text) fn every_figure() -> &'static str {
    "比較した値と判定"
}

pub(in crate::text) fn figures_of_workloads() -> &'static str {
    "ワークロードごとのすべての値と比"
}

pub(in crate::text) fn every_run() -> &'static str {
    "各回の値"
}

pub(in crate::text) fn every_figure_of(series: &str) -> String {
    format!("{series}のすべての値")
}

pub(in crate::text) fn environment() -> &'static str {
    "対象、デバイス、ホスト"
}

pub(in crate::text) fn environment_of(name: &str) -> String {
    format!("対象、デバイス、ホスト: {name}")
}

pub(in crate::text) fn shown_first(chart: &str) -> String {
    format!("{chart}: 最初の画面に表示")
}

pub(in crate::text) fn chart_data() -> &'static str {
    "このグラフのデータ"
}

pub(in crate::text) fn not_on_page(sections: &[&str]) -> String {
    format!("測定していないためグラフがない項目: {}。", listed(sections))
}

pub(in crate::text) fn pairs_head() -> [&'static str; 3] {
    ["ワークロード", "有意差あり", "有意差なし"]
}

pub(in crate::text) fn proven_of(n: usize, of: usize) -> String {
    format!("{of}組中{n}組")
}

pub(in crate::text) fn all_pairs_proven() -> &'static str {
    "なし（すべて有意差あり）"
}

pub(in crate::text) fn no_pair_proven() -> &'static str {
    "すべての組"
}

pub(in crate::text) fn pairs_counted(n: usize) -> String {
    format!("{n}組")
}

pub(in crate::text) fn ratios_of(workload: &str) -> String {
    format!("比と信頼区間: {workload}")
}

pub(in crate::text) fn layer_cost_about(reference: &str) -> String {
    format!(
        "同じカードの{reference}に対する速度の割合と、同時に成り立つ95%信頼区間。=は5%以内で同等、?は有意差なし。"
    )
}

pub(in crate::text) fn zone_assumed(time: &str) -> String {
    format!("{time}（タイムゾーンは仮定）")
}

pub(in crate::text) fn layer_changes(caption: &str, changes: &[String]) -> String {
    format!("{caption}: {}。", changes.join("、"))
}

pub(in crate::text) fn layer_cost_caption(layer: &str, reference: &str) -> String {
    format!("{reference}に対する{layer}")
}

pub(in crate::text) fn charts_of_even_phases() -> &'static str {
    "その他のワークロードの速度の推移"
}

pub(in crate::text) fn why() -> &'static str {
    "理由"
}

pub(in crate::text) fn series_side_by_side() -> &'static str {
    "全測定シリーズ"
}

pub(in crate::text) fn latency_by_run_note() -> &'static str {
    "レイテンシがこの値以下のI/Oの割合（両対数軸）。複数回のパーセンタイルは合算できないため、1回ごとに線を引く"
}

pub(in crate::text) fn run_of_series(name: &str, run: usize) -> String {
    format!("{name}（{run}回目）")
}

pub(in crate::text) fn claimed_classes() -> &'static str {
    "本体に表示されたクラスと、要求値に対する測定値の倍率"
}

pub(in crate::text) fn other_layers() -> &'static str {
    "他のレイヤを介した場合"
}

pub(in crate::text) fn method_title() -> &'static str {
    "測定方法"
}

pub(in crate::text) fn how_to_read() -> &'static str {
    "比、信頼区間、文字の読み方"
}

pub(in crate::text) fn charts_counted(n: usize) -> String {
    format!("グラフ{n}件")
}

pub(in crate::text) fn more_charts(n: usize) -> String {
    format!("ほか{n}件のグラフ")
}

pub(in crate::text) fn charts_left_out(n: usize) -> String {
    format!("同種のグラフ{n}件は省略した。すべて書き出すには--charts=DIRを使う。")
}

pub(in crate::text) fn rated_speeds() -> &'static str {
    "カードごとの公称速度と測定値"
}

pub(in crate::text) fn results_about(reference: Option<&str>) -> String {
    let mean = "測定の平均 ± 標準偏差。";
    match reference {
        Some(reference) => format!(
            "{mean}{}比は{reference}に対する割合とその95%信頼区間で、判定はレイヤについてのもの。",
            super::intervals()
        ),
        None => mean.to_owned(),
    }
}

pub(in crate::text) fn differences_about(reference: &str) -> String {
    let (thing, _) = super::answers::things();
    format!(
        "比は{reference}に対する値で、95%信頼区間は同時に成り立つ。区間が1を含まなければ有意差ありである。同じ文字の{thing}の間に有意差はないが、\
         同じであることの証明ではない。このページの{thing}間の比較すべてをまとめて多重比較を補正し、差がないときに一つでも誤って差ありとする確率は5%以下である。{}",
        super::intervals()
    )
}

pub(in crate::text) fn tests() -> &'static str {
    "判定の根拠となる検定"
}
