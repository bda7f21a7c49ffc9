//! One row of the option table, and how it applies its value to a job.

use super::kind::{OptionKind, OptionValue};
use crate::fio::error::FioErrorKind;
use crate::fio::spec::JobSpec;
use crate::fio::values::ValueContext;

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
pub(super) const fn opt(name: &'static str, kind: OptionKind, help: &'static str) -> FioOption {
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
    pub(super) const fn alias(mut self, aliases: &'static [&'static str]) -> FioOption {
        self.aliases = aliases;
        self
    }

    pub(super) const fn default(mut self, default: &'static str) -> FioOption {
        self.default = default;
        self
    }

    pub(super) const fn engines(mut self, engines: &'static [&'static str]) -> FioOption {
        self.engines = engines;
        self
    }

    pub(super) const fn harmless(mut self, values: &'static [&'static str]) -> FioOption {
        self.harmless = values;
        self
    }

    pub(super) const fn works(mut self, set: Setter) -> FioOption {
        (self.state, self.set) = (OptionState::Works, Some(set));
        self
    }

    /// Adds a setter to an option without effect, to reject values whose effect would be missing.
    pub(super) const fn checked(mut self, set: Setter) -> FioOption {
        self.set = Some(set);
        self
    }

    pub(super) const fn accepted(mut self, because: &'static str) -> FioOption {
        self.state = OptionState::Accepted(because);
        self
    }

    pub(super) const fn with(mut self, other: &'static str, set: Setter) -> FioOption {
        (self.state, self.set) = (OptionState::With(other), Some(set));
        self
    }

    /// Marks the option as effective only together with another option.
    pub(super) const fn goes_with(mut self, other: &'static str) -> FioOption {
        self.state = OptionState::With(other);
        self
    }

    pub(super) const fn refused(
        mut self,
        reason: &'static str,
        instead: &'static str,
    ) -> FioOption {
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
        &self,
        typed: Option<&str>,
        spec: &mut JobSpec,
        reading: &ValueContext<'_>,
    ) -> Result<(), FioErrorKind> {
        if let OptionState::Refused { reason, instead } = self.state {
            if !typed.is_some_and(|text| self.harmless.contains(&text.trim())) {
                return Err(self.refuse(reason, instead));
            }
            self.note(typed, spec);
            return Ok(());
        }
        if typed.is_none() && !self.kind.may_stand_alone() {
            let (option, hint) = (self.name.to_owned(), self.kind.shape());
            return Err(FioErrorKind::MissingValue { option, hint });
        }
        let value = typed.unwrap_or_default();
        let bad = |reason| self.bad_value(value, reason);
        let numeric = self.kind.is_numeric();
        let expanded = typed.map(|text| reading.expand(text, numeric));
        let expanded = expanded.transpose().map_err(bad)?;
        let value = self.kind.read(expanded.as_deref(), reading).map_err(bad)?;
        if let Some(set) = self.set {
            set(spec, &value).map_err(bad)?;
        }
        if !self.engines.is_empty() && self.state == OptionState::Works {
            spec.engine_options.push((self.name, self.engines));
        }
        self.note(expanded.as_deref(), spec);
        Ok(())
    }

    /// Records an option as typed. A switch without a value is not recorded, as in fio's own JSON.
    fn note(&self, typed: Option<&str>, spec: &mut JobSpec) {
        let text = typed.or((self.kind == OptionKind::Bool).then_some("1"));
        let option = text.map(|text| (self.name.to_owned(), text.to_owned()));
        spec.job.options.extend(option);
    }

    fn bad_value(&self, value: &str, reason: String) -> FioErrorKind {
        FioErrorKind::BadValue {
            option: self.name.to_owned(),
            value: value.to_owned(),
            reason,
        }
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

/// A setter that cannot fail: `put!(|job, value| job.x = value.u32())`.
macro_rules! put {
    (|$job:ident, $value:ident| $body:expr) => {
        |$job: &mut $crate::fio::spec::JobSpec,
         $value: &$crate::fio::options::kind::OptionValue|
         -> Result<(), String> {
            $body;
            Ok(())
        }
    };
}
pub(super) use put;
