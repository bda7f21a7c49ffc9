//! Texts of tables, comparisons and workloads.

use super::{listed, span};
use crate::number;
use crate::png::PngError;
use crate::text::compared::{ComparedThing, compared};
use crate::text::{ComparisonText, CountedThing, ErrorCount, LayerPart, RatioDirection};
use hakaru_model::finding::{JobDescription, PhaseSummary};
use hakaru_model::job::{BlockSize, Op};
use hakaru_model::units::Bytes;

pub(in crate::text) fn paragraph(sentences: &[impl AsRef<str>]) -> String {
    sentences.iter().map(AsRef::as_ref).collect()
}

pub(in crate::text) fn two_sentences(first: &str, second: &str) -> String {
    format!("{first}。{second}")
}

pub(in crate::text) fn with_unit(quantity: &str, unit: &str) -> String {
    format!("{quantity}({unit})")
}

pub(in crate::text) fn series_compared(n: usize) -> String {
    format!("測定シリーズ{n}件の比較")
}

pub(in crate::text) fn figures_legend(single: bool, open_loop: bool) -> String {
    let spread = match single {
        true => "1回の測定値",
        false => "測定の平均 ± 標準偏差",
    };
    let from = match open_loop {
        true => "オープンループのレイテンシは各I/Oの予定開始時刻から数える。",
        false => "",
    };
    format!("MB/sとIOPSは{spread}。中央値から最大までは全測定を合わせたレイテンシ。{from}")
}

pub(in crate::text) fn drop_at(at: Bytes) -> String {
    format!("{}以降", number::decimal_bytes(at))
}

pub(in crate::text) fn errors_counted(what: ErrorCount, n: u64) -> String {
    let n = number::grouped(n);
    match what {
        ErrorCount::FailedIos => format!("I/Oの失敗{n}件"),
        ErrorCount::Others => format!("その他のエラー{n}件"),
    }
}

pub(in crate::text) fn and_more(n: u64) -> String {
    format!("ほか{}件", number::grouped(n))
}

pub(in crate::text) fn more_in_record(n: u64) -> String {
    format!("ほか{}件（すべて記録にあり）", number::grouped(n))
}

pub(in crate::text) fn things_counted(what: CountedThing, n: u64) -> String {
    let n = number::grouped(n);
    match what {
        CountedThing::Cards => match compared() {
            ComparedThing::Cards | ComparedThing::CardHostPairs => format!("カード{n}枚"),
            ComparedThing::Sets => format!("測定結果{n}件"),
        },
        CountedThing::Hosts => format!("ホスト{n}台"),
        CountedThing::Layers => format!("レイヤ{n}種類"),
        CountedThing::Workloads => format!("ワークロード{n}種類"),
        CountedThing::PublishedRuns => format!("公表された計{n}回の測定"),
    }
}

pub(in crate::text) fn runs_of(runs: u64, planned: u64) -> String {
    let (runs, planned) = (number::grouped(runs), number::grouped(planned));
    format!("{planned}回中{runs}回")
}

pub(in crate::text) fn runs_of_most(runs: u64, planned: u64) -> String {
    format!("最大{planned}回中{runs}回")
}

pub(in crate::text) fn these_runs(numbers: &[String]) -> String {
    format!("{}回目", listed(numbers))
}

pub(in crate::text) fn stored_as(id: &str) -> String {
    format!("保存ID {id}")
}

pub(in crate::text) fn campaign_legend(ranked: bool) -> String {
    let figures = "大きいブロックはMB/s、小さいブロックはIOPSで、測定の平均 ± 標準偏差。";
    match ranked {
        true => format!(
            "{figures}同じ文字の{}の間に有意差はない（全比較をまとめて多重比較を補正、有意水準5%）。",
            super::answers::things().0
        ),
        false => figures.to_owned(),
    }
}

pub(in crate::text) fn layer_leaves(layer: &str, reference: &str) -> String {
    let reference = super::layer(reference);
    format!("{reference}に対する{layer}の性能")
}

pub(in crate::text) fn layer_leaves_note() -> &'static str {
    "平均の比と、同時に成り立つ95%信頼区間。=は5%以内で同等、?は判定保留。"
}

pub(in crate::text) fn failed_not_counted(n: u64, point: &str, because: &str) -> String {
    let n = number::grouped(n);
    format!("未完了の測定{n}回を集計から除外。最初の1件: {point}（{because}）")
}

pub(in crate::text) fn others_not_counted(n: u64) -> String {
    let n = number::grouped(n);
    format!("測定条件の異なる保存済みの測定{n}回を集計から除外")
}

