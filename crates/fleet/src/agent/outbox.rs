//! The runs that the operator has not acknowledged, which are sent again after a lost connection or a restart.

use crate::directory::read;
use anyhow::{Context as _, Result};
use hakaru_store::Store;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Number of runs read at a time.
const PAGE: u32 = 1000;

/// The runs of this host, by what is known of their journey.
pub(super) struct Outbox {
    /// IDs that the operator has acknowledged, one a line.
    file: PathBuf,
    acknowledged: BTreeSet<String>,
    waiting: VecDeque<String>,
    /// Stored by the server, not yet by the operator.
    sent: BTreeSet<String>,
    /// Runs that are sent once more, with the job that asks for them.
    again: BTreeMap<String, String>,
}

impl Outbox {
    /// Returns all stored runs that are not acknowledged.
    pub(super) fn open(directory: &Path, store: &Store) -> Result<Outbox> {
        let file = directory.join("acknowledged");
        let text = match file.exists() {
            true => read(&file)?,
            false => String::new(),
        };
        // A line without an end was cut short by a power loss; its run is sent again.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let acknowledged = whole.lines().map(str::to_owned).collect();
        let mut outbox = Outbox {
            file,
            acknowledged,
            waiting: VecDeque::new(),
            sent: BTreeSet::new(),
            again: BTreeMap::new(),
        };
        let mut last = None;
        loop {
            let page = store.runs_after(last.as_ref(), PAGE)?;
            for (_, run) in &page {
                outbox.add(run.clone());
            }
            match page.into_iter().last() {
                Some(end) => last = Some(end),
                None => return Ok(outbox),
            }
        }
    }

    /// Adds a run, unless it is known.
    pub(super) fn add(&mut self, run: String) {
        if !self.acknowledged.contains(&run)
            && !self.sent.contains(&run)
            && !self.waiting.contains(&run)
        {
            self.waiting.push_back(run);
        }
    }

    /// Returns the next run to send.
    pub(super) fn next(&self) -> Option<String> {
        self.waiting.front().cloned()
    }

    /// Records that the server has a run; it is sent again after a lost connection until the operator has it.
    pub(super) fn sent(&mut self, run: &str) {
        self.waiting.retain(|waiting| waiting != run);
        if !self.acknowledged.contains(run) {
            self.sent.insert(run.to_owned());
        }
    }

    /// Leaves a run out that cannot be sent; it stays in the database.
    pub(super) fn leave(&mut self, run: &str) {
        self.waiting.retain(|waiting| waiting != run);
    }

    /// Records that the operator has stored runs.
    pub(super) fn acknowledge(&mut self, runs: &[String]) -> Result<()> {
        let mut lines = String::new();
        for run in runs {
            self.sent.remove(run);
            self.waiting.retain(|waiting| waiting != run);
            if self.acknowledged.insert(run.clone()) {
                lines += &format!("{run}\n");
            }
        }
        let written = || -> std::io::Result<()> {
            let mut file = File::options().create(true).append(true).open(&self.file)?;
            file.write_all(lines.as_bytes())
        };
        written()
            .with_context(|| both!("cannot write {}", "{}に書き込めません"; self.file.display()))
    }

    /// Sends all again that the operator has not acknowledged: a server that lost its disk has lost them.
    pub(super) fn send_again(&mut self) {
        self.waiting.extend(std::mem::take(&mut self.sent));
    }

    /// Sends these runs again although they were acknowledged: the operator that sent this job lacks them.
    pub(super) fn send_lost(&mut self, runs: impl Iterator<Item = String>, job: &str) {
        for run in runs {
            self.acknowledged.remove(&run);
            self.sent.remove(&run);
            self.again.insert(run.clone(), job.to_owned());
            self.add(run);
        }
    }

    /// Returns the ID of the message with a run. The server drops a message whose ID it has seen within the hour, so a
    /// run that is wanted again has another one.
    pub(super) fn message_id(&self, run: &str) -> String {
        match self.again.get(run) {
            Some(job) => format!("{run} {job}"),
            None => run.to_owned(),
        }
    }

    /// Returns the number of runs that the server does not have.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of runs that the operator has not acknowledged.
    pub(super) fn unacknowledged(&self) -> usize {
        self.waiting.len() + self.sent.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outbox(directory: &Path) -> Outbox {
        let store = Store::open(directory.join("agent.db")).unwrap();
        Outbox::open(directory, &store).unwrap()
    }

    #[test]
    fn runs_are_sent_until_they_are_acknowledged() {
        let folder = tempfile::tempdir().unwrap();
        let mut outbox = outbox(folder.path());
        for run in ["a", "b", "a"] {
            outbox.add(run.into());
        }
        outbox.sent("a");
        assert_eq!(
            (outbox.next().as_deref(), outbox.unacknowledged()),
            (Some("b"), 2)
        );
        outbox.send_again();
        assert_eq!(outbox.waiting(), 2);
        outbox.acknowledge(&["a".into()]).unwrap();
        outbox.add("a".into());
        assert_eq!((outbox.waiting(), outbox.unacknowledged()), (1, 1));
        outbox.send_lost(["a".to_owned()].into_iter(), "job");
        assert_ne!(outbox.message_id("a"), "a");
        assert_eq!(outbox.waiting(), 2);
    }

    #[test]
    fn acknowledgments_survive_a_restart_and_a_power_loss() {
        let folder = tempfile::tempdir().unwrap();
        outbox(folder.path())
            .acknowledge(&["a".into(), "b".into()])
            .unwrap();
        let file = folder.path().join("acknowledged");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, &text[..text.len() - 1]).unwrap();
        let mut outbox = outbox(folder.path());
        outbox.add("a".into());
        outbox.add("b".into());
        assert_eq!(outbox.next().as_deref(), Some("b"));
    }
}
