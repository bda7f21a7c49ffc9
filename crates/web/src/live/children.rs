//! Processes that the server starts: measurements, which go on when the server ends.

use crate::context::ServeOptions;
use hakaru_report::Language;
use rustix::fs::MemfdFlags;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of processes that were started and have not ended.
const MOST: usize = 8;

/// How long the output of a process that has ended is kept.
const KEPT: Duration = Duration::from_secs(60);

/// Maximum length of the kept output, in bytes.
const LONGEST_OUTPUT: usize = 16 << 10;

/// Processes that were started.
#[derive(Debug, Default)]
pub(crate) struct Children(Mutex<Vec<StartedChild>>);

#[derive(Debug)]
struct StartedChild {
    child: Child,
    /// Standard output and standard error, in memory: a pipe would break when the server ends.
    output: File,
    ended: Option<(ChildEnd, Instant)>,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChildEnd {
    /// Exit code; `None` after a signal.
    pub(super) code: Option<i32>,
    /// What it printed.
    pub(super) output: String,
}

/// Errors of starting a process.
#[derive(Debug, thiserror::Error)]
pub(super) enum ChildError {
    /// Too many run.
    #[error(
        "{MOST} measurements that were started here are still running; help: stop one, or wait"
    )]
    TooMany,
    /// The system refuses.
    #[error("failed to start the measurement: {0}")]
    Io(#[from] io::Error),
}

impl Children {
    fn all(&self) -> MutexGuard<'_, Vec<StartedChild>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the program with these arguments and this standard input, in a process group of its own, and returns its
    /// process ID.
    pub(super) fn start(
        &self,
        options: &ServeOptions,
        language: Language,
        args: &[OsString],
        input: &str,
    ) -> Result<u32, ChildError> {
        let mut all = self.all();
        if all.iter().filter(|child| child.ended.is_none()).count() >= MOST {
            return Err(ChildError::TooMany);
        }
        let output = memory("hakaru-output")?;
        let stdin = match input {
            "" => Stdio::null(),
            text => {
                let file = memory("hakaru-input")?;
                file.write_all_at(text.as_bytes(), 0)?;
                file.into()
            }
        };
        let child = Command::new(&options.program)
            .args(args)
            .env("HAKARU_DB", std::path::absolute(&options.database)?)
            .env("HAKARU_LANG", language.tag())
            .env("HAKARU_DETACHED", "1")
            .env_remove("HAKARU_LIVE")
            .env("NO_COLOR", "1")
            // Ctrl-C in the terminal of the server is not meant for them.
            .process_group(0)
            .stdin(stdin)
            .stdout(output.try_clone()?)
            .stderr(output.try_clone()?)
            .spawn()?;
        let id = child.id();
        all.push(StartedChild {
            child,
            output,
            ended: None,
        });
        Ok(id)
    }

    /// Collects the exit codes of processes that have ended.
    pub(super) fn reap(&self) {
        let mut all = self.all();
        all.iter_mut().for_each(StartedChild::look);
        all.retain(|child| {
            child
                .ended
                .as_ref()
                .is_none_or(|(_, at)| at.elapsed() < KEPT)
        });
    }

    /// Returns how a process ended; `None` while it runs.
    pub(super) fn end_of(&self, id: u32) -> Option<ChildEnd> {
        let mut all = self.all();
        let child = all.iter_mut().find(|child| child.child.id() == id)?;
        child.look();
        child.ended.as_ref().map(|(end, _)| end.clone())
    }
}

impl StartedChild {
    fn look(&mut self) {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            let code = status.code();
            let output = text_of(&self.output);
            self.ended = Some((ChildEnd { code, output }, Instant::now()));
        }
    }
}

/// Creates a file in memory.
fn memory(name: &str) -> io::Result<File> {
    Ok(rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

fn text_of(output: &File) -> String {
    let length = output.metadata().map_or(0, |file| file.len());
    let from = length.saturating_sub(LONGEST_OUTPUT as u64);
    let mut bytes = vec![0; (length - from) as usize];
    let read = output.read_at(&mut bytes, from).unwrap_or(0);
    bytes.truncate(read);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell() -> ServeOptions {
        ServeOptions {
            listen: ([127, 0, 0, 1], 0).into(),
            hosts: Vec::new(),
            read_only: false,
            database: "x.db".into(),
            program: "/bin/sh".into(),
        }
    }

    fn run(children: &Children, script: &str) -> u32 {
        let args = ["-c", script].map(OsString::from);
        children
            .start(&shell(), Language::English, &args, "given")
            .unwrap()
    }

    fn wait(children: &Children, id: u32) -> ChildEnd {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            if let Some(end) = children.end_of(id) {
                return end;
            }
            assert!(Instant::now() < until);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn what_a_process_printed_is_known_when_it_has_ended() {
        let children = Children::default();
        let id = run(
            &children,
            "echo refused >&2; echo $HAKARU_DETACHED; cat /dev/stdin; exit 3",
        );
        let end = wait(&children, id);
        assert_eq!((end.code, &end.output[..]), (Some(3), "refused\n1\ngiven"));
    }

    #[test]
    fn the_number_of_processes_is_bounded() {
        let children = Children::default();
        let ids: Vec<u32> = (0..MOST).map(|_| run(&children, "exec sleep 30")).collect();
        let args = ["-c", "true"].map(OsString::from);
        let refused = children.start(&shell(), Language::English, &args, "");
        assert!(matches!(refused, Err(ChildError::TooMany)));
        for child in children.all().iter_mut() {
            child.child.kill().unwrap();
        }
        ids.into_iter()
            .for_each(|id| assert_eq!(wait(&children, id).code, None));
        run(&children, "true");
    }
}
