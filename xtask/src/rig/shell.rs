//! `cargo xtask rig run SCRIPT`: runs one script in a machine with one card, for experiments.

use super::setup;
use anyhow::{Result, bail};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::units::Bytes;
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::GuestBuilder;
use hakaru_rig::kit::{Arch, Kit};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs a script, and prints its output and the commands of the card.
///
/// # Errors
/// If the machine does not start, or the script fails.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let [script] = args else {
        bail!("cargo xtask rig run takes one argument, a script for sh")
    };
    setup::ready(Arch::X86_64)?;
    let card = Arc::new(SimulatedCard::new(
        DeviceModel::plain("plain", Bytes(256 << 20)),
        1,
    )?);
    let mut guest = GuestBuilder::new(&Kit::usual()).card(&card).boot()?;
    eprintln!("rig: started in {:.1} s", guest.boot_time().as_secs_f64());
    card.take_ledger();
    let begun = Instant::now();
    let output = guest.run(script, Duration::from_secs(600))?;
    print!("{}", output.stdout);
    eprint!("{}", output.stderr);
    let ledger = card.ledger();
    eprintln!(
        "rig: ran for {:.1} s; the card was busy for {}, with {} commands and {} flushes",
        begun.elapsed().as_secs_f64(),
        ledger.busy(),
        ledger.commands.len(),
        ledger.flushes
    );
    guest.power_off()?;
    if output.code != 0 {
        bail!("the script ended with {}", output.code);
    }
    Ok(())
}
