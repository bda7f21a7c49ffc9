//! Reads input line by line with a timeout, so that the caller notices an inserted card or Ctrl-C meanwhile.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

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

/// Reads answers from a terminal or a script.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    buffer: Vec<u8>,
}

impl LineReader {
    /// Whether a user can answer questions.
    pub(super) fn is_there() -> bool {
        std::io::stdin().is_terminal()
    }

    /// Waits for a line.
    pub(super) fn wait(&mut self, time: Duration) -> InputLine {
        if let Some(line) = self.line() {
            return InputLine::Line(line);
        }
        let stdin = rustix::stdio::stdin();
        let timeout = Timespec {
            tv_sec: time.as_secs() as i64,
            tv_nsec: time.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return InputLine::Nothing,
            Ok(_) => {}
            // A signal interrupted the wait.
            Err(_) => return InputLine::Nothing,
        }
        let mut bytes = [0; 256];
        match rustix::io::read(stdin, &mut bytes) {
            Ok(0) => InputLine::End,
            Ok(count) => {
                self.buffer.extend(&bytes[..count]);
                self.line().map_or(InputLine::Nothing, InputLine::Line)
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => InputLine::Nothing,
            Err(_) => InputLine::End,
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
