//! Progress: a progress line on a terminal, one line per phase elsewhere, nothing with --quiet.

use crate::cmd::json;
use hakaru_campaign::bench::Watcher;
use hakaru_engine::{Flow, LayoutProgress, Observer, PhaseProgress};
use hakaru_model::caveat::Caveat;
use hakaru_model::job::Op;
use hakaru_model::plan::PhasePlan;
use hakaru_model::record::{PhaseRecord, RunRecord};
use hakaru_model::units::{Bytes, BytesPerSec, Iops};
use hakaru_report::{columns_of, padded, text, workload_words};
use hakaru_store::live::{LiveActivity, LivePublisher, LiveState};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::Duration;

/// Amount of progress output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgressMode {
    Live,
    Lines,
    /// One JSON object per line, for programs.
    Json,
    Quiet,
}

/// Requested form of the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProgressFormat {
    /// A progress line on a terminal, plain lines elsewhere
    Auto,
    /// One JSON object per line
    Json,
}

impl ProgressFormat {
    pub(crate) fn mode(self, quiet: bool) -> ProgressMode {
        match self {
            ProgressFormat::Auto => ProgressMode::of(quiet),
            ProgressFormat::Json => ProgressMode::Json,
        }
    }
}

/// A line of progress for programs.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum ProgressEvent<'a> {
    LayingOut {
        done: u64,
        total: u64,
    },
    PhaseStarted {
        round: u32,
        rounds: u32,
        number: u32,
        phases: u32,
        phase: &'a str,
    },
    Progress {
        phase: &'a str,
        measuring: bool,
        permille: Option<u32>,
        remaining_s: Option<f64>,
        rates: BTreeMap<&'static str, OpRate>,
    },
    PhaseEnded {
        phase: &'a str,
        rates: BTreeMap<&'static str, OpRate>,
    },
    RunStored {
        run: &'a str,
        series: &'a str,
    },
    Scan {
        doing: &'a str,
        done: u64,
        total: u64,
    },
    PointStarted {
        card: &'a str,
        layer: &'a str,
        workload: &'a str,
        repeat: u32,
        number: u64,
        of: u64,
        remaining_s: f64,
    },
    Note {
        text: &'a str,
    },
}

/// Current or mean rate of one operation.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct OpRate {
    bytes_per_s: f64,
    iops: f64,
}

