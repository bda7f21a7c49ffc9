//! Conditions for the verdict on a claim, and names of its figures.

use hakaru_model::finding::{Claim, Condition, Figure};

pub(in crate::text) fn claim(claim: Claim) -> String {
    match claim {
        Claim::SpeedClass(n) => format!("C{n}"),
        Claim::UhsGrade(n) => format!("U{n}"),
        Claim::VideoClass(n) => format!("V{n}"),
        Claim::AppClass(n) => format!("A{n}"),
        Claim::ReadSpeed(mb) => format!("read up to {mb} MB/s"),
        Claim::WriteSpeed(mb) => format!("write up to {mb} MB/s"),
    }
}

pub(in crate::text) fn claim_legend(not_measured: bool) -> String {
    let also = if not_measured {
        "; ? also: not measured"
    } else {
        ""
    };
    format!(
        "✓ met, ✗ not met; test conditions not met or unknown: ~ high enough or near the limit, ? too low or one run{also}"
    )
}

pub(in crate::text) fn condition(condition: &Condition) -> String {
    match condition {
        Condition::Raw { filesystem } => {
            format!("the class applies to the raw card, but the test ran on {filesystem}")
        }
        Condition::Erased => {
            "the class applies to erased allocation units; no erase is recorded".to_owned()
        }
        Condition::Bus { needed, ceiling } => {
            format!("the bus is too slow: {ceiling}, and {needed} is needed")
        }
        Condition::BusUnknown => "the bus speed is unknown".to_owned(),
        Condition::Time { wanted, measured } => {
            format!("measured for {measured}, and {wanted} is needed")
        }
        Condition::Direct => "needs direct I/O; the page cache was in use".to_owned(),
        Condition::Extent { wanted, written } => {
            format!("wrote {written}, and {wanted} is needed")
        }
        Condition::SpeedClassControl => {
            "needs the Speed Class command (CMD20), which Linux does not send".to_owned()
        }
        Condition::Span { wanted, used } => {
            format!("random I/O is tested within {wanted}; these runs used {used}")
        }
        Condition::Depth { wanted, used } => {
            format!("the class is tested at queue depth {wanted}; these runs used {used}")
        }
        Condition::Repeats { runs: ..=1 } => "1 run has no interval; use --repeat=5".to_owned(),
        Condition::Repeats { runs } => format!("the variation between the {runs} runs is unknown"),
        Condition::CommandQueue { iodepth } => {
            format!("A2 is tested with command queue and card cache on; queue depth was {iodepth}")
        }
        Condition::Timeline => "needs the slowest interval; only the mean was recorded".to_owned(),
        Condition::Alone => "needs an idle card; the operating system runs from it".to_owned(),
    }
}

pub(in crate::text) fn figure(figure: Figure) -> &'static str {
    match figure {
        Figure::SequentialRead => "sequential read",
        Figure::SequentialWrite => "sequential write",
        Figure::RandomRead => "random read",
        Figure::RandomWrite => "random write",
        Figure::RandomReadP99 => "random read P99",
        Figure::SyncP99 => "fsync P99",
        Figure::SyncP999 => "fsync P99.9",
        Figure::SustainedWrite => "sustained write",
        Figure::SlowestWrite => "slowest 1 s of a sustained write",
    }
}
