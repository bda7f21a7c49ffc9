//! Publishes the questions of a campaign, which another process can answer.
//!
//! The answers arrive as lines of input, so that they are checked exactly as on a terminal.

use super::operator::default_of;
use hakaru_campaign::campaign::operator::CandidateDisk;
use hakaru_campaign::campaign::spec::Card;
use hakaru_device::guard::{self, Candidate};
use hakaru_report::plain;
use hakaru_store::live::{LiveDisk, LivePromptKind};
use std::path::Path;

/// The question for a card.
pub(super) fn insert(
    wanted: &Card,
    position: (usize, usize),
    why: &str,
    seen: &[CandidateDisk],
) -> LivePromptKind {
    let disks = seen.iter().map(|disk| LiveDisk {
        node: disk.node.display().to_string(),
        name: plain(&disk.name),
        id: disk.ids.first().map(|id| plain(id)),
        label: disk.label.clone(),
    });
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    LivePromptKind::Insert {
        card: wanted.label.clone(),
        position: (number(position.0), number(position.1)),
        why: plain(why),
        disks: disks.collect(),
        default: default_of(wanted, seen).map(|disk| disk.node.display().to_string()),
    }
}

/// The question for permission to erase a device, after an invalid answer if there was one.
pub(super) fn erase(card: &Card, candidate: &Candidate, wrong: Option<&str>) -> LivePromptKind {
    let node = Path::new("/dev").join(candidate.name());
    let losses = guard::what_would_be_lost(&node);
    LivePromptKind::Erase {
        card: card.label.clone(),
        device: crate::cmd::erase::called(candidate),
        name: candidate.name().to_owned(),
        losses: losses.iter().map(|loss| plain(&loss.to_string())).collect(),
        wrong: wrong.map(plain),
    }
}
