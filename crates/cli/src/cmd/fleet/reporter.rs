//! Progress of a fleet: a line for each run, and one that shows what the hosts do.

use crate::status_reporter::{ProgressEvent, ProgressMode, bar};
use hakaru_fleet::message::JobProgress;
use hakaru_fleet::operator::FleetReporter;
use hakaru_model::record::RunRecord;
use hakaru_model::units::BytesPerSec;
use hakaru_report::plain;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::time::Instant;

/// Template of the progress bar.
const LINE: &str = "{bar:24} {pos}/{len}  {msg}";

/// Maximum number of hosts that the line names.
const NAMED: usize = 3;

/// Time after which a host that reports nothing is not named.
const RECENT: u64 = 5;

/// Prints the progress of a fleet.
pub(super) struct CliFleetReporter {
    mode: ProgressMode,
    bar: ProgressBar,
    hosts: BTreeMap<String, (Instant, String)>,
}

impl CliFleetReporter {
    pub(super) fn new(mode: ProgressMode) -> CliFleetReporter {
        CliFleetReporter {
            mode,
            bar: bar(mode, LINE),
            hosts: BTreeMap::new(),
        }
    }

    /// Removes the progress line from the terminal.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&mut self) {
        self.hosts
            .retain(|_, (at, _)| at.elapsed().as_secs() < RECENT);
        let busy = self.hosts.len();
        let named = self
            .hosts
            .iter()
            .take(NAMED)
            .map(|(host, (_, text))| format!("{host}: {text}"));
        let mut line = named.collect::<Vec<_>>().join("   ");
        if busy > NAMED {
            line += &both!("   and {} more hosts", "   ほか{}台"; busy - NAMED);
        }
        self.bar.set_message(line);
    }
}

impl FleetReporter for CliFleetReporter {
    fn stored(&mut self, host: &str, record: &RunRecord, done: u64, of: u64) {
        self.bar.set_length(of.max(1));
        self.bar.set_position(done);
        let label = record.target.label.clone();
        let name = plain(&label.unwrap_or_else(|| record.target.display_name()));
        let point = record.campaign.as_ref();
        let what = point.map_or_else(String::new, |point| {
            let workload = hakaru_report::workload_words(&point.workload);
            let number = point.repeat % 1_000_000 + 1;
            plain(&format!("{}  {workload}  #{number}", point.layer))
        });
        let line = format!("[{done}/{of}] {host}  {name}  {what}");
        if self.mode == ProgressMode::Json {
            ProgressEvent::Note { text: &line }.print();
        }
        self.mode.say(&self.bar, &line);
        self.show();
    }

    fn progress(&mut self, host: &str, progress: &JobProgress) {
        let speed = progress
            .bandwidth
            .map(|rate| format!("  {}", BytesPerSec(rate as f64)));
        let text = plain(&progress.text) + &speed.unwrap_or_default();
        self.hosts.insert(plain(host), (Instant::now(), text));
        self.show();
    }

    fn note(&mut self, text: &str) {
        let text = plain(text);
        if self.mode == ProgressMode::Json {
            ProgressEvent::Note { text: &text }.print();
        }
        self.mode.say(&self.bar, &format!("! {text}"));
    }
}
