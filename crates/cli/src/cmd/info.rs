//! `hakaru info`: shows facts about a device or path and about this host; without a path, lists the disks.

use super::{json, print, width};
use crate::exit::{Exit, not_there};
use anyhow::Result;
use hakaru_device::guard;
use hakaru_device::{InspectError, RawCard, Roots};
use hakaru_engine::ClockChoice;
use hakaru_model::facts::{
    CardRegisters, Environment, Fact, TargetFacts, TargetKind, UnknownReason,
};
use hakaru_model::units::{Bytes, BytesPerSec};
use hakaru_report::{Listed, TargetInfo};
use hakaru_results::devices::{self, FORMAT, runs_system, state};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

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
        return Err(both!(
            "`{odd}` is not a hexadecimal digit",
            "「{odd}」は16進数の数字ではありません"
        ));
    }
    match digits.len() {
        n if n == DIGITS => Ok(digits.to_ascii_lowercase()),
        n => Err(both!(
            "this register has {DIGITS} hexadecimal digits, but {n} were given",
            "このレジスタは16進{DIGITS}桁ですが、{n}桁が指定されました"
        )),
    }
}

/// Prints the facts about a path or the list of disks.
pub(crate) fn main(args: &InfoArgs) -> Result<Exit> {
    let roots = Roots::live();
    let environment = hakaru_device::environment(&roots, ClockChoice::best().name());
    match &args.path {
        Some(path) => one(args, path, &environment, &roots),
        None if !args.by_hand().is_empty() => card_alone(args, &environment),
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
    let disks = devices::present(roots);
    if args.json {
        return print_json(&devices::json(&disks, environment));
    }
    let disks: Vec<Listed<'_>> = disks
        .iter()
        .map(|disk| Listed {
            identity: &disk.identity,
            state: &disk.state,
        })
        .collect();
    print(&hakaru_report::disks_terminal(
        &disks,
        environment,
        width(),
        true,
    ))?;
    Ok(Exit::Ok)
}

fn one(args: &InfoArgs, path: &Path, environment: &Environment, roots: &Roots) -> Result<Exit> {
    let missing = |error: std::io::Error| error.kind() == ErrorKind::NotFound;
    if path.symlink_metadata().is_err_and(missing) {
        return Err(not_there(
            both!("{} does not exist; help: `hakaru info` lists the disks", "{}はありません; help: hakaru infoでディスクを確認してください"; path.display()),
        ));
    }
    let by_hand = args.by_hand();
    let facts = look(path).map_err(no_such)?;
    let mut identity = hakaru_device::identify(path, roots);
    if let (true, Fact::Known(device)) = (!by_hand.is_empty(), &mut identity.device) {
        let before = device.card.clone().unwrap_or_default();
        device.card = Some(decode(args, &before, device.size));
    }
    let is_device = identity.kind == TargetKind::BlockDevice;
    let device = identity.device.known();
    let ceiling = device.and_then(|device| hakaru_device::bus_ceiling(&device.bus));
    let losses = is_device.then(|| guard::what_would_be_lost(path));
    let state = is_device.then(|| state(path, roots));
    if args.json {
        return print_json(&serde_json::json!({
            "format": FORMAT,
            "facts": facts,
            "identity": identity,
            "card": null,
            "by_hand": by_hand,
            "bus_ceiling": ceiling,
            "content": losses,
            "state": state,
            "environment": environment,
        }));
    }
    let lines = |losses: Vec<_>| losses.iter().map(ToString::to_string).collect();
    let content: Option<Vec<String>> = losses.map(lines);
    let known = TargetInfo {
        identity: &identity,
        environment,
        ceiling: ceiling.map(|bytes| BytesPerSec(bytes as f64)),
        by_hand: &by_hand,
        content: content.as_deref(),
        state: state.as_deref(),
        runs_system: is_device && runs_system(path, roots),
    };
    print(&hakaru_report::device_terminal(&known, width(), true))?;
    Ok(Exit::Ok)
}

/// Prints the registers of a card that is not in a device of this host.
fn card_alone(args: &InfoArgs, environment: &Environment) -> Result<Exit> {
    let by_hand = args.by_hand();
    let card = decode(args, &not_given(), Bytes(0));
    if args.json {
        return print_json(&serde_json::json!({
            "format": FORMAT,
            "facts": null,
            "identity": null,
            "card": card,
            "by_hand": by_hand,
            "bus_ceiling": null,
            "content": null,
            "state": null,
            "environment": environment,
        }));
    }
    let text = hakaru_report::card_terminal(&card, &by_hand, width(), true);
    print(&text)?;
    Ok(Exit::Ok)
}

fn print_json(value: &impl serde::Serialize) -> Result<Exit> {
    json::print(json::INFO, value).map(|()| Exit::Ok)
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
    let unknown = || Fact::Unknown(UnknownReason::NotGiven);
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
    // Only MMC and eMMC have the extended CSD register.
    let is_mmc = args.mmc || args.ext_csd.is_some();
    let kind = match &shown.card_type {
        _ if is_mmc => "MMC",
        Fact::Known(kind) => kind,
        Fact::Unknown(_) => "SD",
    };
    let unknown = |reason: UnknownReason| Fact::Unknown(reason);
    let of_ext_csd = || Fact::Unknown(UnknownReason::PartOfExtCsd);
    let raw = RawCard {
        card_type: Fact::Known(kind.to_owned()),
        cid: given(&args.cid, &shown.cid),
        csd: given(&args.csd, &shown.csd),
        scr: given(&args.scr, &shown.scr),
        ssr: given(&args.ssr, &shown.ssr),
        // The date is also part of the CID.
        date: unknown(UnknownReason::PartOfCid),
        ext_csd_rev: of_ext_csd(),
        life_time: of_ext_csd(),
        pre_eol: of_ext_csd(),
        ext_csd: given(&args.ext_csd, &unknown(UnknownReason::NotGiven)),
    };
    let decoded = hakaru_device::decode_card(&raw, size);
    // Keep eMMC values that the host reported.
    CardRegisters {
        life_time: known_or(&shown.life_time, decoded.life_time),
        pre_eol: known_or(&shown.pre_eol, decoded.pre_eol),
        device_type: known_or(&shown.device_type, decoded.device_type),
        spec: known_or(&decoded.spec, shown.spec.clone()),
        ..decoded
    }
}

/// The first fact if it is known, else the second.
fn known_or<T: Clone>(first: &Fact<T>, second: Fact<T>) -> Fact<T> {
    match first {
        Fact::Known(_) => first.clone(),
        Fact::Unknown(_) => second,
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
