//! History of one card.

use super::counted;
use crate::history::trend_name;
use crate::number;
use crate::{compare, time};
use hakaru_model::history::{DefectKind, HistoryCaveat, MissingProof, Outlook, Trend, WearSign};

pub(in crate::text) fn history_title(name: &str) -> String {
    format!("History of {name}")
}

pub(in crate::text) fn history_counts(runs: u32, series: u32, verifications: usize) -> String {
    format!(
        "{} in {series} series, {}",
        counted(u64::from(runs), "run"),
        counted(verifications as u64, "verification")
    )
}

pub(in crate::text) fn outlook(outlook: Outlook) -> &'static str {
    match outlook {
        Outlook::Failing => "This card is failing",
        Outlook::Wearing => "This card shows signs of wear",
        Outlook::NoSign => {
            "No sign of wear: writes are as fast as before, and the last verification found no bad block"
        }
        Outlook::Unknown => "Too little is known to judge this card",
    }
}

pub(in crate::text) fn outlook_advice(outlook: Outlook) -> &'static str {
    match outlook {
        Outlook::Failing => "copy your data off it now, then replace it",
        Outlook::Wearing => "keep a backup, and verify the card",
        Outlook::NoSign | Outlook::Unknown => "",
    }
}

pub(in crate::text) fn signs_title() -> &'static str {
    "Signs"
}

pub(in crate::text) fn proofs_title() -> &'static str {
    "What would prove more"
}

pub(in crate::text) fn trends_title() -> &'static str {
    "Speed over time"
}

pub(in crate::text) fn points_title() -> &'static str {
    "All series"
}

pub(in crate::text) fn verifications_title() -> &'static str {
    "Verifications"
}

pub(in crate::text) fn trends_note(fewest: usize) -> String {
    format!(
        "Change: the later half of the series divided by the earlier half, with its 95% interval; all trends as one \
         family. A trend needs {fewest} series with the same settings on the same host"
    )
}

pub(in crate::text) fn trend_heads() -> [&'static str; 6] {
    [
        "Workload",
        "Series",
        "First",
        "Last",
        "Change [95%]",
        "Verdict",
    ]
}

pub(in crate::text) fn point_heads(unit: &str) -> [String; 5] {
    ["Start", "Series", unit, "Runs", "File system used"].map(str::to_owned)
}

pub(in crate::text) fn verified_heads() -> [&'static str; 4] {
    ["Start", "Verification", "Checked", "Bad"]
}

pub(in crate::text) fn too_few_series(have: usize, needed: usize) -> String {
    format!("no verdict: {have} of {needed} series")
}

pub(in crate::text) fn wear_sign(sign: &WearSign, trends: &[Trend]) -> String {
    match sign {
        WearSign::BadBlocks { at_unix_ms, bytes } => {
            format!(
                "Data was lost: {bytes} were not read back as written on {}",
                time::day(*at_unix_ms)
            )
        }
        WearSign::IoErrors { count } => format!("{} failed during runs", counted(*count, "I/O")),
        WearSign::Reserve { state } => {
            format!("Spare blocks are nearly used up: PRE_EOL_INFO is {state}")
        }
        WearSign::LifeUsed { percent } => {
            format!("Life time used: {percent}%, as the device reports it")
        }
        WearSign::Defects { kind, first, last } => {
            let what = match kind {
                DefectKind::MediaErrors => "Media errors",
                DefectKind::Reallocated => "Reallocated sectors",
                DefectKind::Pending => "Sectors pending reallocation",
            };
            format!("{what}: {last} (first seen: {first})")
        }
        WearSign::Warning { text } => format!("SMART warning: {text}"),
        WearSign::SlowerWrites { trend } => match trends.get(*trend as usize) {
            Some(trend) => slower(trend),
            None => "Writes became slower".to_owned(),
        },
        WearSign::MoreRetries { first, last } => format!(
            "More commands were retried: {} per million in the last traced series, {} in the first",
            number::quantity(*last),
            number::quantity(*first)
        ),
    }
}

fn slower(trend: &Trend) -> String {
    let change = trend.comparison.as_ref().map(compare::ratio);
    let name = trend_name(trend);
    match change {
        Some(change) => {
            format!("Writes became slower (proven): {name} at {change} of the speed before")
        }
        None => format!("Writes became slower: {name}"),
    }
}

pub(in crate::text) fn missing_proof(proof: MissingProof) -> String {
    match proof {
        MissingProof::Series { have, needed } => format!(
            "a trend needs {needed} series of writes with the same settings on the same host, best on different days: \
             {have} stored; `hakaru bench` adds one"
        ),
        MissingProof::Verification => {
            "bad blocks are found only by a verification: `hakaru verify DEVICE` or `hakaru verify DIR`".to_owned()
        }
        MissingProof::WearData => {
            "the device reports no life time (SD cards have no such register, and most USB readers hide it)".to_owned()
        }
        MissingProof::Retries { have } => format!(
            "more retries are found only by comparing at least 2 traced series: {have} stored; `hakaru bench --trace` adds one"
        ),
    }
}

pub(in crate::text) fn history_caveat(caveat: &HistoryCaveat) -> String {
    match caveat {
        HistoryCaveat::ByLabel => {
            "Runs may be of different cards: the device reports no unique ID, so they are joined by their label".to_owned()
        }
        HistoryCaveat::Hosts { names } => {
            format!("Several hosts ({}): each has trends of its own", names.join(", "))
        }
        HistoryCaveat::Kernels { names } => format!(
            "A change of speed may be that of the kernel: {}",
            names.join(", ")
        ),
        HistoryCaveat::FillLevels { low, high } => format!(
            "A change of speed may be that of the fill level: {low}% to {high}% of the file system were used"
        ),
        HistoryCaveat::SameDay { series } => format!(
            "{series} series of one day are not independent: the interval may be too narrow"
        ),
    }
}
