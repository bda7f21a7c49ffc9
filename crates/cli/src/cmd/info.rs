//! `hakaru info`: shows facts about a device or path and about this host; without a path, lists the disks.

use super::{print, width};
use crate::exit::{Exit, not_there};
use anyhow::Result;
use hakaru_device::guard::{self, Refusal};
use hakaru_device::{InspectError, RawCard, Roots};
use hakaru_engine::ClockChoice;
use hakaru_model::facts::{CardRegisters, Environment, Fact, Identity, TargetFacts, TargetKind};
use hakaru_model::units::{Bytes, BytesPerSec};
use hakaru_report::{Listed, TargetInfo};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Version of the JSON format, described in docs/FORMAT.md.
const FORMAT: u32 = 1;

const AFTER: &str = "USB readers hide the registers of a card. Read them on a host with an SD slot, from /sys/block/mmcblk0/device/{cid,csd,scr,ssr}, and pass them here; spaces and colons between digits are ignored.";

/// Arguments of `hakaru info`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct InfoArgs {
    /// Device, file or directory [default: all disks]
    path: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Decode this card identification register (32 hex digits)
    #[arg(long, value_name = "HEX", value_parser = register::<32>)]
    cid: Option<String>,
    /// Decode this card-specific data register (32 hex digits)
    #[arg(long, value_name = "HEX", value_parser = register::<32>)]
    csd: Option<String>,
    /// Decode this SD configuration register (16 hex digits)
    #[arg(long, value_name = "HEX", value_parser = register::<16>)]
    scr: Option<String>,
    /// Decode this SD status register (128 hex digits)
    #[arg(long, value_name = "HEX", value_parser = register::<128>)]
    ssr: Option<String>,
    /// Decode this extended CSD register of an eMMC (1024 hex digits)
    #[arg(long, value_name = "HEX", value_parser = register::<1024>)]
    ext_csd: Option<String>,
    /// Treat the given registers as those of an MMC or eMMC
    #[arg(long)]
    mmc: bool,
}

/// Parses the hex digits of a register as copied from other sources, with `0x` or separators.
fn register<const DIGITS: usize>(text: &str) -> Result<String, String> {
    let text = text.trim().trim_start_matches("0x");
    let digits: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && *c != ':')
        .collect();
    if let Some(odd) = digits.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(format!("`{odd}` is not a hexadecimal digit"));
    }
    match digits.len() {
        n if n == DIGITS => Ok(digits.to_ascii_lowercase()),
        n => Err(format!(
            "this register has {DIGITS} hexadecimal digits, but {n} were given"
        )),
    }
}

/// Prints the facts about a path or the list of disks.
pub(crate) fn main(args: &InfoArgs) -> Result<Exit> {
    let roots = Roots::live();
    let environment = hakaru_device::environment(&roots, ClockChoice::best().name());
    match &args.path {
        Some(path) => one(args, path, &environment, &roots),
        None if !args.by_hand().is_empty() => one(args, Path::new("-"), &environment, &roots),
        None => all(args, &environment, &roots),
    }
}

impl InfoArgs {
    /// Returns the names of the registers given on the command line.
    fn by_hand(&self) -> Vec<String> {
        let given = [
            ("CID", &self.cid),
            ("CSD", &self.csd),
            ("SCR", &self.scr),
            ("SSR", &self.ssr),
            ("EXT_CSD", &self.ext_csd),
        ];
        given
            .into_iter()
            .filter(|(_, value)| value.is_some())
            .map(|(name, _)| name.to_owned())
            .collect()
    }
}

fn all(args: &InfoArgs, environment: &Environment, roots: &Roots) -> Result<Exit> {
    let disks: Vec<(Identity, String)> = hakaru_device::disks(roots)
        .into_iter()
        .map(|path| (hakaru_device::identify(&path, roots), state(&path, roots)))
        .collect();
    if args.json {
        let disk = |(identity, state): &(Identity, String)| serde_json::json!({ "identity": identity, "state": state });
        let disks: Vec<_> = disks.iter().map(disk).collect();
        let all =
            serde_json::json!({ "format": FORMAT, "disks": disks, "environment": environment });
        print(&(serde_json::to_string_pretty(&all)? + "\n"))?;
        return Ok(Exit::Ok);
    }
    let disks: Vec<Listed<'_>> = disks
        .iter()
        .map(|(identity, state)| Listed { identity, state })
        .collect();
    print(&hakaru_report::disks_terminal(
        &disks,
        environment,
        width(),
        true,
    ))?;
    Ok(Exit::Ok)
}

/// Describes the use of a device in a few words.
fn state(path: &Path, roots: &Roots) -> String {
    match guard::passive(path, roots) {
        Ok(_) => "free".to_owned(),
        Err(Refusal::SystemDisk { .. }) => "the system runs from it".to_owned(),
        Err(Refusal::Mounted { at, .. }) => format!("mounted at {}", at.display()),
        Err(Refusal::Swap { .. }) => "in use as swap".to_owned(),
        Err(Refusal::Held { holder, .. }) => format!("part of {holder}"),
        Err(Refusal::ReadOnly { .. }) => "write-protected".to_owned(),
        Err(refusal) => refusal.to_string(),
    }
}

fn runs_system(path: &Path, roots: &Roots) -> bool {
    matches!(guard::passive(path, roots), Err(Refusal::SystemDisk { .. }))
}

