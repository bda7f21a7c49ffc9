//! Heat maps of latency over time.

use crate::number;
use hakaru_model::finding::SlowWhen;

/// The I/Os of a workload, or its flushes.
pub(super) fn of_syncs(work: &str, sync: bool) -> String {
    match sync {
        true => format!("{work}のfsync"),
        false => format!("{work}のI/O"),
    }
}

/// When slow I/Os ended, in parentheses; empty if anywhere.
pub(super) fn slow_when(when: SlowWhen, count: u64) -> String {
    let seconds = |s: f64| format!("{}秒", number::significant(s));
    let all = if count == 1 { "" } else { "すべて" };
    match when {
        SlowWhen::At(s) => format!("（{all}{}の時点）", seconds(s)),
        SlowWhen::After(s) => format!("（{all}{}以降）", seconds(s)),
        SlowWhen::Before(s) => format!("（{all}{}以前）", seconds(s)),
        SlowWhen::Throughout => "（測定全体にわたる）".to_owned(),
        SlowWhen::Scattered => String::new(),
    }
}

pub(in crate::text) fn heat_note(runs: u64, slow: Option<&str>) -> String {
    let mut parts = vec!["レイテンシの推移（対数軸）".to_owned()];
    if runs > 1 {
        parts.push(format!("{}回分の合算", number::grouped(runs)));
    }
    parts.push("濃さはその時点で完了したI/Oに占める割合".to_owned());
    if let Some(slow) = slow {
        parts.push(format!("破線より上は{slow}以上"));
    }
    parts.join("。")
}

pub(in crate::text) fn heat_shares() -> [&'static str; 5] {
    ["0.1%未満", "1%未満", "10%未満", "50%未満", "50%以上"]
}

pub(in crate::text) fn latency_from(latency: &str) -> String {
    format!("{latency}以上")
}

pub(in crate::text) fn heat_heads() -> [&'static str; 4] {
    ["秒", "I/O数", "中央値", "最大"]
}

pub(in crate::text) fn heat_maps() -> &'static str {
    "レイテンシの推移（ヒートマップ）"
}
