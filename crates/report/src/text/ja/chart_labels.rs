//! Quantities, axes and notes of charts.

use super::answers::things;
use hakaru_model::job::Op;

pub(in crate::text) fn rated_quantity() -> &'static str {
    "シーケンシャルアクセスの測定値と公称速度、MB/s"
}

pub(in crate::text) fn workload_kind(
    op: Op,
    random: bool,
    read_percent: u32,
    synced: bool,
) -> String {
    let how = if random {
        "ランダム"
    } else {
        "シーケンシャル"
    };
    let op = match op {
        Op::Read => "読み込み",
        Op::Write => "書き込み",
        Op::Trim => "TRIM",
    };
    let mut kind = format!("{how}{op}");
    if synced {
        kind = format!("fsync付き{kind}");
    }
    if (1..100).contains(&read_percent) {
        kind.push_str(&format!(
            "（読み書き混合{read_percent}/{}）",
            100 - read_percent
        ));
    }
    kind
}

pub(in crate::text) fn p99_of(kind: &str) -> String {
    format!("{kind}のP99レイテンシ")
}

pub(in crate::text) fn layer_cost_note(layer: &str, reference: &str) -> String {
    format!(
        "{layer}を介した速度の{reference}に対する比。点は平均の比、線は95%信頼区間、白丸は有意差なし"
    )
}

pub(in crate::text) fn ratio_note(a: &str, b: &str, tested: bool) -> String {
    match tested {
        true => format!("{b}の{a}に対する比。点は平均の比、線は95%信頼区間、白丸は有意差なし"),
        false => format!("{b}の{a}に対する比。白丸は1回ずつの測定の比（検定なし）"),
    }
}

pub(in crate::text) fn amplification_quantity(workload: &str) -> String {
    format!(
        "アプリケーションの1バイトあたりにデバイスが書き込んだバイト数（ディスク統計による）、{workload}"
    )
}

pub(in crate::text) fn no_bar() -> &'static str {
    "未測定"
}

pub(in crate::text) fn axis_percentile() -> &'static str {
    "パーセンタイル"
}

pub(in crate::text) fn axis_seconds() -> &'static str {
    "秒"
}

pub(in crate::text) fn axis_written(unit: &str) -> String {
    format!("書き込み量 {unit}")
}

pub(in crate::text) fn bandwidth_name() -> &'static str {
    "スループット"
}

pub(in crate::text) fn iops_name() -> &'static str {
    "1秒あたりのI/O数"
}

pub(in crate::text) fn small_latency() -> &'static str {
    "小さいI/Oのレイテンシ"
}

pub(in crate::text) fn large_latency() -> &'static str {
    "大きいI/Oのレイテンシ"
}

pub(in crate::text) fn without_fsync(phase: &str) -> String {
    format!("{phase}、fsyncを除く")
}

pub(in crate::text) fn fsync_latency(phase: &str) -> String {
    match phase.is_empty() {
        true => "fsyncのレイテンシ".to_owned(),
        false => format!("{phase}のfsyncのレイテンシ"),
    }
}

pub(in crate::text) fn phase_latency(phase: &str) -> String {
    format!("{phase}のレイテンシ")
}

pub(in crate::text) fn drop_mark(before: &str, after: &str, at: &str) -> String {
    format!("{at}で{before}から{after} MB/sに低下")
}

pub(in crate::text) fn cards_drawn(drawn: usize, of: usize) -> String {
    format!("。{of}{0}のうち{drawn}{0}を表示", things().1)
}

pub(in crate::text) fn extremes_drawn(drawn: usize, of: usize) -> String {
    format!("。{of}件のうち上位と下位の{drawn}件を表示（グラフのデータには全件を記載）")
}

pub(in crate::text) fn groups_between(n: usize) -> String {
    format!("ほか{n}件")
}
