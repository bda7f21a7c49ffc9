//! Options of hakaru on a command line of fio or iozone, and where their runs are stored.
//!
//! Programs that call a link named `fio` or `iozone` do not expect a database in a home directory, so a run is stored
//! only if somebody asks for it, or types `hakaru fio` on a terminal.

use crate::names;
use crate::place;
use anyhow::Result;
use hakaru_campaign::TraceExtent;
use hakaru_model::annotation::Annotations;
use hakaru_report::plain;
use hakaru_store::Store;
use hakaru_store::live::LivePublisher;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// How the program was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CalledAs {
    /// `hakaru fio` or `hakaru iozone`.
    Hakaru,
    /// A link named `fio` or `iozone`.
    Link,
}

/// Options of hakaru itself, which are not part of the language of fio or iozone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontEndOptions {
    /// Trace the path of each I/O, and how much of it.
    pub(crate) trace: Option<TraceExtent>,
    store: bool,
    names: Annotations,
}

const TRACE: &str = "--hakaru-trace";
const STORE: &str = "--hakaru-store";

impl FrontEndOptions {
    /// Separates the options of hakaru from the others. A link knows no `--hakaru-trace`.
    ///
    /// # Errors
    /// If the value of an option is missing or invalid.
    pub(crate) fn take(
        args: &[OsString],
        called: CalledAs,
    ) -> Result<(FrontEndOptions, Vec<OsString>), String> {
        let (mut options, mut others) = (FrontEndOptions::default(), Vec::new());
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let word = arg.to_string_lossy();
            let (name, given) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_ref(), None),
            };
            let mut value = || {
                let next = || Some(args.next()?.to_string_lossy().into_owned());
                let value = given.clone().or_else(next);
                value.ok_or_else(|| format!("{name} needs a value: {name}=TEXT"))
            };
            match name {
                STORE if given.is_none() => options.store = true,
                TRACE if called == CalledAs::Hakaru => {
                    options.trace = Some(match given.as_deref() {
                        None => TraceExtent::AfterCost,
                        Some("whole") => TraceExtent::Whole,
                        Some(other) => {
                            return Err(format!("{TRACE}={other}: use {TRACE} or {TRACE}=whole"));
                        }
                    });
                }
                "--hakaru-label" => {
                    let label = names::label(&value()?);
                    options.names.label = Some(label.map_err(|why| format!("{name}: {why}"))?);
                }
                "--hakaru-title" => options.names.title = Some(value()?),
                "--hakaru-note" => options.names.note = Some(value()?),
                _ => others.push(arg.clone()),
            }
        }
        Ok((options, others))
    }

    fn is_asked(&self) -> bool {
        self.store || self.trace.is_some() || !self.names.is_empty()
    }
}

/// Where the run of a command line is stored.
pub(crate) struct RunStorage<'a> {
    pub(crate) options: FrontEndOptions,
    pub(crate) called: CalledAs,
    /// Database that the command line of hakaru names.
    pub(crate) db: Option<&'a Path>,
}

impl RunStorage<'_> {
    /// Opens the database if the run is to be stored: because an option or `HAKARU_STORE=1` asks for it, or because
    /// somebody typed the command on a terminal. A database that cannot be opened is an error only if it was asked for.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub(crate) fn open(&self, program: &str) -> Result<Option<Store>> {
        let db = self.db.map(PathBuf::from).or_else(place::from_environment);
        match (self.options.is_asked(), place::is_store_asked()) {
            (true, _) | (false, Some(true)) => place::open(db.as_deref()).map(Some),
            (false, Some(false)) => Ok(None),
            (false, None) if self.called == CalledAs::Link || !is_on_terminal() => Ok(None),
            (false, None) => Ok(place::open(db.as_deref())
                .inspect_err(|error| anstream::eprintln!("{program}: not stored: {error:#}"))
                .ok()),
        }
    }

    /// Stores label, title and note of a stored run, publishes its series, and prints how to see it.
    ///
    /// # Errors
    /// If the names cannot be stored.
    pub(crate) fn finish(
        &self,
        program: &str,
        store: &mut Store,
        series: &str,
        live: Option<&LivePublisher>,
    ) -> Result<()> {
        if let Some(live) = live {
            live.update(|state| state.stored = Some(series.to_owned()));
        }
        let names = &self.options.names;
        let now = hakaru_campaign::now_unix_ms();
        let named = store.annotate(&names.to_history(series, now));
        let shown = match &names.label {
            Some(label) => plain(&format!("'{label}'")),
            None => series.to_owned(),
        };
        anstream::eprintln!("{program}: stored as {series}; see it with: hakaru show {shown}");
        Ok(named.map(|_| ())?)
    }
}

fn is_on_terminal() -> bool {
    std::io::stdout().is_terminal() && std::io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(line: &str, called: CalledAs) -> Result<(FrontEndOptions, String), String> {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let (options, others) = FrontEndOptions::take(&args, called)?;
        let others: Vec<String> = others
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        Ok((options, others.join(" ")))
    }

    #[test]
    fn options_of_hakaru_are_taken_from_between_the_others() {
        let line = "--name=a --hakaru-label=ssd --rw=read --hakaru-note test --hakaru-store";
        let (options, others) = take(line, CalledAs::Link).unwrap();
        assert_eq!(others, "--name=a --rw=read");
        assert!(options.store && options.is_asked() && options.trace.is_none());
        assert_eq!(options.names.label.as_deref(), Some("ssd"));
        assert_eq!(options.names.note.as_deref(), Some("test"));
        let (options, _) = take("--name=a", CalledAs::Hakaru).unwrap();
        assert!(!options.is_asked());
    }

    #[test]
    fn a_link_traces_nothing() {
        let (options, others) = take("--hakaru-trace", CalledAs::Link).unwrap();
        assert!(options.trace.is_none() && others == "--hakaru-trace");
        let (options, others) = take("--hakaru-trace", CalledAs::Hakaru).unwrap();
        assert_eq!(options.trace, Some(TraceExtent::AfterCost));
        assert_eq!(others, "");
        let (options, _) = take("--hakaru-trace=whole", CalledAs::Hakaru).unwrap();
        assert_eq!(options.trace, Some(TraceExtent::Whole));
        assert!(take("--hakaru-trace=half", CalledAs::Hakaru).is_err());
    }

    #[test]
    fn a_value_that_is_missing_or_invalid_is_an_error() {
        for line in ["--hakaru-label", "--hakaru-label=", "--hakaru-label=latest"] {
            assert!(take(line, CalledAs::Hakaru).is_err(), "{line}");
        }
    }
}
