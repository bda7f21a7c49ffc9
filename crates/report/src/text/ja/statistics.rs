//! Words of statistics.

use crate::number;
use hakaru_model::finding::IntervalCaveat;

pub(in crate::text) fn interval_caveat(caveat: IntervalCaveat) -> &'static str {
    match caveat {
        IntervalCaveat::FewRuns => "回数不足",
        IntervalCaveat::Dependent => "相関あり",
        IntervalCaveat::Skewed => "偏りあり",
        IntervalCaveat::TwoModes => "二峰性",
    }
}

pub(in crate::text) fn after_interval(caveats: &str) -> String {
    format!("（{caveats}）")
}

pub(in crate::text) fn intervals() -> &'static str {
    "区間の後の語の意味: 回数不足（20回未満。独立性と分布の偏りを確認できない）、相関あり（前の測定に似た値）、偏りあり、\
     二峰性（2群に分かれる）。区間は狭すぎる可能性がある。"
}

pub(in crate::text) fn calls(n: u64) -> String {
    format!("{}回", number::grouped(n))
}

pub(in crate::text) fn nth_series(n: usize) -> String {
    format!("測定シリーズ{n}")
}
