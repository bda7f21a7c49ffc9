//! The QEMU monitor on a socket, used to remove a card while the machine runs.

use super::error::GuestError;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

const PROMPT: &str = "(qemu) ";

/// Maximum time for QEMU to answer; on a busy host it may be occupied with the guest.
const PATIENCE: Duration = Duration::from_secs(30);

/// The monitor, connected on first use.
#[derive(Debug)]
pub(super) struct Monitor {
    socket: PathBuf,
    stream: Option<UnixStream>,
}

impl Monitor {
    pub(super) fn new(socket: &Path) -> Monitor {
        Monitor {
            socket: socket.to_owned(),
            stream: None,
        }
    }

    /// Sends a command that prints nothing on success.
    pub(super) fn order(&mut self, command: &str) -> Result<(), GuestError> {
        let failed = || GuestError::host(format!("cannot send `{command}` to QEMU"));
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let mut stream = UnixStream::connect(&self.socket).map_err(failed())?;
                stream.set_read_timeout(Some(PATIENCE)).map_err(failed())?;
                read_to_prompt(&mut stream).map_err(failed())?;
                self.stream.insert(stream)
            }
        };
        stream
            .write_all(format!("{command}\n").as_bytes())
            .map_err(failed())?;
        let answer = read_to_prompt(stream).map_err(failed())?;
        // The first line echoes the command with cursor movements.
        let said: Vec<&str> = answer
            .lines()
            .skip(1)
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        if said.is_empty() {
            return Ok(());
        }
        Err(GuestError::Monitor {
            command: command.to_owned(),
            answer: said.join("; "),
        })
    }
}

/// Reads everything up to the next prompt.
fn read_to_prompt(stream: &mut UnixStream) -> std::io::Result<String> {
    let mut text = Vec::new();
    let mut byte = [0];
    while !text.ends_with(PROMPT.as_bytes()) {
        if stream.read(&mut byte)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        text.push(byte[0]);
    }
    text.truncate(text.len() - PROMPT.len());
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// A monitor that sends these answers, each after a command.
    fn qemu(listener: UnixListener, answers: &'static [&str]) -> std::thread::JoinHandle<()> {
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let greeting = b"QEMU 7.2 monitor\r\n(qemu) ";
            stream.write_all(greeting).expect("an open connection");
            for answer in answers {
                let _ = stream.read(&mut [0; 64]).expect("a command");
                stream
                    .write_all(answer.as_bytes())
                    .expect("an open connection");
            }
        })
    }

    #[test]
    fn a_command_with_an_answer_has_failed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("m");
        let answers = &[
            "eject\r\n(qemu) ",
            "eject\r\nError: no such device\r\n(qemu) ",
        ];
        let qemu = qemu(UnixListener::bind(&path).expect("a socket"), answers);
        let mut monitor = Monitor::new(&path);
        monitor.order("eject c0").expect("an empty answer");
        let error = monitor.order("eject c9").expect_err("an answer");
        let text = "QEMU answered `eject c9` with: Error: no such device";
        assert_eq!(error.to_string(), text);
        qemu.join().expect("all answers were sent");
        let closed = monitor.order("eject c0");
        assert!(matches!(closed, Err(GuestError::Host { .. })));
    }
}
