//! A generated option set and its command lines.

use super::dimensions::{DIMENSIONS, Dimension};
use super::excluded::excluded;
use hakaru_model::rng::Rng;
use std::fmt;

/// One part of a set. The shrinker removes parts one by one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum OptionPart {
    /// An option of the first job: `--bs=4k`.
    First(String),
    /// An option of the second job.
    Second(String),
    /// A file of this size exists, named like the first file of the first job.
    Exists(u64),
    /// The same program wrote the files in a previous run, with the options that determine their content.
    WrittenBefore,
}

/// Method to observe the accesses of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ObserveBy {
    /// `write_iolog`: each access when issued, with its file, and syncs.
    IoLog,
    /// Latency logs with offsets: each access when completed.
    LatencyLog,
}

/// A generated option set.
#[derive(Clone, Debug)]
pub(super) struct OptionSet {
    pub(super) number: u64,
    pub(super) parts: Vec<OptionPart>,
    pub(super) watch: ObserveBy,
    /// Names of the dimensions in the set.
    pub(super) dimensions: Vec<&'static str>,
}

/// Options that determine the content and location of files; a preceding write run uses them too.
const CONTENT: &[&str] = &[
    "size",
    "filesize",
    "nrfiles",
    "filename",
    "filename_format",
    "bs",
    "bsrange",
    "bssplit",
    "blockalign",
    "bs_unaligned",
    "offset",
    "offset_align",
    "verify",
    "verify_pattern",
    "verify_interval",
    "verify_offset",
    "numjobs",
    "offset_increment",
];

/// Number of dimensions in a set in addition to [`USUAL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::parity) enum Extras {
    /// From 0 to [`MOST_EXTRAS`], uniformly.
    Few,
    /// All drawn dimensions, to search for causes.
    All,
}

/// Dimensions that nearly every published job uses.
const USUAL: [&str; 6] = ["rw", "size", "bs", "ioengine", "iodepth", "direct"];
/// Maximum number of other dimensions with [`Extras::Few`].
const MOST_EXTRAS: u64 = 3;

impl Extras {
    fn limit(self, drawn: &mut Vec<(&Dimension, &str)>, rng: &mut Rng) {
        let is_extra = |(dimension, _): &(&Dimension, &str)| !USUAL.contains(&dimension.name);
        let kept = rng.below(MOST_EXTRAS + 1) as usize;
        while self == Extras::Few && drawn.iter().filter(|one| is_extra(one)).count() > kept {
            let at = rng.below(drawn.len() as u64) as usize;
            if is_extra(&drawn[at]) {
                drawn.remove(at);
            }
        }
    }
}

impl OptionSet {
    /// Set `number` of a seed; always the same.
    ///
    /// A set that triggers a fio bug is drawn again with a separate seed, so that the others do not
    /// change.
    pub(super) fn generate(
        seed: u64,
        number: u64,
        extras: Extras,
        usable: &impl Fn(&str) -> bool,
    ) -> OptionSet {
        let mut again = 0;
        loop {
            let rng = Rng::fork(seed, again << 32 | number);
            let set = OptionSet::draw(rng, number, extras, usable);
            if excluded(&set).is_none() {
                return set;
            }
            again += 1;
        }
    }

    /// `extras` limits the number of rare dimensions, because published jobs never combine more than a few rare
    /// options.
    fn draw(
        mut rng: Rng,
        number: u64,
        extras: Extras,
        usable: &impl Fn(&str) -> bool,
    ) -> OptionSet {
        let watch = if rng.below(100) < 60 {
            ObserveBy::IoLog
        } else {
            ObserveBy::LatencyLog
        };
        let mut set = OptionSet {
            number,
            parts: Vec::new(),
            watch,
            dimensions: Vec::new(),
        };
        // Everything is always drawn, so that a value unusable on this host does not change other draws.
        let mut drawn: Vec<(&Dimension, &str)> = Vec::new();
        for dimension in DIMENSIONS {
            let (has, value) = (
                rng.below(100) < dimension.percent,
                rng.below(dimension.values.len() as u64),
            );
            if has {
                drawn.push((dimension, dimension.values[value as usize]));
            }
        }
        extras.limit(&mut drawn, &mut rng);
        for (dimension, value) in drawn {
            let needs_verify = ["verify options", "verify later"].contains(&dimension.name);
            if usable(value) && (!needs_verify || set.has("verify")) && set.add(value) {
                set.dimensions.push(dimension.name);
            }
        }
        // Its trace repeats I/Os that the engine did not accept at first.
        let again = ["null", "vsync"].contains(&set.value("ioengine"));
        let traced_twice = again || set.value("rw").contains("trim");
        if set.has("numjobs")
            || traced_twice && set.has("iodepth")
            || set
                .parts
                .iter()
                .any(|part| matches!(part, OptionPart::Second(_)))
        {
            set.watch = ObserveBy::LatencyLog;
        }
        set
    }

    /// Adds missing values; returns whether there were any.
    fn add(&mut self, value: &str) -> bool {
        let mut second = false;
        let before = self.parts.len();
        for word in value.split(' ') {
            if word == "then" {
                second = true;
            } else if let Some(bytes) = word.strip_prefix("exists=") {
                self.parts.push(OptionPart::Exists(hakaru_bytes(bytes)));
            } else if word == "before=write" {
                self.parts.push(OptionPart::WrittenBefore);
            } else if second {
                self.parts.push(OptionPart::Second(word.to_owned()));
            } else if !self.excludes(key(word)) {
                self.parts.push(OptionPart::First(word.to_owned()));
            }
        }
        self.parts.len() > before
    }

