//! The option table of the fio dialect: one row per option, with everything about it in one place.
//!
//! Parsing, `--cmdhelp`, the man page and the compatibility page are all generated from these rows. The [`OptionState`]
//! of a row says whether the option works; a known option is never ignored silently. `lower` handles combinations of
//! options.

mod block;
mod depth;
mod engine;
mod files;
mod foreign;
mod jobs;
mod kind;
mod measure;
mod verify;
mod workload;

pub use engine::{ENGINES, Engine};
pub(super) use kind::NEVER;
pub use kind::{OptionKind, OptionValue, Words};

use super::error::FioErrorKind;
use super::spec::JobSpec;
use super::values::ValueContext;

/// Function that applies an option value to a job.
pub(crate) type Setter = fn(&mut JobSpec, &OptionValue) -> Result<(), String>;

/// One fio option.
#[derive(Clone, Copy, Debug)]
pub struct FioOption {
    /// Primary name.
    pub name: &'static str,
    /// Alternative names.
    pub aliases: &'static [&'static str],
    /// Kind of value.
    pub kind: OptionKind,
    /// Default value; empty for none.
    pub default: &'static str,
    /// One-line description.
    pub help: &'static str,
    /// Whether the option is supported.
    pub state: OptionState,
    /// Engines the option belongs to; empty for all.
    pub engines: &'static [&'static str],
    /// Values that disable the option; they are accepted even if the option is rejected.
    pub harmless: &'static [&'static str],
    set: Option<Setter>,
}

/// Whether an option is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionState {
    /// Same effect as in fio.
    Works,
    /// No effect, because the requested behavior is the only one.
    Accepted(&'static str),
    /// Takes effect only together with the named option, and is supported if that one is.
    With(&'static str),
    /// Rejected.
    Refused {
        /// The reason.
        reason: &'static str,
        /// What to use instead.
        instead: &'static str,
    },
}

/// Starts a table row.
const fn opt(name: &'static str, kind: OptionKind, help: &'static str) -> FioOption {
    let state = OptionState::Refused {
        reason: "it is not supported",
        instead: "omit it",
    };
    FioOption {
        name,
        aliases: &[],
        kind,
        default: "",
        help,
        state,
        engines: &[],
        harmless: &[],
        set: None,
    }
}

impl FioOption {
    const fn alias(mut self, aliases: &'static [&'static str]) -> FioOption {
        self.aliases = aliases;
        self
    }

    const fn default(mut self, default: &'static str) -> FioOption {
        self.default = default;
        self
    }

    const fn engines(mut self, engines: &'static [&'static str]) -> FioOption {
        self.engines = engines;
        self
    }

    const fn harmless(mut self, values: &'static [&'static str]) -> FioOption {
        self.harmless = values;
        self
    }

    const fn works(mut self, set: Setter) -> FioOption {
        (self.state, self.set) = (OptionState::Works, Some(set));
        self
    }

    /// Adds a setter to an option without effect, to reject values whose effect would be missing.
    const fn checked(mut self, set: Setter) -> FioOption {
        self.set = Some(set);
        self
    }

    const fn accepted(mut self, because: &'static str) -> FioOption {
        self.state = OptionState::Accepted(because);
        self
    }

    const fn with(mut self, other: &'static str, set: Setter) -> FioOption {
        (self.state, self.set) = (OptionState::With(other), Some(set));
        self
    }

    /// Marks the option as effective only together with another option.
    const fn goes_with(mut self, other: &'static str) -> FioOption {
        self.state = OptionState::With(other);
        self
    }

    const fn refused(mut self, reason: &'static str, instead: &'static str) -> FioOption {
        self.state = OptionState::Refused { reason, instead };
        self
    }

    /// Whether the option has this name or alias.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The name and all aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Applies a value as typed to a job, and records it in the list of options as typed.
    pub(crate) fn apply(
        &'static self,
        typed: Option<&str>,
        spec: &mut JobSpec,
        reading: &ValueContext<'_>,
    ) -> Result<(), FioErrorKind> {
        let harmless = typed.is_some_and(|text| self.harmless.contains(&text.trim()));
        match self.state {
            OptionState::Refused { .. } if harmless => {
                return self.note(typed, spec);
            }
            OptionState::Refused { reason, instead } => return Err(self.refuse(reason, instead)),
            _ => {}
        }
        let bad = |reason: String| FioErrorKind::BadValue {
            option: self.name.to_owned(),
            value: typed.unwrap_or_default().to_owned(),
            reason,
        };
        let missing = || FioErrorKind::MissingValue {
            option: self.name.to_owned(),
            hint: self.kind.shape(),
        };
        let expanded = match typed {
            None => None,
            Some(text) => Some(reading.expand(text, self.kind.is_numeric()).map_err(bad)?),
        };
        if typed.is_none() && !self.kind.may_stand_alone() {
            return Err(missing());
        }
        let value = self.kind.read(expanded.as_deref(), reading).map_err(bad)?;
        if let Some(set) = self.set {
            set(spec, &value).map_err(bad)?;
        }
        if !self.engines.is_empty() {
            spec.engine_options.push(self);
        }
        self.note(expanded.as_deref(), spec)
    }

    /// Records an option as typed. A switch without a value is not recorded, as in fio's own JSON.
    fn note(&self, typed: Option<&str>, spec: &mut JobSpec) -> Result<(), FioErrorKind> {
        let text = typed.or((self.kind == OptionKind::Bool).then_some("1"));
        if let Some(text) = text {
            spec.job
                .options
                .push((self.name.to_owned(), text.to_owned()));
        }
        Ok(())
    }

    fn refuse(&self, reason: &str, instead: &str) -> FioErrorKind {
        let (option, reason, instead) =
            (self.name.to_owned(), reason.to_owned(), instead.to_owned());
        FioErrorKind::Refused {
            option,
            reason,
            instead,
        }
    }
}

