//! Progress of passes over a device: a progress line on a terminal, plain lines elsewhere, nothing with --quiet. Also
//! forwards stop requests.

use crate::live::ScanPublisher;
use crate::status_reporter::{ONE_LINE, ProgressEvent, ProgressMode, bar, seconds};
use crate::stop;
use hakaru_device::ScanProgress;
use hakaru_report::text;
use hakaru_store::live::LivePublisher;
use indicatif::ProgressBar;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Prints the progress of a pass over a device on standard error.
pub(crate) struct ScanReporter {
    mode: ProgressMode,
    bar: ProgressBar,
    /// Last printed activity and its progress in tenths, without a progress line; in percent for programs.
    printed: (&'static str, u64),
    live: Option<ScanPublisher>,
}

impl ScanReporter {
    /// Creates a reporter. From here on, Ctrl-C ends the pass instead of the program.
    pub(crate) fn new(mode: ProgressMode, live: Option<LivePublisher>) -> ScanReporter {
        stop::flag();
        ScanReporter {
            mode,
            bar: bar(mode, ONE_LINE),
            printed: ("", 0),
            live: live.map(ScanPublisher::new),
        }
    }

    /// Called after every chunk.
    pub(crate) fn report(&mut self, progress: ScanProgress) -> ControlFlow<()> {
        if let Some(live) = &mut self.live {
            live.report(&progress);
        }
        let permille = progress.done.0.saturating_mul(1000) / progress.total.0.max(1);
        match self.mode {
            ProgressMode::Live => {
                self.bar
                    .set_prefix(hakaru_report::padded(&activity(progress.doing), 10));
                self.bar.set_position(permille);
                self.bar.set_message(words(&progress));
            }
            ProgressMode::Lines
                if self.printed != (progress.doing, permille / 100) && permille >= 100 =>
            {
                self.printed = (progress.doing, permille / 100);
                anstream::eprintln!("{} {}", activity(progress.doing), words(&progress));
            }
            ProgressMode::Json if self.printed != (progress.doing, permille / 10) => {
                self.printed = (progress.doing, permille / 10);
                let (done, total) = (progress.done.0, progress.total.0);
                let doing = progress.doing;
                ProgressEvent::Scan { doing, done, total }.print();
            }
            ProgressMode::Lines | ProgressMode::Json | ProgressMode::Quiet => {}
        }
        if ScanReporter::stopped() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Prints an activity of unknown duration.
    pub(crate) fn doing(&self, what: &str) {
        self.live.iter().for_each(|live| live.doing(what));
        match self.mode {
            ProgressMode::Live => {
                self.bar.set_prefix(what.to_owned());
                self.bar.set_position(0);
                self.bar.set_message("");
            }
            ProgressMode::Lines => anstream::eprintln!("{what}"),
            ProgressMode::Json | ProgressMode::Quiet => {}
        }
    }

    /// Removes the progress line from the terminal.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Whether a stop was requested.
    pub(crate) fn stopped() -> bool {
        stop::flag().load(Relaxed)
    }
}

/// An activity of [`ScanProgress::doing`], whose names in JSON are English.
fn activity(doing: &str) -> String {
    match doing {
        "writing" => both!("writing", "書き込み"),
        "reading" => both!("reading", "読み込み"),
        "writing again" => both!("writing again", "再書き込み"),
        "reading again" => both!("reading again", "再読み込み"),
        "emptying caches" => both!("emptying caches", "キャッシュの追い出し"),
        "discarding" => both!("discarding", "discard"),
        other => other.to_owned(),
    }
}

/// Formats the progress, such as `1.20 GiB of 29.7 GiB, 21.3 MB/s, 22m50s left`.
fn words(progress: &ScanProgress) -> String {
    let mut said = text::done_of(progress.done, progress.total);
    if let Some(rate) = progress.rate() {
        said += &format!(", {rate}");
    }
    match progress.left() {
        Some(left) if left.0 > 0 => {
            let left = seconds(Duration::from_nanos(left.0));
            format!("{said}, {}", text::time_left(&left))
        }
        _ => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::{Bytes, Nanos};

    #[test]
    fn progress_has_rate_and_estimate() {
        let progress = ScanProgress {
            doing: "writing",
            done: Bytes(3 << 30),
            total: Bytes(12 << 30),
            elapsed: Nanos::from_secs(100),
        };
        assert_eq!(words(&progress), "3 GiB of 12 GiB, 32.2 MB/s, 5m00s left");
        assert_eq!(
            words(&ScanProgress {
                elapsed: Nanos(0),
                ..progress
            }),
            "3 GiB of 12 GiB"
        );
    }
}
