//! Rounds that end in steady state.

use super::counted;
use crate::number;
use crate::text::values::{RoundFigure, RoundTitle};
use hakaru_model::units::Bytes;

pub(in crate::text) fn round_title(title: &RoundTitle) -> String {
    match title {
        RoundTitle::Steady {
            work,
            rounds: (first, last),
            value,
        } => format!("{work}: steady at {value} in rounds {first} to {last}"),
        RoundTitle::Unsteady { work, rounds } => {
            format!(
                "{work}: not steady after {}",
                counted(u64::from(*rounds), "round")
            )
        }
        RoundTitle::Few { work, rounds } => {
            let measured = counted(u64::from(*rounds), "round");
            format!("{work}: {measured} measured; five are needed for steady state")
        }
        RoundTitle::All { work, rounds } => {
            format!(
                "{work}: {} by block size",
                counted(u64::from(*rounds), "round")
            )
        }
        RoundTitle::Table {
            figure,
            steady,
            low,
            high,
        } => {
            let state = match steady {
                true => "in steady state",
                false => "not yet steady",
            };
            let ((low, at_low), (high, at_high)) = (low, high);
            let figure = round_figure(*figure);
            format!("{figure}, {state}: from {low} ({at_low}) to {high} ({at_high})")
        }
        RoundTitle::Saturation { work, first, last } => {
            format!("{work}: {first} IOPS in the first tenth of the run, {last} in the last")
        }
    }
}

pub(in crate::text) fn round_work(random: bool, read_percent: u32, block: Option<Bytes>) -> String {
    let how = if random { "random" } else { "sequential" };
    let size = block.map_or(String::new(), |block| {
        format!(" of {}", number::block_size(block))
    });
    match read_percent {
        0 => format!("{how} writes{size}"),
        100.. => format!("{how} reads{size}"),
        share => format!("{how} I/Os{size}, {share}% reads"),
    }
}

pub(in crate::text) fn mix(read_percent: u32) -> String {
    format!("{read_percent}% reads")
}

pub(in crate::text) fn axis_round() -> &'static str {
    "Round"
}

pub(in crate::text) fn window_mean() -> &'static str {
    "mean"
}

pub(in crate::text) fn window_note(unit: &str, range: &str, slope: &str) -> String {
    format!(
        "{unit}. Dot: one round; shaded: the five rounds of the measurement window, with their mean ± 10% and their \
         fitted line. Range {range}% of the mean (limit 20%), change of the line {slope}% (limit 10%)."
    )
}

pub(in crate::text) fn rounds_note(unit: &str) -> String {
    format!("{unit}. Dot: one round; reads and writes together.")
}

pub(in crate::text) fn window_figure(figure: RoundFigure, rounds: Option<(u32, u32)>) -> String {
    let what = match figure {
        RoundFigure::Iops => "Reads and writes per second together",
        RoundFigure::Throughput => "MB/s",
        RoundFigure::MeanLatency => "Mean completion latency",
        RoundFigure::MaxLatency => "Largest completion latency",
    };
    match rounds {
        Some((first, last)) => format!("{what}, rounds {first} to {last}."),
        None => format!("{what}, all rounds."),
    }
}

fn round_figure(figure: RoundFigure) -> &'static str {
    match figure {
        RoundFigure::Iops => "IOPS",
        RoundFigure::Throughput => "Throughput",
        RoundFigure::MeanLatency => "Mean latency",
        RoundFigure::MaxLatency => "Maximum latency",
    }
}

pub(in crate::text) fn saturation_note(times: &str, every: &str) -> String {
    format!("IOPS, mean of every {every} s. The run wrote {times} times the capacity.")
}
