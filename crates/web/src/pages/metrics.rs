//! Figures of the server and of what runs now, in the text format of Prometheus.
//!
//! Source of the format: <https://prometheus.io/docs/instrumenting/exposition_formats/>, version 0.0.4.

use crate::access::Viewer;
use crate::context::{AppState, WebState, blocking};
use crate::frame;
use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hakaru_store::Store;
use hakaru_store::live::{LiveCellState, LiveRate, LiveSample, LiveState};
use std::fmt::{Display, Write};

const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) async fn metrics(
    State(state): State<AppState>,
    Extension(viewer): Extension<Viewer>,
) -> Response {
    let of = state.clone();
    match blocking(&state, &viewer, move |store| exposition(&of, store)).await {
        Ok(text) => ([(header::CONTENT_TYPE, TEXT_FORMAT)], text).into_response(),
        Err(error) => frame::failure(&state, &viewer, "/metrics", &error),
    }
}

fn exposition(state: &WebState, store: &Store) -> anyhow::Result<String> {
    let mut page = Exposition::default();
    page.family("hakaru_info", Kind::Gauge, "Version of the server.");
    page.sample("hakaru_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    let stored = "hakaru_stored_results";
    page.family(stored, Kind::Gauge, "Results in the database, by kind.");
    let kinds = [
        ("run", store.count()?),
        ("verification", store.count_verifications()?),
        ("campaign", store.campaigns()?.len() as u64),
    ];
    for (kind, count) in kinds {
        page.sample(stored, &[("kind", kind)], count);
    }
    if let Ok(file) = state.options.database.metadata() {
        page.family(
            "hakaru_database_bytes",
            Kind::Gauge,
            "Size of the database file.",
        );
        page.sample("hakaru_database_bytes", &[], file.len());
    }
    let snapshot = state.live.snapshot();
    page.family("hakaru_disks", Kind::Gauge, "Disks that are present.");
    page.sample("hakaru_disks", &[], snapshot.disks.len());
    let running = snapshot.states.iter().filter(|state| state.end.is_none());
    let running: Vec<(&LiveState, Option<LiveSample>)> = running
        .map(|process| (process, state.live.last_sample(&process.id)))
        .collect();
    add_processes(&mut page, &running);
    add_rates(&mut page, &running);
    add_host(&mut page, &running);
    add_server(&mut page);
    Ok(page.0)
}

/// Labels that identify a process.
fn labels(process: &LiveState) -> [(&'static str, &str); 4] {
    let verb = match process.verb {
        hakaru_store::live::LiveVerb::Bench => "bench",
        hakaru_store::live::LiveVerb::Verify => "verify",
        hakaru_store::live::LiveVerb::Anatomy => "anatomy",
        hakaru_store::live::LiveVerb::Prepare => "prepare",
        hakaru_store::live::LiveVerb::Campaign => "campaign",
        hakaru_store::live::LiveVerb::Fio => "fio",
        hakaru_store::live::LiveVerb::Iozone => "iozone",
    };
    [
        ("id", &process.id),
        ("verb", verb),
        ("target", &process.target),
        ("device", process.device.as_deref().unwrap_or_default()),
    ]
}

/// Processes that measure, verify or prepare, and the points of campaigns.
fn add_processes(page: &mut Exposition, running: &[(&LiveState, Option<LiveSample>)]) {
    let name = "hakaru_running";
    page.family(name, Kind::Gauge, "Processes that measure now.");
    for (process, _) in running {
        page.sample(name, &labels(process), 1);
    }
    let name = "hakaru_running_waits";
    let help = "Whether the process waits for an answer, such as the next card.";
    page.family(name, Kind::Gauge, help);
    for (process, _) in running {
        page.sample(name, &labels(process), u8::from(process.prompt.is_some()));
    }
    let name = "hakaru_running_remaining_seconds";
    page.family(name, Kind::Gauge, "Estimated remaining time.");
    for (process, _) in running {
        let campaign = process.campaign.as_ref();
        // A campaign whose remaining time is unknown reports 0, as that of a fleet.
        let remaining = match campaign {
            Some(campaign) => Some(campaign.remaining_s).filter(|seconds| *seconds > 0.0),
            None => process.remaining_s,
        };
        if let Some(remaining) = remaining {
            page.sample(name, &labels(process), remaining);
        }
    }
    let name = "hakaru_campaign_points";
    page.family(name, Kind::Gauge, "Points of running campaigns, by state.");
    let states = [
        ("waiting", LiveCellState::Waiting),
        ("running", LiveCellState::Running),
        ("done", LiveCellState::Done),
        ("failed", LiveCellState::Failed),
        ("skipped", LiveCellState::Skipped),
    ];
    for (process, _) in running {
        let Some(campaign) = &process.campaign else {
            continue;
        };
        for (state, of) in states {
            let count = campaign
                .cells
                .iter()
                .filter(|cell| cell.state == of)
                .count();
            let labels = [
                ("campaign", campaign.id.as_str()),
                ("name", &campaign.name),
                ("state", state),
            ];
            page.sample(name, &labels, count);
        }
    }
}

/// Latest bandwidth, IOPS and latencies.
fn add_rates(page: &mut Exposition, running: &[(&LiveState, Option<LiveSample>)]) {
    type Figures = fn(&LiveRate) -> Vec<(Option<&'static str>, f64)>;
    let seconds = |quantile, ns: Option<u64>| ns.map(|ns| (Some(quantile), ns as f64 / 1e9));
    let families: [(&str, &str, Figures); 3] = [
        (
            "hakaru_running_bytes_per_second",
            "Bandwidth of the last half second.",
            |rate| vec![(None, rate.bytes_per_s)],
        ),
        (
            "hakaru_running_iops",
            "I/Os per second in the last half second.",
            |rate| vec![(None, rate.iops)],
        ),
        (
            "hakaru_running_latency_seconds",
            "Completion latency in the last half second, by quantile.",
            |_| Vec::new(),
        ),
    ];
    for (name, help, figures) in families {
        page.family(name, Kind::Gauge, help);
        for (process, sample) in running {
            let Some(sample) = sample else { continue };
            let rates = [
                ("read", &sample.read),
                ("write", &sample.write),
                ("trim", &sample.trim),
            ];
            for (operation, rate) in rates {
                let Some(rate) = rate else { continue };
                let mut values = figures(rate);
                if values.is_empty() {
                    values.extend(seconds("0.5", rate.p50_ns));
                    values.extend(seconds("0.99", rate.p99_ns));
                }
                for (quantile, value) in values {
                    let mut labels = labels(process).to_vec();
                    labels.extend([("phase", sample.phase.as_str()), ("operation", operation)]);
                    labels.extend(quantile.map(|quantile| ("quantile", quantile)));
                    page.sample(name, &labels, value);
                }
            }
        }
    }
}

/// Temperature and throttling of the host, which running processes sample.
fn add_host(page: &mut Exposition, running: &[(&LiveState, Option<LiveSample>)]) {
    let last = running
        .iter()
        .filter_map(|(_, sample)| sample.as_ref())
        .max_by_key(|sample| sample.at_unix_ms);
    if let Some(temperature) = last.and_then(|sample| sample.temperature) {
        let name = "hakaru_cpu_temperature_celsius";
        page.family(name, Kind::Gauge, "Temperature of the processor.");
        page.sample(name, &[], temperature as f64 / 1000.0);
    }
    if let Some(flags) = last.and_then(|sample| sample.throttled) {
        let name = "hakaru_throttled_flags";
        let help = "Throttling flags of the Raspberry Pi firmware; 0 for none.";
        page.family(name, Kind::Gauge, help);
        page.sample(name, &[], flags);
    }
}

/// Memory and processor time of the server, under the names that Prometheus recommends.
fn add_server(page: &mut Exposition) {
    let read = |name| std::fs::read_to_string(name).ok();
    let pages = read("/proc/self/statm")
        .and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
    if let Some(pages) = pages {
        let name = "process_resident_memory_bytes";
        page.family(name, Kind::Gauge, "Resident memory of the server.");
        page.sample(name, &[], pages * rustix::param::page_size() as u64);
    }
    let ticks = read("/proc/self/stat").and_then(|text| {
        // The name before the last parenthesis may contain anything; fields 14 and 15 follow it (man 5 proc).
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<u64>().ok();
        Some(ticks()? + ticks()?)
    });
    if let Some(ticks) = ticks {
        let name = "process_cpu_seconds_total";
        page.family(name, Kind::Counter, "Processor time of the server.");
        page.sample(
            name,
            &[],
            ticks as f64 / rustix::param::clock_ticks_per_second() as f64,
        );
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Gauge,
    Counter,
}

/// Text in the exposition format.
#[derive(Default)]
struct Exposition(String);

impl Exposition {
    /// Begins a family of samples.
    fn family(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        self.0.push_str(name);
        for (at, (label, value)) in labels.iter().enumerate() {
            let value = value
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n");
            let start = if at == 0 { '{' } else { ',' };
            let _ = write!(self.0, "{start}{label}=\"{value}\"");
        }
        let end = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{end} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_values_are_escaped() {
        let mut page = Exposition::default();
        page.family("x", Kind::Counter, "Help.");
        page.sample("x", &[("a", "b\"c\\d\ne"), ("f", "")], 1.5);
        page.sample("x", &[], 2);
        assert_eq!(
            page.0,
            "# HELP x Help.\n# TYPE x counter\nx{a=\"b\\\"c\\\\d\\ne\",f=\"\"} 1.5\nx 2\n"
        );
    }
}
