//! Messages of errors in the language of the thread.
//!
//! An error's `Display` is its English text. This module has the texts of the errors that users meet in other
//! languages, with an exhaustive `match` for each type. Errors of other types keep their English text.

mod ja;

use hakaru_device::guard::Refusal;
use hakaru_report::Language;
use hakaru_report::text::language;
use std::error::Error;

/// The messages of an error and of its causes, outermost first; messages with advice end in `; help: …`.
pub fn messages<'a>(chain: impl Iterator<Item = &'a (dyn Error + 'static)>) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for cause in chain {
        let message = message(cause);
        // Many errors end with their cause: skip a cause that the previous message contains.
        if said.last().is_none_or(|last| !last.contains(&message)) {
            said.push(message);
        }
    }
    said
}

/// Advice on a refusal of the guard.
pub fn cure(refusal: &Refusal) -> String {
    match language() {
        Language::English => refusal.cure(),
        Language::Japanese => ja::cure(refusal),
    }
}

/// The message of one error, without its causes.
pub fn message(error: &(dyn Error + 'static)) -> String {
    let translated = match language() {
        Language::English => None,
        Language::Japanese => ja::message(error),
    };
    translated.unwrap_or_else(|| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_device::prepare::{
        DiscardError, FillError, JournalError, LevelError, MountError, PrepareError, ToolError,
    };
    use hakaru_engine::RunError;
    use hakaru_model::obstacle::{EngineObstacle, ValueRule, VerifyStateObstacle, ZoneObstacle};
    use hakaru_model::plan::PlanError;
    use hakaru_model::units::Bytes;
    use hakaru_report::with_language;
    use rustix::io::Errno;

    /// Checks that an error has a Japanese text without English sentences.
    fn check(error: &(dyn Error + 'static)) {
        let english = message(error);
        let japanese = with_language(Language::Japanese, || message(error));
        let has_japanese = japanese
            .chars()
            .any(|c| ('\u{3040}'..'\u{a000}').contains(&c));
        assert!(has_japanese && english == error.to_string(), "{japanese}");
        let word = |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase());
        let plain = ["; help", "apt install mtools", "modprobe xfs"]
            .into_iter()
            .fold(japanese.clone(), |text, known| text.replace(known, ""));
        let words: Vec<&str> = plain.split(' ').collect();
        let pair = words.windows(2).find(|pair| pair.iter().all(word));
        assert_eq!(pair, None, "{japanese}");
        for wrong in ["読み取り", "計測", "：", "％", "  ", "全て", "下さい"] {
            assert!(!japanese.contains(wrong), "{wrong} in {japanese}");
        }
    }

    fn job() -> String {
        "a".to_owned()
    }

    fn path() -> std::path::PathBuf {
        std::path::PathBuf::from("/x")
    }

    #[test]
    #[rustfmt::skip]
    fn errors_of_plans_are_japanese() {
        let size = Bytes(4096);
        let plans = [
            PlanError::NoJobs { scenario: job() },
            PlanError::NoFacts { job: job(), path: path() },
            PlanError::NotMeasurable { job: job(), path: path(), what: "socket" },
            PlanError::Missing { job: job(), path: path() },
            PlanError::MayNotCreate { job: job(), path: path() },
            PlanError::NoFiles { job: job() },
            PlanError::OddBlock { job: job(), block: 512, unit: 4096 },
            PlanError::ReadOnly { job: job(), path: path() },
            PlanError::NoSize { job: job(), path: path() },
            PlanError::TooSmall { job: job(), path: path(), room: size, offset: size, block: size },
            PlanError::BlockTooLarge { job: job(), path: path(), room: size, block: size },
            PlanError::ZonesTooLarge { job: job(), path: path(), zones: size, room: size },
            PlanError::OffsetPastEnd { job: job(), path: path(), offset: size, size },
            PlanError::PastEnd { job: job(), path: path(), size, offset: size, wanted: size },
            PlanError::NoSpace { job: job(), path: path(), needed: size, free: size },
            PlanError::Misaligned { job: job(), path: path(), block: 1000, offset: 0, logical: 512, better: 1024 },
            PlanError::BadBlock { job: job(), block: size },
            PlanError::TrimOnFile { job: job(), path: path() },
            PlanError::Endless { job: job() },
        ];
        plans.iter().for_each(|error| check(error));
    }

    #[test]
    fn errors_of_runs_are_japanese() {
        let errno = Errno::NOSPC;
        let runs = [
            RunError::Open {
                path: path(),
                purpose: "reading",
                errno,
            },
            RunError::NoDirect { path: path() },
            RunError::LayOut {
                path: path(),
                at: 1,
                size: 2,
                errno,
            },
            RunError::Memory {
                job: job(),
                bytes: 1,
                errno,
            },
            RunError::Pin {
                job: job(),
                cpus: vec![9],
                errno,
                online: 4,
            },
            RunError::Node {
                job: job(),
                node: 3,
            },
            RunError::Panicked { job: job() },
            RunError::Thread { job: job(), errno },
            RunError::StoppedEarly,
        ];
        runs.iter().for_each(|error| check(error));
    }

    #[test]
    #[rustfmt::skip]
    fn obstacles_of_runs_are_japanese() {
        use EngineObstacle::Failed;
        let engines = EngineObstacle::PLAIN.into_iter().chain([Failed { errno: 12 }]);
        let engines = engines.map(|because| RunError::NoEngine { ioengine: "libaio", because });
        let zones = [
            ZoneObstacle::NoZoneSize,
            ZoneObstacle::Capacity { capacity: 2, zone: 1 },
            ZoneObstacle::ZoneSize { device: "/x".to_owned(), size: 1, zone: 2 },
            ZoneObstacle::Buffered,
            ZoneObstacle::OpenLimit { wanted: 2, limit: 1 },
            ZoneObstacle::AlreadyOpen { open: 2, limit: 1 },
            ZoneObstacle::NotRequested,
            ZoneObstacle::NoWholeZone,
        ];
        let zones = zones.map(|because| RunError::Zones { path: path(), because });
        let states = [
            VerifyStateObstacle::Unreadable { errno: 2 },
            VerifyStateObstacle::Damaged,
            VerifyStateObstacle::RandomOfFio,
        ];
        let states = states.map(|reason| RunError::State { path: path(), reason });
        engines.chain(zones).chain(states).for_each(|error| check(&error));
    }

    #[test]
    fn rules_of_values_are_japanese() {
        use ValueRule::*;
        let rules = [
            Clones,
            Depth,
            Shares,
            OffloadEngine,
            OffloadDepth,
            LockedFiles,
            MappedFile,
            RenewedFiles,
            RunLength,
            Loops,
            DeviceZones,
            Tick,
            FileEnd,
            LastBlock,
            HeaderInBlock,
            HeaderInInterval,
            HeaderOffset,
            NoDataToVerify,
        ];
        for why in rules {
            check(&PlanError::BadValue {
                job: job(),
                option: "bs",
                value: "1".to_owned(),
                why,
            });
        }
    }

    #[test]
    #[rustfmt::skip]
    fn errors_of_preparation_are_japanese() {
        let source = || std::io::Error::from_raw_os_error(5);
        let (offset, done) = (Bytes(4096), Bytes(4096));
        let all: Vec<PrepareError> = vec![
            JournalError::Io { path: path(), doing: "read", source: source() }.into(),
            JournalError::Locked { path: path() }.into(),
            JournalError::Foreign { path: path() }.into(),
            FillError::Write { offset, source: source() }.into(),
            FillError::Pulled { offset }.into(),
            FillError::Interrupted { done }.into(),
            DiscardError::NotOffered { node: "sdX".to_owned(), kind: "secure" }.into(),
            DiscardError::Refused { offset, source: source() }.into(),
            DiscardError::Pulled { offset }.into(),
            DiscardError::Interrupted { done }.into(),
            ToolError::Missing { tool: "mkfs.vfat".to_owned(), package: "mtools" }.into(),
            ToolError::Start { tool: "mkfs.vfat".to_owned(), source: source() }.into(),
            MountError::NoSuchType { fs_type: "xfs".to_owned() }.into(),
            MountError::Unmount { at: path(), source: source() }.into(),
            MountError::Caches { path: path(), source: source() }.into(),
            LevelError::TooHigh { percent: 100 }.into(),
            LevelError::Pulled { path: path() }.into(),
            LevelError::Interrupted { done }.into(),
            PrepareError::Io { path: path(), doing: "opened", source: source() },
        ];
        all.iter().for_each(|error| check(error));
    }
}