impl<'a> ProgressEvent<'a> {
    /// The progress of a phase.
    pub(crate) fn of(phase: &'a PhasePlan, progress: &PhaseProgress) -> ProgressEvent<'a> {
        ProgressEvent::Progress {
            phase: &phase.name,
            measuring: progress.measuring,
            permille: progress.permille,
            remaining_s: progress.remaining.map(|left| left.as_secs_f64()),
            rates: current_rates(progress),
        }
    }

    /// The end of a phase.
    pub(crate) fn ended(record: &'a PhaseRecord) -> ProgressEvent<'a> {
        let rates = mean_rates(record).into_iter();
        ProgressEvent::PhaseEnded {
            phase: &record.name,
            rates: rates.map(|(op, rate)| (op.name(), rate)).collect(),
        }
    }

    /// A stored run.
    pub(crate) fn stored(record: &'a RunRecord) -> ProgressEvent<'a> {
        ProgressEvent::RunStored {
            run: &record.id,
            series: &record.series,
        }
    }

    /// Prints the line on standard error.
    pub(crate) fn print(&self) {
        if let Ok(line) = json::line(json::PROGRESS, self) {
            anstream::eprintln!("{line}");
        }
    }
}

impl ProgressMode {
    /// Returns the mode for the options and the type of standard error.
    pub(crate) fn of(quiet: bool) -> ProgressMode {
        match (quiet, has_room()) {
            (true, _) => ProgressMode::Quiet,
            (false, true) => ProgressMode::Live,
            (false, false) => ProgressMode::Lines,
        }
    }

    /// Prints a line: above the progress line, or alone.
    pub(crate) fn say(self, bar: &ProgressBar, line: &str) {
        match self {
            ProgressMode::Live => bar.println(line),
            ProgressMode::Lines => anstream::eprintln!("{line}"),
            ProgressMode::Json | ProgressMode::Quiet => {}
        }
    }
}

/// Default template of the progress line.
pub(crate) const ONE_LINE: &str = "{prefix} {bar:20} {msg}";

/// Creates a progress line with 1000 steps; it is shown only on a terminal.
pub(crate) fn bar(mode: ProgressMode, template: &str) -> ProgressBar {
    let target = if mode == ProgressMode::Live {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(1000), target);
    let style = ProgressStyle::with_template(template).map(|s| s.progress_chars("━╸─"));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Whether the terminal can show a progress line. Serial lines and detached terminals report no size, and lines printed
/// above the progress line would be lost there.
fn has_room() -> bool {
    let size = rustix::termios::tcgetwinsize(rustix::stdio::stderr());
    std::io::stderr().is_terminal() && size.is_ok_and(|size| size.ws_row > 0 && size.ws_col > 0)
}

/// Prints the progress of a suite on standard error.
pub(crate) struct StatusReporter {
    mode: ProgressMode,
    bar: ProgressBar,
    round: u32,
    rounds: u32,
    /// Whether this round is traced.
    traced: bool,
    phases: u32,
    phase: u32,
    /// Width of the names of phases, in columns.
    name_width: usize,
    /// Last printed tenth of the layout, without a progress line.
    printed: u64,
    live: Option<LivePublisher>,
}

impl StatusReporter {
    /// Reports the progress of phases with these names.
    pub(crate) fn new<'a>(
        mode: ProgressMode,
        phases: impl ExactSizeIterator<Item = &'a str>,
        live: Option<LivePublisher>,
    ) -> StatusReporter {
        let bar = bar(mode, ONE_LINE);
        let count = phases.len() as u32;
        let widths = phases.map(|name| columns_of(&workload_words(name)));
        StatusReporter {
            mode,
            bar,
            round: 0,
            rounds: 1,
            traced: false,
            phases: count,
            phase: 0,
            name_width: widths.max().unwrap_or(0),
            printed: 0,
            live,
        }
    }

    fn publish(&self, change: impl FnOnce(&mut LiveState)) {
        if let Some(live) = &self.live {
            live.update(change);
        }
    }

    /// Removes the progress line from the terminal.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints an event for programs, if they asked for it.
    fn event(&self, event: &ProgressEvent<'_>) {
        if self.mode == ProgressMode::Json {
            event.print();
        }
    }

    fn say(&self, line: &str) {
        self.mode.say(&self.bar, line);
    }

    /// A phase in words, as wide as all others.
    fn name(&self, phase: &str) -> String {
        padded(&workload_words(phase), self.name_width)
    }

    fn place(&self) -> String {
        let phases = self.phases.to_string();
        let phase = format!("{:>width$}/{phases}", self.phase, width = phases.len());
        if self.traced {
            format!("{} {phase}", text::traced_round())
        } else if self.rounds > 1 {
            format!("{} {phase}", text::round_of(self.round, self.rounds))
        } else {
            phase
        }
    }
}

pub(crate) fn seconds(time: Duration) -> String {
    let s = time.as_secs_f64().ceil() as u64;
    if s >= 60 {
        format!("{}m{:02}s", s / 60, s % 60)
    } else {
        format!("{s}s")
    }
}

/// Formats the current speed, one text per operation.
pub(crate) fn speeds(progress: &PhaseProgress) -> Vec<String> {
    let mut words = Vec::new();
    for op in Op::ALL.into_iter().filter(|&op| progress.ios[op] > 0) {
        let speed = BytesPerSec(progress.bytes_per_s[op] as f64);
        words.push(format!(
            "{} {speed:>10} {:>7} IOPS",
            text::operation(op),
            Iops(progress.iops[op] as f64)
        ));
    }
    if !progress.measuring {
        words.push(text::in_ramp().to_owned());
    }
    words
}

/// Returns the mean rates of a phase.
fn mean_rates(record: &PhaseRecord) -> Vec<(Op, OpRate)> {
    let mut rates = Vec::new();
    for op in Op::ALL {
        let longest = record
            .workers
            .iter()
            .map(|w| w.runtime)
            .max()
            .unwrap_or_default();
        let (ios, bytes) = record.workers.iter().fold((0, 0), |sum, w| {
            (sum.0 + w.ops[op].ios, sum.1 + w.ops[op].bytes)
        });
        if let (true, Some(speed)) = (ios > 0, Bytes(bytes).per(longest)) {
            let iops = ios as f64 / longest.as_secs_f64();
            let bytes_per_s = speed.0;
            rates.push((op, OpRate { bytes_per_s, iops }));
        }
    }
    rates
}

/// Formats the mean speed of a phase.
pub(crate) fn rates(record: &PhaseRecord) -> String {
    let words = mean_rates(record).into_iter().map(|(op, rate)| {
        let (speed, iops) = (BytesPerSec(rate.bytes_per_s), Iops(rate.iops));
        let op = padded(text::operation(op), 5);
        format!("{op} {speed:>10} {iops:>8} IOPS")
    });
    words.collect::<Vec<_>>().join("   ")
}

/// Returns the current rates of the operations that were issued.
fn current_rates(progress: &PhaseProgress) -> BTreeMap<&'static str, OpRate> {
    let issued = Op::ALL.into_iter().filter(|&op| progress.ios[op] > 0);
    let rate = |op: Op| OpRate {
        bytes_per_s: progress.bytes_per_s[op] as f64,
        iops: progress.iops[op] as f64,
    };
    issued.map(|op| (op.name(), rate(op))).collect()
}

impl Observer for StatusReporter {
    fn phase_begins(&mut self, index: usize, phase: &PhasePlan) {
        self.phase = index as u32 + 1;
        self.event(&ProgressEvent::PhaseStarted {
            round: self.round.max(1),
            rounds: self.rounds,
            number: self.phase,
            phases: self.phases,
            phase: &phase.name,
        });
        self.bar
            .set_prefix(format!("{} {}", self.place(), self.name(&phase.name)));
        self.bar.set_position(0);
        self.bar.set_message("");
    }

    fn laying_out(&mut self, layout: &LayoutProgress<'_>) -> Flow {
        self.filling(layout.done, layout.file.size.0);
        Flow::Continue
    }

    fn progress(&mut self, phase: &PhasePlan, progress: &PhaseProgress) -> Flow {
        if self.mode == ProgressMode::Json {
            self.event(&ProgressEvent::of(phase, progress));
            return Flow::Continue;
        }
        let mut words = speeds(progress);
        if let Some(left) = progress.remaining {
            words.push(text::time_left(&seconds(left)));
        }
        self.bar.set_position(progress.permille.unwrap_or(0).into());
        self.bar.set_message(words.join("  "));
        Flow::Continue
    }

    fn phase_ends(&mut self, record: &PhaseRecord) -> Flow {
        self.event(&ProgressEvent::ended(record));
        self.say(&format!(
            "{} {} {}",
            self.place(),
            self.name(&record.name),
            rates(record)
        ));
        Flow::Continue
    }
}

impl Watcher for StatusReporter {
    fn filling(&mut self, done: u64, total: u64) {
        let doing = "laying_out".to_owned();
        let activity = LiveActivity { doing, done, total };
        self.publish(|live| live.activity = Some(activity));
        self.bar.set_prefix(padded(text::laying_out(), 18));
        self.bar.set_position(done * 1000 / total.max(1));
        self.bar
            .set_message(text::done_of(Bytes(done), Bytes(total)));
        let tenth = done * 10 / total.max(1);
        if self.mode == ProgressMode::Lines && done > 0 && tenth / 5 > self.printed / 5 {
            let done = text::done_of(Bytes(done), Bytes(total));
            anstream::eprintln!("{}: {done}", text::laying_out());
        }
        if self.mode == ProgressMode::Json && tenth != self.printed {
            self.event(&ProgressEvent::LayingOut { done, total });
        }
        self.printed = tenth;
    }

    fn round(&mut self, number: u32, of: u32) {
        (self.round, self.rounds) = (number + 1, of);
        self.publish(|live| live.round = Some((number + 1, of)));
    }

    fn traced_round(&mut self) {
        self.traced = true;
        self.say(&both!(
            "tracing one more round, whose figures are not pooled with the others",
            "もう1回をトレース中（値は他の回と合算しない）"
        ));
    }

    fn not_traced(&mut self, because: &Caveat) {
        let note = hakaru_report::text::caveat(because);
        self.say(&note);
        self.publish(|live| live.note(&note));
    }

    fn stored(&mut self, record: &RunRecord) {
        self.publish(|live| live.stored = Some(record.series.clone()));
        self.event(&ProgressEvent::stored(record));
    }

    fn live(&self) -> Option<LivePublisher> {
        self.live.clone()
    }
}
