//! `cargo xtask rig test`: all checks with simulated cards, in groups that can be run separately.

use super::cards;
use super::checks::Checks;
use super::speed::RigStation;
use super::{
    amplification, faults, guarding, identity, machine, product, ranges, returned, setup, trace,
    zoned,
};
use anyhow::{Result, bail, ensure};
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::{Guest, GuestBuilder, GuestError, SlotWiring};
use hakaru_rig::kit::{Arch, Kit};
use std::sync::Arc;

/// Environment of the groups.
pub(super) struct RigSetup {
    pub(super) kit: Kit,
    /// Path of hakaru in a machine.
    pub(super) hakaru: String,
}

impl RigSetup {
    /// A builder for a machine with this card.
    pub(super) fn with(&self, card: &Arc<SimulatedCard>) -> GuestBuilder {
        GuestBuilder::new(&self.kit).card(card)
    }

    /// Boots a machine with this card.
    pub(super) fn boot(&self, card: &Arc<SimulatedCard>) -> Result<Guest, GuestError> {
        self.with(card).boot()
    }
}

/// A group of checks: name, description and function.
type Group = (
    &'static str,
    &'static str,
    fn(&RigSetup, &mut Checks) -> Result<()>,
);

const GROUPS: &[Group] = &[
    ("machine", "what the other groups rely on", machine::main),
    (
        "ageing",
        "a cache that fills, stalls, and heat",
        machine::ageing,
    ),
    (
        "amplification",
        "bytes of the device for each byte of the job",
        amplification::main,
    ),
    (
        "trace",
        "traced runs on four layers, and the log of the card",
        trace::main,
    ),
    ("wires", "1 and 4 data lines, 25 and 50 MHz", wires),
    (
        "identity",
        "what `info` shows of cards, USB, NVMe and SATA",
        identity::main,
    ),
    (
        "guard",
        "no attempt on a device in use succeeds",
        guarding::main,
    ),
    (
        "ranges",
        "nothing is written outside of what was named",
        ranges::main,
    ),
    (
        "counterfeit",
        "a card with less than it says",
        faults::counterfeit,
    ),
    ("dropped", "a card that drops writes", faults::dropped),
    ("flush", "a card that lies about flush", faults::lying_flush),
    (
        "pulled",
        "a card pulled while it is measured",
        faults::pulled,
    ),
    (
        "returned",
        "a card pulled from a campaign, and put back",
        returned::main,
    ),
    ("cut", "power cut while it is measured", faults::power_cut),
    (
        "zoned",
        "a device of zones, under our fio and the real one",
        zoned::main,
    ),
    ("speed", "three cards, four layers, four workloads", speed),
];

/// Runs all groups, or the named ones.
///
/// # Errors
/// If a check fails.
pub(crate) fn main(args: &[String]) -> Result<()> {
    run(args)?.conclude()
}

/// Runs all groups, or the named ones, and returns their checks.
///
/// # Errors
/// If a group is unknown, or the program does not build.
pub(super) fn run(args: &[String]) -> Result<Checks> {
    let mut args = args.to_vec();
    let product = setup::program(Arch::X86_64, product::HOST, &mut args)?;
    let kit = setup::kernel(&mut args)?;
    let is_known = |arg: &&String| GROUPS.iter().any(|(name, ..)| name == arg);
    if let Some(unknown) = args.iter().find(|arg| !is_known(arg)) {
        let known = GROUPS
            .iter()
            .map(|(name, about, _)| format!("  {name:<12} {about}"));
        let known: Vec<String> = known.collect();
        bail!(
            "there is no group {unknown:?}; the groups are\n{}",
            known.join("\n")
        );
    }
    setup::head_start();
    let rig = RigSetup {
        kit,
        hakaru: product.in_pc(),
    };
    let mut checks = Checks::new();
    let is_wanted = |name: &str| args.is_empty() || args.iter().any(|arg| arg == name);
    for (name, about, group) in GROUPS.iter().filter(|(name, ..)| is_wanted(name)) {
        checks.say(&format!("--- {name}: {about}"));
        if let Err(error) = group(&rig, &mut checks) {
            // For example a guest that did not start; the other groups have their own guests.
            checks.check(name, || Err(error));
        }
    }
    Ok(checks)
}

/// Compares the speed of three cards in three slots of one machine.
fn speed(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    let models = cards::compared();
    let made = models.clone().map(cards::make).into_iter();
    let made = made.collect::<Result<Vec<_>>>()?;
    let builder = GuestBuilder::new(&rig.kit);
    let mut guest = made.iter().fold(builder, GuestBuilder::card).boot()?;
    for (slot, (card, model)) in made.iter().zip(&models).enumerate() {
        let device = format!("/dev/mmcblk{slot}");
        RigStation::new(&mut guest, card, model, &device, &rig.hakaru)
            .compare_all(checks, &format!("{} ", model.name))?;
    }
    Ok(guest.power_off()?)
}

/// Checks the bus width and clock that are detected and recorded, and the ceiling derived from them.
fn wires(rig: &RigSetup, checks: &mut Checks) -> Result<()> {
    for (bus, lines, clock) in [
        (SlotWiring::FourBits50MHz, 4, 50_000_000),
        (SlotWiring::FourBits25MHz, 4, 25_000_000),
        (SlotWiring::OneBit50MHz, 1, 50_000_000),
        (SlotWiring::OneBit25MHz, 1, 25_000_000),
    ] {
        let card = cards::make(cards::nimble())?;
        let mut guest = rig.with(&card).bus(bus).boot()?;
        checks.check(&format!("{bus:?}"), || {
            let wanted = (lines, clock, clock * lines / 8);
            let same = |how: &str, seen: (u64, u64, u64)| {
                ensure!(
                    seen == wanted,
                    "lines, hertz and ceiling are {how} as {seen:?}, and are {wanted:?}"
                );
                Ok(())
            };
            let info = product::info(&mut guest, &rig.hakaru, "/dev/mmcblk0")?;
            same("shown", product::wires(&info["identity"]))?;
            let recorded = product::recorded_wires(&mut guest, &rig.hakaru)?;
            same("recorded", recorded)?;
            Ok(format!("{lines} lines at {clock} Hz shown and recorded"))
        });
        guest.power_off()?;
    }
    Ok(())
}
