//! Rounds that end in steady state.

use crate::number;
use crate::text::values::{RoundFigure, RoundTitle};
use hakaru_model::units::Bytes;

pub(in crate::text) fn round_title(title: &RoundTitle) -> String {
    match title {
        RoundTitle::Steady {
            work,
            rounds: (first, last),
            value,
        } => format!("{work}: ラウンド{first}〜{last}で定常状態、{value}"),
        RoundTitle::Unsteady { work, rounds } => {
            format!("{work}: {rounds}ラウンドでは定常状態に達せず")
        }
        RoundTitle::Few { work, rounds } => {
            format!("{work}: {rounds}ラウンドを測定（定常状態の判定には5ラウンドが必要）")
        }
        RoundTitle::All { work, rounds } => {
            format!("{work}: ブロックサイズ別の{rounds}ラウンド")
        }
        RoundTitle::Table {
            figure,
            steady,
            low,
            high,
        } => {
            let state = match steady {
                true => "定常状態",
                false => "定常状態に達する前",
            };
            let ((low, at_low), (high, at_high)) = (low, high);
            let figure = round_figure(*figure);
            format!("{figure}（{state}）: {low}（{at_low}）〜{high}（{at_high}）")
        }
        RoundTitle::Saturation { work, first, last } => {
            format!("{work}: 最初の1割は{first} IOPS、最後の1割は{last} IOPS")
        }
    }
}

pub(in crate::text) fn round_work(random: bool, read_percent: u32, block: Option<Bytes>) -> String {
    let how = match random {
        true => "ランダム",
        false => "シーケンシャル",
    };
    let size = block.map_or(String::new(), |block| {
        format!(" {}", number::block_size(block))
    });
    match read_percent {
        0 => format!("{how}書き込み{size}"),
        100.. => format!("{how}読み込み{size}"),
        share => format!("{how}アクセス{size}（読み込み{share}%）"),
    }
}

pub(in crate::text) fn mix(read_percent: u32) -> String {
    format!("読み込み{read_percent}%")
}

pub(in crate::text) fn axis_round() -> &'static str {
    "ラウンド"
}

pub(in crate::text) fn window_mean() -> &'static str {
    "平均"
}

pub(in crate::text) fn window_note(unit: &str, range: &str, slope: &str) -> String {
    format!(
        "{unit}。点は各ラウンド、網掛けは測定区間の5ラウンドとその平均±10%および回帰直線。変動幅は平均の{range}%（上限20%）、\
         直線の変化は{slope}%（上限10%）"
    )
}

pub(in crate::text) fn rounds_note(unit: &str) -> String {
    format!("{unit}。点は各ラウンド（読み込みと書き込みの合計）")
}

pub(in crate::text) fn window_figure(figure: RoundFigure, rounds: Option<(u32, u32)>) -> String {
    let what = match figure {
        RoundFigure::Iops => "読み込みと書き込みの合計のIOPS",
        RoundFigure::Throughput => "MB/s",
        RoundFigure::MeanLatency => "完了までの平均レイテンシ",
        RoundFigure::MaxLatency => "完了までの最大レイテンシ",
    };
    match rounds {
        Some((first, last)) => format!("{what}、ラウンド{first}〜{last}"),
        None => format!("{what}、全ラウンド"),
    }
}

fn round_figure(figure: RoundFigure) -> &'static str {
    match figure {
        RoundFigure::Iops => "IOPS",
        RoundFigure::Throughput => "スループット",
        RoundFigure::MeanLatency => "平均レイテンシ",
        RoundFigure::MaxLatency => "最大レイテンシ",
    }
}

pub(in crate::text) fn saturation_note(times: &str, every: &str) -> String {
    format!("IOPS、{every}秒ごとの平均。書き込み量は容量の{times}倍")
}