pub(in crate::text) fn others_of_points(n: u64) -> String {
    format!("同じ測定点で測定条件の異なる測定{}回", number::grouped(n))
}

pub(in crate::text) fn because_of_run(because: &str, run: &str) -> String {
    format!("{because}（測定{run}）")
}

pub(in crate::text) fn caveats_in_report(n: u64) -> String {
    format!("ほか{}件の注意はレポートに記載", number::grouped(n))
}

pub(in crate::text) fn about_layer(part: LayerPart, layer: &str) -> String {
    let layer = super::layer(layer);
    match part {
        LayerPart::Against => format!("{layer}との比較"),
        LayerPart::Results => format!("測定結果: {layer}"),
        LayerPart::Spread => format!("測定間のばらつき: {layer}"),
        LayerPart::Uses => format!("用途別の向き・不向き: {layer}"),
    }
}

pub(in crate::text) fn spread_note() -> &'static str {
    "ブートストラップは分布の形を仮定せず、8回以上の測定を要する。MADは中央絶対偏差（補正係数なし）。外れ値はTukeyの基準の外側の値で、どの値の集計にも含む。\
     ドリフトは最初から最後の測定までの直線近似による。定常状態は、連続する5回の最大と最小の差が平均の20%以内で、傾きが10%以内の区間すべて（SNIA PTS）。\
     1回の測定を1ラウンドとみなす。"
}

pub(in crate::text) fn steady_window(
    (first, last): (u32, u32),
    level: &str,
    range: &str,
    slope: &str,
) -> String {
    let runs = span(&first.to_string(), &last.to_string());
    format!("{runs}回目、{level} MB/s\n幅{range}%、傾き{slope}%")
}

pub(in crate::text) fn every_pair(workload: &str) -> String {
    format!("全組み合わせ: {workload}")
}

pub(in crate::text) fn difference_heads(reference: &str) -> [String; 3] {
    [
        "順位".to_owned(),
        format!("{reference}に対する比[95%]"),
        format!("有意差のない{}", super::answers::things().0),
    ]
}

pub(in crate::text) fn map_note() -> &'static str {
    "測定前の全域書き込みの、位置ごとの速度"
}

pub(in crate::text) fn comparison_verdict(verdict: &ComparisonText) -> String {
    match verdict {
        ComparisonText::Different {
            direction,
            little,
            p,
        } => {
            let direction = match direction {
                RatioDirection::Higher => "高い",
                RatioDirection::Lower => "低い",
                RatioDirection::Unknown => "有意差あり",
            };
            let little = if *little { "、差は5%未満" } else { "" };
            format!("{direction}{little}{}", chance(p))
        }
        ComparisonText::Equivalent { p } => format!("5%以内で同等{}", chance(p)),
        ComparisonText::Undecided { runs: 1, .. } => "検定なし（n = 1）".to_owned(),
        ComparisonText::Undecided { runs, needed } => {
            let now = (*runs > 0).then(|| format!("n = {runs}"));
            let needed = needed.map(|needed| format!("n = {needed}で判定可能"));
            let more: Vec<String> = now.into_iter().chain(needed).collect();
            match more.is_empty() {
                true => "判定保留".to_owned(),
                false => format!("判定保留（{}）", listed(&more)),
            }
        }
    }
}

/// A p-value after a verdict.
fn chance(p: &Option<String>) -> String {
    p.as_ref().map_or_else(String::new, |p| format!(" (p {p})"))
}

pub(in crate::text) fn compared_quantity(quantity: &str) -> String {
    let figures = [(" bandwidth", "のスループット"), (" IOPS", "のIOPS")];
    let plain = figures.iter().find_map(|(english, japanese)| {
        let phase = quantity.strip_suffix(english)?;
        Some(format!("{phase}{japanese}"))
    });
    plain.unwrap_or_else(|| {
        quantity
            .replace(" latency P", "のレイテンシP")
            .replace(" sync P", "のfsyncのP")
    })
}

pub(in crate::text) fn compared_figure_of(workload: &str, figure: &str) -> String {
    compared_quantity(&format!("{workload} {figure}"))
}

pub(in crate::text) fn ratio_direction((first, second): (&str, &str)) -> String {
    format!("比は{first}に対する{second}の値で、判定は{first}に対する{second}の優劣を示す。")
}

pub(in crate::text) fn units_of_fio() -> &'static str {
    "MB/sは毎秒10^6バイト。fioが先に表示するMiB/sの数値は4.6%小さい（1 MiB/s = 1.049 MB/s）。IOPSはI/O数÷時間で、\
     fioは小数点以下を切り捨てる。"
}