fn one(args: &InfoArgs, path: &Path, environment: &Environment, roots: &Roots) -> Result<Exit> {
    let named = args.path.is_some();
    if named
        && path
            .symlink_metadata()
            .is_err_and(|error| error.kind() == ErrorKind::NotFound)
    {
        return Err(not_there(format!(
            "{} does not exist; help: `hakaru info` lists the disks",
            path.display()
        )));
    }
    let by_hand = args.by_hand();
    let facts = if named {
        look(path).map_err(no_such)?
    } else {
        None
    };
    let mut identity = hakaru_device::identify(path, roots);
    let lone_card = if named {
        None
    } else {
        Some(decode(args, &not_given(), Bytes(0)))
    };
    if let (true, Fact::Known(device)) = (!by_hand.is_empty(), &mut identity.device) {
        let before = device.card.clone().unwrap_or_default();
        device.card = Some(decode(args, &before, device.size));
    }
    let is_device = identity.kind == TargetKind::BlockDevice;
    let ceiling = identity
        .device
        .known()
        .and_then(|device| hakaru_device::bus_ceiling(&device.bus));
    let losses = is_device.then(|| guard::what_would_be_lost(path));
    let state = is_device.then(|| state(path, roots));
    if args.json {
        let all = serde_json::json!({
            "format": FORMAT,
            "facts": facts,
            "identity": named.then_some(&identity),
            "card": lone_card,
            "by_hand": by_hand,
            "bus_ceiling": ceiling,
            "content": losses,
            "state": state,
            "environment": environment,
        });
        print(&(serde_json::to_string_pretty(&all)? + "\n"))?;
        return Ok(Exit::Ok);
    }
    if let Some(card) = lone_card {
        print(&hakaru_report::card_terminal(
            &card,
            &by_hand,
            width(),
            true,
        ))?;
        return Ok(Exit::Ok);
    }
    let content: Option<Vec<String>> =
        losses.map(|losses| losses.iter().map(ToString::to_string).collect());
    let ceiling = ceiling.map(|bytes| BytesPerSec(bytes as f64));
    let known = TargetInfo {
        identity: &identity,
        environment,
        ceiling,
        by_hand: &by_hand,
        content: content.as_deref(),
        state: state.as_deref(),
        runs_system: is_device && runs_system(path, roots),
    };
    print(&hakaru_report::device_terminal(&known, width(), true))?;
    Ok(Exit::Ok)
}

/// Inspects a path; `None` if opening it is not permitted, because other facts are known without opening it.
fn look(path: &Path) -> Result<Option<TargetFacts>, InspectError> {
    match hakaru_device::inspect(path) {
        Ok(facts) => Ok(Some(facts)),
        Err(InspectError::Denied { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Converts an error: missing paths are usage errors.
fn no_such(error: InspectError) -> anyhow::Error {
    match error {
        InspectError::Io { .. } | InspectError::Denied { .. } => error.into(),
        error => not_there(error.to_string()),
    }
}

/// Returns registers that are all unknown, for a card whose registers come only from the command line.
fn not_given() -> CardRegisters {
    let unknown = || Fact::Unknown("not given".to_owned());
    CardRegisters {
        cid: unknown(),
        csd: unknown(),
        scr: unknown(),
        ssr: unknown(),
        ..CardRegisters::default()
    }
}

/// Decodes the registers. Values from the command line replace those that the host reports.
fn decode(args: &InfoArgs, shown: &CardRegisters, size: Bytes) -> CardRegisters {
    let given = |given: &Option<String>, shown: &Fact<String>| {
        given.clone().map_or(shown.clone(), Fact::Known)
    };
    let kind = match (&shown.card_type, args.mmc) {
        (_, true) => Fact::Known("MMC".to_owned()),
        // Only MMC and eMMC have this register.
        _ if args.ext_csd.is_some() => Fact::Known("MMC".to_owned()),
        (Fact::Known(kind), _) => Fact::Known(kind.clone()),
        _ => Fact::Known("SD".to_owned()),
    };
    let untold = |reason: &str| Fact::Unknown(reason.to_owned());
    let raw = RawCard {
        card_type: kind,
        cid: given(&args.cid, &shown.cid),
        csd: given(&args.csd, &shown.csd),
        scr: given(&args.scr, &shown.scr),
        ssr: given(&args.ssr, &shown.ssr),
        // The date is also part of the CID.
        date: untold("part of the CID"),
        ext_csd_rev: untold("part of EXT_CSD, which was not given"),
        life_time: untold("part of EXT_CSD, which was not given"),
        pre_eol: untold("part of EXT_CSD, which was not given"),
        ext_csd: args
            .ext_csd
            .clone()
            .map_or_else(|| untold("not given"), Fact::Known),
    };
    let decoded = hakaru_device::decode_card(&raw, size);
    // Keep eMMC values that the host reported.
    CardRegisters {
        life_time: shown
            .life_time
            .known()
            .cloned()
            .map_or(decoded.life_time, Fact::Known),
        pre_eol: shown
            .pre_eol
            .known()
            .cloned()
            .map_or(decoded.pre_eol, Fact::Known),
        device_type: shown
            .device_type
            .known()
            .cloned()
            .map_or(decoded.device_type, Fact::Known),
        spec: if decoded.spec.known().is_some() {
            decoded.spec
        } else {
            shown.spec.clone()
        },
        ..decoded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_taken_as_they_are_copied() {
        let plain = "0353445345333247804a5b6c7d0137e1";
        for text in [
            plain,
            "0x0353445345333247804A5B6C7D0137E1",
            "03 53 44 53 45 33 32 47 80:4a5b6c7d0137e1\n",
        ] {
            assert_eq!(register::<32>(text).as_deref(), Ok(plain));
        }
        assert_eq!(
            register::<32>("03").unwrap_err(),
            "this register has 32 hexadecimal digits, but 2 were given"
        );
        assert_eq!(
            register::<16>("card").unwrap_err(),
            "`r` is not a hexadecimal digit"
        );
    }
}
