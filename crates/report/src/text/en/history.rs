//! History of one card.

use super::counted;
use crate::history::{ratio, trend_noun};
use crate::number;
use crate::text::{SpeedChange, TrendFinding, TrendVerdict, capital};
use crate::time;
use hakaru_model::history::{DefectKind, HistoryCaveat, MissingProof, Outlook, Trend, WearSign};

pub(in crate::text) fn history_title(name: &str) -> String {
    format!("History of {name}")
}

pub(in crate::text) fn history_counts(
    runs: u32,
    series: u32,
    verifications: usize,
    anatomies: usize,
) -> String {
    let anatomies = match anatomies {
        0 => String::new(),
        1 => ", 1 anatomy".to_owned(),
        n => format!(", {n} anatomies"),
    };
    format!(
        "{} in {series} series, {}{anatomies}",
        counted(u64::from(runs), "run"),
        counted(verifications as u64, "verification")
    )
}

pub(in crate::text) fn outlook(outlook: Outlook) -> &'static str {
    match outlook {
        Outlook::Failing => "This card is failing",
        Outlook::Wearing => "This card shows signs of wear",
        Outlook::NoSign => {
            "No sign of wear: writes did not become slower by more than 5%, and the last verification found no bad block"
        }
        Outlook::Unknown => "Too little is known to judge this card",
    }
}

pub(in crate::text) fn outlook_advice(outlook: Outlook) -> &'static str {
    match outlook {
        Outlook::Failing => "Copy your data off it now, then replace it",
        Outlook::Wearing => "Keep a backup, and verify the card",
        Outlook::NoSign | Outlook::Unknown => "",
    }
}

pub(in crate::text) fn signs_title() -> &'static str {
    "Signs"
}

pub(in crate::text) fn proofs_title() -> &'static str {
    "Missing evidence"
}

pub(in crate::text) fn trends_title() -> &'static str {
    "Speed, first and newest"
}

pub(in crate::text) fn points_title() -> &'static str {
    "Figures of all series"
}

pub(in crate::text) fn verifications_title() -> &'static str {
    "Verifications"
}

pub(in crate::text) fn anatomies_title() -> &'static str {
    "Anatomies"
}

pub(in crate::text) fn trends_note(fewest: usize, once: usize) -> String {
    let once = match once {
        0 => String::new(),
        n => format!(
            " · {} measured in one series only: under {}",
            counted(n as u64, "workload"),
            points_title()
        ),
    };
    format!(
        "Shade: share of the best of the row · change and verdict: later against earlier half of the series, from \
         {fewest} of the same settings on one host; the change of fewer: newest against first{once}"
    )
}

pub(in crate::text) fn trend_about() -> &'static str {
    "mean of each series"
}

pub(in crate::text) fn trend_columns() -> [&'static str; 4] {
    ["Workload", "First", "Newest", "Change"]
}

pub(in crate::text) fn sentence(phrase: &str) -> String {
    format!("{phrase}.")
}

pub(in crate::text) fn measured_once_each() -> &'static str {
    "Every workload was measured in one series only, so there is no earlier speed to compare with."
}

pub(in crate::text) fn speed_change(change: &SpeedChange) -> String {
    let SpeedChange {
        workload,
        first,
        last,
        since,
        until,
        ratio,
        verdict,
    } = change;
    let ratio = ratio.as_deref().unwrap_or_default();
    let halves = "earlier to later half of the series";
    match verdict {
        TrendVerdict::Slower => format!(
            "Slower than before: {workload} went from {first} to {last} ({halves}: {ratio}, proven)."
        ),
        TrendVerdict::Faster => format!(
            "Faster than before: {workload} went from {first} to {last} ({halves}: {ratio}, proven)."
        ),
        TrendVerdict::Same => {
            format!(
                "As fast as before: {workload} had {first} and have {last} ({halves}: {ratio})."
            )
        }
        TrendVerdict::Open => format!(
            "No change of the speed since {since} is proven: {workload} went from {first} to {last}. The later half of \
             the series reaches {ratio} of the earlier half."
        ),
        TrendVerdict::Few { have, needed } => format!(
            "{}: {first} on {since}, {last} on {until}; {have} series prove no change ({needed} are needed).",
            capital(workload)
        ),
    }
}