pub(in crate::text) fn tests_note() -> &'static str {
    "ウェルチのt検定。信頼区間と同じく比較の数で補正したもの（ボンフェローニ法）。5%以内の同等性の検定（2つの片側検定、同様に補正）。\
     順位によるマン・ホイットニーのU検定。ばらつきを単位とする差（Hedges’ g）。2つ目が1つ目を上回る割合と下回る割合との差（Cliffのデルタ）。"
}

pub(in crate::text) fn caveats_of_comparison() -> &'static str {
    "比較の注意"
}

pub(in crate::text) fn caveats_of(name: &str) -> String {
    format!("{name}の測定上の注意")
}

pub(in crate::text) fn figure_of(figure: &str, statistic: &str) -> String {
    format!("{figure}の{statistic}")
}

pub(in crate::text) fn speeds_along(slowest: &str, fastest: &str) -> String {
    format!("位置により{}", span(slowest, fastest))
}

pub(in crate::text) fn speed_range(what: &str, slowest: &str, fastest: &str) -> String {
    format!("{what}: {} MB/s", super::span(slowest, fastest))
}

pub(in crate::text) fn holds(real: Bytes) -> String {
    format!("実容量{real}")
}

pub(in crate::text) fn of_checked(checked: Bytes) -> String {
    format!("検証済み{checked}中")
}

pub(in crate::text) fn bad_range(offset: Bytes, len: Bytes, what: &str) -> String {
    format!("{offset}から{len}: {what}")
}

pub(in crate::text) fn beginning() -> &'static str {
    "先頭"
}

pub(in crate::text) fn from_beginning(unit: &str) -> String {
    format!("先頭からの位置 {unit}")
}

pub(in crate::text) fn from_start_of_disk(unit: &str) -> String {
    format!("ディスクの先頭からの位置 {unit}")
}

pub(in crate::text) fn segments_note(strip: bool) -> &'static str {
    match strip {
        true => "先頭から末尾までの区間ごとの平均速度。下の帯は不良箇所",
        false => "先頭から末尾までの区間ごとの平均速度",
    }
}

pub(in crate::text) fn png_error(error: PngError) -> String {
    match error {
        PngError::NoFont => "フォントなし".to_owned(),
        PngError::TooLarge { width, height } => format!("{width} × {height}ピクセルは大きすぎる"),
        PngError::Render => "レンダラがグラフを拒否".to_owned(),
    }
}

pub(in crate::text) fn described(phase: &PhaseSummary) -> String {
    let jobs: Vec<String> = phase.detail.jobs.iter().map(job).collect();
    match jobs.is_empty() {
        true => phase.workload.clone(),
        false => jobs.join(" + "),
    }
}

/// One job of a phase.
fn job(job: &JobDescription) -> String {
    let mut parts = vec![operation(job)];
    if let Some(share) = job.mix_percent {
        parts.push(format!("読み書き混合の{share}%"));
    }
    parts.extend(job.block.as_ref().map(block));
    parts.extend(job.iodepth.map(|depth| format!("キュー深度{depth}")));
    if let Some(batch) = job.batch {
        parts.push(format!("{batch}件ずつ完了を待つ"));
    }
    if job.open_loop {
        parts.push("オープンループ".to_owned());
    }
    if job.numjobs > 1 {
        parts.push(format!("{}ジョブ", job.numjobs));
    }
    match job.sync_every {
        0 => {}
        1 => parts.push("毎回fsync".to_owned()),
        n => parts.push(format!("{n}回ごとにfsync")),
    }
    if job.sync_open {
        parts.push("O_SYNC".to_owned());
    }
    if job.cached {
        parts.push("ページキャッシュ経由".to_owned());
    }
    listed(&parts)
}

/// Order and operation of a job.
fn operation(job: &JobDescription) -> String {
    let order = match job.random {
        None => "",
        Some(true) => "ランダム",
        Some(false) => "シーケンシャル",
    };
    let op = match job.op {
        None => "読み書き",
        Some(Op::Read) => "読み込み",
        Some(Op::Write) => "書き込み",
        Some(Op::Trim) => "TRIM",
    };
    format!("{order}{op}")
}

fn block(block: &BlockSize) -> String {
    match block {
        BlockSize::Fixed(size) => size.to_string(),
        BlockSize::Range { min, max } => span(&min.to_string(), &max.to_string()),
        BlockSize::Split(parts) => {
            let sizes: Vec<String> = parts.iter().map(|(size, _)| size.to_string()).collect();
            sizes.join("/")
        }
    }
}
