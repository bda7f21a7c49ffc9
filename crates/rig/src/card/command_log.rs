//! QEMU's trace of the commands of a card: it tells a command that continues the last one from the rest of that.

use std::fs::File;
use std::io::{ErrorKind, Read};

/// Names of the commands that transfer data, as in the trace.
const DATA: [&[u8]; 4] = [b"CMD17 ", b"CMD18 ", b"CMD24 ", b"CMD25 "];

/// The reading end of the pipe that QEMU writes its trace to. It must not block.
#[derive(Debug)]
pub(super) struct CommandLog {
    pipe: File,
    /// The last line, while it is incomplete.
    rest: Vec<u8>,
}

impl CommandLog {
    pub(super) fn new(pipe: File) -> CommandLog {
        CommandLog {
            pipe,
            rest: Vec::new(),
        }
    }

    /// Returns whether a command that transfers data has begun since the last call. QEMU writes it before the first request
    /// of the command.
    pub(super) fn has_begun(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let mut begun = false;
        loop {
            match self.pipe.read(&mut buffer) {
                Ok(count) if count > 0 => self.rest.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                // Nothing more for now, or QEMU has ended.
                _ => return begun,
            }
            let complete = self.rest.iter().rposition(|byte| *byte == b'\n');
            let lines = self.rest.drain(..complete.map_or(0, |end| end + 1));
            let lines: Vec<u8> = lines.collect();
            begun |= DATA
                .iter()
                .any(|name| lines.windows(name.len()).any(|part| part == *name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_command_begins_once_and_only_with_its_whole_line() {
        let (mut qemu, ours) = UnixStream::pair().expect("a pair of sockets");
        ours.set_nonblocking(true).expect("a socket");
        let mut log = CommandLog::new(File::from(OwnedFd::from(ours)));
        assert!(!log.has_begun());
        for (line, begins) in [
            (
                "sdcard_normal_command SD SEND_STATUS/ CMD13 arg 0x45670000 (state transfer)\n",
                false,
            ),
            (
                "sdcard_normal_command SD READ_MULTIPLE_BLOCK/ CMD18 arg 0x00 ",
                false,
            ),
            ("(state transfer)\n", true),
            ("", false),
        ] {
            qemu.write_all(line.as_bytes()).expect("it is read");
            assert_eq!(log.has_begun(), begins, "{line}");
        }
        drop(qemu);
        assert!(!log.has_begun());
    }
}