/// All options by topic, in the order of the documentation.
pub const SECTIONS: &[(&str, &[FioOption])] = &[
    ("Jobs and time", jobs::TABLE),
    ("Files", files::TABLE),
    ("Kind of I/O", workload::TABLE),
    ("Blocks and buffers", block::TABLE),
    ("Engine, depth, rate and latency", depth::TABLE),
    ("Verification and replay", verify::TABLE),
    ("Measurement and reporting", measure::TABLE),
    ("Options of single engines", engine::TABLE),
    ("Options of unsupported engines", foreign::TABLE),
];

/// All options, in the order of the documentation.
pub fn all() -> impl Iterator<Item = &'static FioOption> {
    SECTIONS.iter().flat_map(|(_, rows)| rows.iter())
}

/// Returns the option with this name or alias.
pub fn find(name: &str) -> Option<&'static FioOption> {
    all().find(|opt| opt.is_called(name))
}

/// Returns the known name nearest to an unknown one, if it is close enough to be a typo.
pub(crate) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let wanted = name.replace('-', "_").to_ascii_lowercase();
    let allowed = (wanted.chars().count() / 3).max(1);
    let scored = names.map(|known| (distance(&wanted, &known.replace('-', "_")), known));
    let best = scored.min_by_key(|(far, known)| (*far, known.len()))?;
    (best.0 <= allowed).then(|| best.1.to_owned())
}

/// Edit distance: insertions, deletions, substitutions and adjacent swaps (restricted Damerau-Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

