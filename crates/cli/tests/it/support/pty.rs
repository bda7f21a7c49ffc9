//! A pseudoterminal that runs a program and types input.
//!
//! The terminal is provided by `script` from util-linux, which most Linux systems have.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A program running in a terminal.
pub(crate) struct Terminal {
    keyboard: ChildStdin,
    shown: Arc<Mutex<Vec<u8>>>,
    child: Child,
    /// Number of output bytes that were already searched.
    read: usize,
}

impl Terminal {
    /// Starts a program with its arguments, environment and directory in a terminal. Prints a note and returns `None`
    /// if `script` is not installed.
    pub(crate) fn run(program: &Command) -> Option<Terminal> {
        let quoted =
            |word: &std::ffi::OsStr| format!("'{}'", word.to_str().unwrap().replace('\'', r"'\''"));
        let words: Vec<String> = std::iter::once(program.get_program())
            .chain(program.get_args())
            .map(quoted)
            .collect();
        let mut script = Command::new("script");
        script.args([
            "--quiet",
            "--flush",
            "--return",
            "--command",
            &words.join(" "),
            "/dev/null",
        ]);
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => script.env(name, value),
                None => script.env_remove(name),
            };
        }
        script.current_dir(program.get_current_dir().unwrap());
        let child = script
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            eprintln!("SKIPPED: `script` of util-linux is not installed");
            return None;
        };
        let (keyboard, mut source) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let shown = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&shown);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = source.read(&mut bytes) {
                sink.lock().unwrap().extend(&bytes[..count]);
            }
        });
        Some(Terminal {
            keyboard,
            shown,
            child,
            read: 0,
        })
    }

    /// Waits until new output contains a text; returns the output up to its end.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) -> String {
        let begun = Instant::now();
        loop {
            let shown = self.shown.lock().unwrap().clone();
            let new = &shown[self.read..];
            if let Some(at) = new
                .windows(text.len())
                .position(|window| window == text.as_bytes())
            {
                let end = at + text.len();
                self.read += end;
                return String::from_utf8_lossy(&new[..end]).into_owned();
            }
            let all = String::from_utf8_lossy(new);
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "`{text}` did not come, but:\n{all}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn type_line(&mut self, line: &str) {
        self.keyboard
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Waits until the program ends.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}