pub(in crate::text) fn trend_title(finding: &TrendFinding) -> String {
    match finding {
        TrendFinding::Changed {
            workload,
            percent,
            slower,
        } => {
            let changed = if *slower { "slower" } else { "faster" };
            format!(
                "{workload} became {changed}: later half of the series at {percent}% of the earlier half"
            )
        }
        TrendFinding::Same { workload } => match workload {
            Some(workload) => format!("{workload}: as fast as before, within 5%"),
            None => "As fast as before, within 5%".to_owned(),
        },
        TrendFinding::Open {
            workload,
            low,
            high,
            since,
        } => {
            let range = super::span(low, high);
            let workload = workload.as_ref().map(|name| format!("{name}: "));
            let workload = workload.unwrap_or_default();
            let first = since.as_ref().map(|since| format!("on {since}"));
            let first = first.unwrap_or_else(|| "in the first series".to_owned());
            format!("{workload}{range}% of the speed {first}; no change is proven")
        }
    }
}

pub(in crate::text) fn trend_chart_note(spread: bool, drawn: usize, of: usize) -> String {
    let whisker = match spread {
        true => "; whisker: 95% interval over its runs",
        false => "",
    };
    let drawn = match drawn < of {
        true => {
            format!(" {drawn} of {of} workloads are drawn: proven changes first, then the largest.")
        }
        false => String::new(),
    };
    format!(
        "Percent of the first series of each workload. Point: mean of a series{whisker}.{drawn}"
    )
}

pub(in crate::text) fn trend_heads() -> [&'static str; 6] {
    [
        "Workload",
        "Series",
        "First",
        "Last",
        "Later/earlier half [95%]",
        "Verdict",
    ]
}

pub(in crate::text) fn point_heads(unit: &str) -> [String; 5] {
    ["Start", "Series", unit, "Runs", "File system used"].map(str::to_owned)
}

pub(in crate::text) fn verified_heads() -> [&'static str; 4] {
    ["Start", "Verification", "Checked", "Bad"]
}

pub(in crate::text) fn anatomy_heads() -> [&'static str; 6] {
    [
        "Start",
        "Anatomy",
        "Allocation unit",
        "Open units",
        "Read rate",
        "Write rate",
    ]
}

pub(in crate::text) fn trend_verdict(verdict: TrendVerdict) -> String {
    match verdict {
        TrendVerdict::Slower => "slower (proven)".to_owned(),
        TrendVerdict::Faster => "faster (proven)".to_owned(),
        TrendVerdict::Same => "same within 5%".to_owned(),
        TrendVerdict::Open => "not proven".to_owned(),
        TrendVerdict::Few { have, needed } => format!("{have} of {needed} series"),
    }
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
            Some(trend) => slower(trend, trends),
            None => "Writes became slower".to_owned(),
        },
        WearSign::MoreRetries { first, last } => format!(
            "More commands were retried: {} per million in the last traced series, {} in the first",
            number::quantity(*last),
            number::quantity(*first)
        ),
    }
}

fn slower(trend: &Trend, all: &[Trend]) -> String {
    let change = trend.comparison.as_ref().map(ratio);
    let name = trend_noun(trend, all);
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
        MissingProof::MoreSeries { have } => format!(
            "{have} series do not rule out that writes became slower by more than 5%; each series more narrows the \
             interval: `hakaru bench` adds one"
        ),
        MissingProof::Verification => {
            "bad blocks are found only by a verification: `hakaru verify DEVICE` or `hakaru verify DIR`".to_owned()
        }
        MissingProof::WearData => {
            "the device reports no life time (SD cards have no such register, and most USB readers hide it)".to_owned()
        }
        MissingProof::Retries { have } => format!(
            "more retries are found only by comparing at least 2 traced series of one host: {have} stored; `hakaru bench --trace` adds one"
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
