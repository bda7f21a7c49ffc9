//! The source line of a chart: number of runs, conditions, origin and days.

use super::runs_text;
use crate::naming::distinct;
use crate::{escape, text, time};
use hakaru_model::caveat::Caveat;
use hakaru_model::finding::Summary;

/// Source line of the charts of a report on these series.
pub fn chart_source(summaries: &[Summary]) -> String {
    source_of(&summaries.iter().collect::<Vec<_>>())
}

/// Source line of charts of these summaries.
pub(crate) fn source_of(summaries: &[&Summary]) -> String {
    let host = |summary: &&Summary| {
        let environment = &summary.environment;
        let board = environment.board.known().map(String::as_str);
        escape::plain(board.unwrap_or(&environment.hostname))
    };
    let simulated = summaries.iter().any(|summary| {
        let mut caveats = summary.caveats.iter();
        caveats.any(|caveat| matches!(caveat, Caveat::Simulated))
    });
    let simulated = simulated.then(|| text::simulated_source().to_owned());
    let hosts = summaries.iter().map(host).filter(|host| !host.is_empty());
    let conditions = distinct(simulated.into_iter().chain(hosts));
    let origin = distinct(
        summaries
            .iter()
            .map(|s| escape::plain(&text::origin(&s.origin))),
    );
    let phases = summaries.iter().flat_map(|summary| &summary.phases);
    let days = day_range(summaries).map(|(first, last)| match first == last {
        true => first,
        false => format!("{first} – {last}"),
    });
    let known = |all: Vec<String>| {
        all.into_iter()
            .filter(|s| !s.is_empty())
            .take(3)
            .collect::<Vec<_>>()
    };
    text::chart_source_line(
        &runs_text(phases),
        &known(conditions),
        &known(origin),
        &days.unwrap_or_default(),
    )
}

/// The days of the first and the last start; `None` for published figures, which have none.
fn day_range(summaries: &[&Summary]) -> Option<(String, String)> {
    let begun = summaries.iter().map(|summary| summary.started_unix_ms);
    let begun = begun.filter(|&ms| ms > 0);
    Some((time::day(begun.clone().min()?), time::day(begun.max()?)))
}
