//! Reads input line by line with a timeout, so that the caller notices an inserted card or Ctrl-C meanwhile.

use crate::live;
use hakaru_report::plain;
use hakaru_store::live::LivePublisher;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Result of waiting for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InputLine {
    /// A line without its newline.
    Line(String),
    /// Timeout without a complete line.
    Nothing,
    /// End of input.
    End,
}

/// Interval of looks for an answer from another process.
const LOOK: Duration = Duration::from_millis(100);

/// Reads answers from a terminal, and from another process.
#[derive(Debug)]
pub(super) struct LineReader {
    buffer: Vec<u8>,
    has_terminal: bool,
    live: Option<LivePublisher>,
}

impl LineReader {
    /// Returns a reader if a user can answer questions: on a terminal, or of a process that was started without one.
    pub(super) fn new(live: Option<LivePublisher>) -> Option<LineReader> {
        let has_terminal = std::io::stdin().is_terminal();
        let can_answer = has_terminal || (live.is_some() && live::is_detached());
        can_answer.then(|| LineReader {
            buffer: Vec::new(),
            has_terminal,
            live,
        })
    }

    /// Waits for a line.
    pub(super) fn wait(&mut self, time: Duration) -> InputLine {
        let until = Instant::now() + time;
        loop {
            if let Some(line) = self.line() {
                return InputLine::Line(line);
            }
            if let Some(answer) = self.live.as_ref().and_then(LivePublisher::take_answer) {
                let answer = answer.trim().to_owned();
                // The terminal shows what was answered elsewhere.
                anstream::eprintln!("{}", plain(&answer));
                return InputLine::Line(answer);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return InputLine::Nothing;
            }
            if !self.has_terminal {
                std::thread::sleep(left.min(LOOK));
            } else if let Some(end) = self.read(left.min(LOOK)) {
                return end;
            }
        }
    }

    /// Reads from the terminal what arrives in this time. Returns what ends the wait.
    fn read(&mut self, time: Duration) -> Option<InputLine> {
        let stdin = rustix::stdio::stdin();
        let timeout = Timespec {
            tv_sec: time.as_secs() as i64,
            tv_nsec: time.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return None,
            Ok(_) => {}
            // A signal interrupted the wait.
            Err(_) => return Some(InputLine::Nothing),
        }
        let mut bytes = [0; 256];
        match rustix::io::read(stdin, &mut bytes) {
            Ok(0) => Some(InputLine::End),
            Ok(count) => {
                self.buffer.extend(&bytes[..count]);
                None
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Some(InputLine::Nothing),
            Err(_) => Some(InputLine::End),
        }
    }

    fn line(&mut self) -> Option<String> {
        let end = self.buffer.iter().position(|&byte| byte == b'\n')?;
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line).trim().to_owned())
    }

    /// Asks a question; `None` at end of input or if stopped.
    pub(super) fn ask(&mut self, question: &str, stop: &AtomicBool) -> Option<String> {
        anstream::eprint!("{question}");
        // Errors of the prompt are ignored; reading the answer reports them.
        let _ = std::io::stderr().flush();
        while !stop.load(Relaxed) {
            match self.wait(Duration::from_millis(200)) {
                InputLine::Line(line) => return Some(line),
                InputLine::Nothing => {}
                InputLine::End => break,
            }
        }
        anstream::eprintln!();
        None
    }
}
