//! A terminal of the test's own, with a program in it and somebody who types.
//!
//! The terminal comes from `script` of util-linux, which every Linux has.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A program that runs in a terminal.
pub(crate) struct Terminal {
    keyboard: ChildStdin,
    shown: Arc<Mutex<Vec<u8>>>,
    child: Child,
    /// Bytes that were looked at already.
    read: usize,
}

impl Terminal {
    /// Starts a program with its arguments, environment and directory in a terminal; `None`, with a word on why, where
    /// there is no `script`.
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

    /// Waits until a text is shown that was not looked at yet; returns all up to its end.
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

    /// Waits for the end.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}