/// A setter that cannot fail: `put!(|job, value| job.x = value.u32())`.
macro_rules! put {
    (|$job:ident, $value:ident| $body:expr) => {
        |$job: &mut $crate::fio::spec::JobSpec,
         $value: &$crate::fio::options::OptionValue|
         -> Result<(), String> {
            $body;
            Ok(())
        }
    };
}
use put;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio::testing::context;
    use std::collections::HashSet;

    #[test]
    fn each_name_stands_once() {
        let mut seen = HashSet::new();
        for name in all().flat_map(FioOption::names) {
            assert!(seen.insert(name), "{name} stands twice");
        }
        assert!(seen.len() > 330, "{}", seen.len());
    }

    #[test]
    fn each_row_is_complete() {
        for opt in all() {
            assert!(
                !opt.help.is_empty() && !opt.help.ends_with('.'),
                "{}",
                opt.name
            );
            if let OptionState::With(other) = opt.state {
                assert!(
                    find(other).is_some(),
                    "{} goes with {other}, which is unknown",
                    opt.name
                );
            }
            if let OptionState::Refused { reason, instead } = opt.state {
                assert!(
                    !reason.is_empty() && !instead.is_empty() && !instead.ends_with('.'),
                    "{}",
                    opt.name
                );
            }
        }
    }

    /// A setter that reads a different type than its row declares panics here.
    #[test]
    fn each_setter_takes_what_its_kind_reads() {
        let reading = ValueContext {
            ctx: context(),
            kb_base: 1024,
        };
        for opt in all() {
            let mut spec = JobSpec::default();
            let samples: Vec<String> = opt
                .kind
                .samples()
                .into_iter()
                .chain(Some(opt.default.to_owned()))
                .collect();
            for sample in samples.iter().filter(|s| !s.is_empty()) {
                let _ = opt.apply(Some(sample), &mut spec, &reading);
            }
            if opt.kind.may_stand_alone() {
                let _ = opt.apply(None, &mut spec, &reading);
            }
        }
    }

    /// The most common options in public job files, except options of unsupported engines.
    const USED_MOST: &str = "rw bs ioengine direct iodepth runtime size numjobs filename name time_based group_reporting \
        directory randrepeat ramp_time verify stonewall filesize invalidate thread nrfiles rwmixread \
        norandommap end_fsync fallocate create_on_open log_avg_msec write_lat_log gtod_reduce write_bw_log \
        loops bsrange io_size filename_format fsync_on_close percentile_list sync verify_fatal buffered \
        random_distribution zonemode zonesize max_open_zones startdelay buffer_compress_percentage rate_iops fsync refill_buffers do_verify \
        write_iops_log verify_dump offset openfiles rwmixwrite file_service_type exitall bssplit \
        buffer_pattern disable_slat offset_increment rate clocksource write_hist_log iodepth_batch \
        verify_state_save verify_backlog new_group verify_async ignore_error continue_on_error fadvise_hint \
        disable_clat verify_only fdatasync clat_percentiles random_generator create_serialize verify_pattern \
        lat_percentiles log_hist_msec log_alternate_epoch unlink exit_what \
        description atomic verify_write_sequence mem overwrite sqthread_poll registerfiles cpumask \
        iodepth_batch_complete_min steadystate disable_lat error_dump fill_device numa_cpu_nodes hipri \
        kb_base create_only disable_bw_measurement fixedbufs latency_percentile latency_target \
        latency_window exitall_on_error serialize_overlap verifysort";

    #[test]
    fn what_is_used_most_works() {
        let refuses = |state: &OptionState| matches!(state, OptionState::Refused { .. });
        for name in USED_MOST.split_whitespace() {
            let opt = find(name).unwrap_or_else(|| panic!("{name} is not known"));
            assert!(!refuses(&opt.state), "{name}: {:?}", opt.state);
            let mut state = opt.state;
            while let OptionState::With(other) = state {
                state = find(other).expect("each row is complete").state;
            }
            assert!(
                !refuses(&state),
                "{name} has an effect only with an option that is refused: {state:?}"
            );
        }
    }

    #[test]
    fn defaults_are_values() {
        let reading = ValueContext {
            ctx: context(),
            kb_base: 1024,
        };
        for opt in all().filter(|opt| !opt.default.is_empty()) {
            let read = opt.kind.read(Some(opt.default), &reading);
            assert!(read.is_ok(), "{}={}: {read:?}", opt.name, opt.default);
        }
    }

    #[test]
    fn the_nearest_name_is_found_when_it_is_near() {
        let guess = |name| nearest(name, all().flat_map(FioOption::names));
        assert_eq!(guess("iodpeth").as_deref(), Some("iodepth"));
        assert_eq!(guess("group-reporting").as_deref(), Some("group_reporting"));
        assert_eq!(guess("direkt").as_deref(), Some("direct"));
        assert_eq!(guess("numjob").as_deref(), Some("numjobs"));
        assert_eq!(guess("bananas"), None);
    }
}
