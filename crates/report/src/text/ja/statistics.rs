//! Words of statistics.

use crate::number;
use crate::text::SlowestInterval;
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
     二峰性（2群に分かれる）。これらの語が付く区間は、実際より狭い可能性がある。"
}

pub(in crate::text) fn spread_title(
    work: &str,
    worst: &SlowestInterval,
    best: Option<&SlowestInterval>,
) -> String {
    let part = |of: &SlowestInterval| {
        let speed = number::significant(of.speed / 1e6);
        format!("{speed} MB/s（平均の{}%）", number::percent(of.share))
    };
    match best {
        None => format!("{work}: 最も遅い区間は{}", part(worst)),
        Some(best) => format!(
            "{work}: 最も遅い区間は{}が{}、{}が{}",
            worst.series,
            part(worst),
            best.series,
            part(best)
        ),
    }
}

pub(in crate::text) fn range_note(lengths: &[String]) -> String {
    let of = match lengths {
        [] => String::new(),
        lengths => format!("（1区間は約{}）", lengths.join("または")),
    };
    format!(
        "スループットの時間変動、MB/s。棒は転送量÷時間、太線は区間{of}ごとの値の±標準偏差、両端のある細線は最も遅い区間と最も速い区間。\
         個々の区間の値は結果に含まれない"
    )
}

pub(in crate::text) fn no_rated_speed() -> &'static str {
    "公称速度なし"
}

pub(in crate::text) fn calls(n: u64) -> String {
    format!("{}回", number::grouped(n))
}

pub(in crate::text) fn nth_series(n: usize) -> String {
    format!("測定シリーズ{n}")
}

pub(in crate::text) fn run_number(run: usize) -> String {
    format!("{run}回目")
}