    fn excludes(&self, name: &str) -> bool {
        let sizes = ["bs", "bsrange", "bssplit"];
        self.has(name) || (sizes.contains(&name) && sizes.iter().any(|size| self.has(size)))
    }

    /// Whether the log has the I/Os of a queue in the order in which they completed.
    pub(super) fn logs_completions(&self) -> bool {
        let queued = ["libaio", "io_uring", "posixaio"].contains(&self.value("ioengine"));
        let deep = self.has("iodepth") && self.value("iodepth") != "1";
        self.watch == ObserveBy::LatencyLog && queued && deep
    }

    /// Whether the first job has this option.
    pub(super) fn has(&self, name: &str) -> bool {
        self.first().any(|word| key(word) == name)
    }

    /// Returns the value of an option of the first job; empty if unset.
    pub(super) fn value(&self, name: &str) -> &str {
        self.first()
            .find(|word| key(word) == name)
            .and_then(|word| word.split_once('='))
            .map_or("", |(_, value)| value)
    }

    fn first(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| {
            if let OptionPart::First(word) = part {
                Some(word.as_str())
            } else {
                None
            }
        })
    }

    fn second(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| {
            if let OptionPart::Second(word) = part {
                Some(word.as_str())
            } else {
                None
            }
        })
    }

    /// Size of the existing file, if any.
    pub(super) fn existing(&self) -> Option<u64> {
        self.parts.iter().find_map(|part| {
            if let OptionPart::Exists(bytes) = part {
                Some(*bytes)
            } else {
                None
            }
        })
    }

    /// Name of the first file of the first job.
    pub(super) fn first_file(&self) -> String {
        match (self.value("filename"), self.value("filename_format")) {
            ("", "") => "g.0.0".to_owned(),
            ("", _) => "f.0.0".to_owned(),
            (name, _) => name.split(':').next().unwrap_or_default().to_owned(),
        }
    }

    /// Parses the set from a command line.
    #[cfg(test)]
    pub(super) fn of_command(command: &str) -> OptionSet {
        let logged = command.contains("--write_lat_log");
        let words = command.split(' ').filter(|word| word.starts_with("--"));
        OptionSet {
            number: 0,
            parts: words
                .map(|word| OptionPart::First(word.to_owned()))
                .collect(),
            watch: if logged {
                ObserveBy::LatencyLog
            } else {
                ObserveBy::IoLog
            },
            dimensions: Vec::new(),
        }
    }

    /// Arguments of the preceding run, if any, with a seed if given: sizes that are drawn depend on it.
    pub(super) fn before(&self, rand_seed: Option<u64>) -> Option<Vec<String>> {
        self.parts.contains(&OptionPart::WrittenBefore).then(|| {
            let kept = self.first().filter(|word| CONTENT.contains(&key(word)));
            let fixed = [
                "--name=g",
                "--rw=write",
                "--do_verify=0",
                "--output-format=json",
            ]
            .map(str::to_owned);
            let seed = rand_seed.into_iter().flat_map(seeded);
            let kept = kept.map(str::to_owned);
            fixed.into_iter().chain(kept).chain(seed).collect()
        })
    }

    /// Arguments of the run, with a seed if given.
    pub(super) fn arguments(&self, rand_seed: Option<u64>) -> Vec<String> {
        let mut words = vec!["--output-format=json".to_owned()];
        let watched: &[&str] = match self.watch {
            ObserveBy::IoLog => &["--write_iolog=io.log"],
            ObserveBy::LatencyLog => &["--write_lat_log=acc", "--log_offset=1"],
        };
        let second: Vec<String> = self.second().map(str::to_owned).collect();
        // Options before the first name apply to both jobs.
        if !second.is_empty() {
            words.extend(watched.iter().map(|word| (*word).to_owned()));
        }
        words.push("--name=g".to_owned());
        if second.is_empty() {
            words.extend(watched.iter().map(|word| (*word).to_owned()));
        }
        words.extend(self.first().map(str::to_owned));
        // A seed alone does not change the offsets, because randrepeat overrides it.
        let seed = rand_seed.map(seeded);
        let own = seed.clone().filter(|_| !self.has("randrepeat"));
        words.extend(own.into_iter().flatten());
        if !second.is_empty() {
            words.push("--name=h".to_owned());
            words.extend(second);
            words.extend(seed.into_iter().flatten());
        }
        words
    }
}

impl fmt::Display for OptionSet {
    /// Formats a command line that reproduces the set in an empty directory.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |words: Vec<String>| {
            words
                .iter()
                .map(|word| quote(word))
                .collect::<Vec<_>>()
                .join(" ")
        };
        if let Some(bytes) = self.existing() {
            write!(f, "head -c {bytes} /dev/urandom > {}; ", self.first_file())?;
        }
        if let Some(before) = self.before(None) {
            write!(f, "fio {}; ", quoted(before))?;
        }
        write!(f, "fio {}", quoted(self.arguments(None)))
    }
}

/// The options of a seed.
fn seeded(seed: u64) -> [String; 2] {
    ["--randrepeat=0".to_owned(), format!("--randseed={seed}")]
}

fn quote(word: &str) -> String {
    let plain = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "-_=.,:/%@+".contains(c));
    if plain {
        word.to_owned()
    } else {
        format!("'{word}'")
    }
}

/// The option name: `bs` of `--bs=4k`.
pub(super) fn key(word: &str) -> &str {
    let bare = word.trim_start_matches("--");
    bare.split_once('=').map_or(bare, |(name, _)| name)
}

/// Parses a size such as `32k` or `1m` to bytes.
fn hakaru_bytes(text: &str) -> u64 {
    let (digits, unit) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1 << 10),
        None => text
            .strip_suffix('m')
            .map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<u64>().unwrap_or(0) * unit
}
