//! `cargo xtask rig test`: all checks with simulated cards, in groups that can be run separately.

use super::cards;
use super::checks::Checks;
use super::host::Patience;
use super::jobs;
use super::layers::RigLayer;
use super::product::Product;
use super::speed::RigStation;
use super::{
    amplification, faults, guarding, identity, machine, product, ranges, returned, setup, zoned,
};
use anyhow::{Result, bail, ensure};
use hakaru_rig::guest::{Guest, SlotWiring};
use hakaru_rig::kit::{Arch, Kit};

/// Environment of the groups.
pub(super) struct RigSetup {
    pub(super) kit: Kit,
    /// Path of hakaru in a machine.
    pub(super) hakaru: String,
    /// Output of `hakaru --help`.
    help: String,
}

impl RigSetup {
    /// Whether the program has this subcommand.
    pub(super) fn has(&self, subcommand: &str) -> bool {
        self.help.lines().any(|line| {
            line.split_whitespace().next() == Some(subcommand) && line.starts_with("  ")
        })
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
    ("wires", "1 and 4 data lines, 25 and 50 MHz", wires),
    (
        "identity",
        "what is told of cards, USB, NVMe and SATA",
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
    let mut args = args.to_vec();
    setup::ready(Arch::X86_64)?;
    setup::layer_tools()?;
    let product = Product::get(product::HOST, &mut args)?;
    if let Some(unknown) = args
        .iter()
        .find(|arg| !GROUPS.iter().any(|(name, ..)| name == arg))
    {
        let known: Vec<String> = GROUPS
            .iter()
            .map(|(name, about, _)| format!("  {name:<12} {about}"))
            .collect();
        bail!(
            "there is no group {unknown:?}; the groups are\n{}",
            known.join("\n")
        );
    }
    setup::head_start();
    let bench = RigSetup {
        kit: Kit::usual(),
        hakaru: product.in_pc(),
        help: product.help()?,
    };
    let mut checks = Checks::new();
    for (name, about, group) in GROUPS
        .iter()
        .filter(|(name, ..)| args.is_empty() || args.iter().any(|a| a == name))
    {
        checks.say(&format!("--- {name}: {about}"));
        if let Err(error) = group(&bench, &mut checks) {
            // For example a guest that did not start; the other groups have their own guests.
            checks.check(name, || Err(error));
        }
    }
    checks.conclude()
}

/// Compares the speed of three cards in three slots of one machine.
fn speed(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    let lists = [cards::nimble(), cards::endurance(), cards::old()];
    let cards = lists.clone().map(cards::make);
    let mut builder = Guest::builder(&bench.kit);
    let mut made = Vec::new();
    for card in cards {
        let card = card?;
        builder = builder.card(&card);
        made.push(card);
    }
    let mut guest = builder.boot()?;
    for (slot, (card, prices)) in made.iter().zip(&lists).enumerate() {
        let device = format!("/dev/mmcblk{slot}");
        let (device, hakaru) = (device.as_str(), bench.hakaru.as_str());
        let mut station = RigStation {
            guest: &mut guest,
            card,
            prices,
            device,
            hakaru,
            patience: Patience::new(),
        };
        for layer in RigLayer::ALL {
            station.prepare(layer)?;
            for workload in jobs::ALL {
                let name = format!("{} {} {}", prices.name, layer.name(), workload.rw);
                checks.check(&name, || station.compare(layer, workload));
            }
            station.clear(layer)?;
        }
    }
    Ok(guest.power_off()?)
}

/// Checks the bus width and clock that are detected and recorded, and the ceiling derived from them.
fn wires(bench: &RigSetup, checks: &mut Checks) -> Result<()> {
    for (bus, lines, clock) in [
        (SlotWiring::FourBits50MHz, 4, 50_000_000),
        (SlotWiring::FourBits25MHz, 4, 25_000_000),
        (SlotWiring::OneBit50MHz, 1, 50_000_000),
        (SlotWiring::OneBit25MHz, 1, 25_000_000),
    ] {
        let card = cards::make(cards::nimble())?;
        let mut guest = Guest::builder(&bench.kit).card(&card).bus(bus).boot()?;
        checks.check(&format!("{bus:?}"), || {
            let wanted = (lines, clock, clock * lines / 8);
            let info = product::info(&mut guest, &bench.hakaru, "/dev/mmcblk0")?;
            let seen = product::wires(&info["identity"]);
            ensure!(
                seen == wanted,
                "lines, hertz and ceiling are seen as {seen:?}, and are {wanted:?}"
            );
            let recorded = product::recorded_wires(&mut guest, &bench.hakaru)?;
            ensure!(
                recorded == wanted,
                "lines, hertz and ceiling are recorded as {recorded:?}, and are {wanted:?}"
            );
            Ok(format!(
                "{lines} lines at {clock} Hz seen and recorded, {} B/s at best",
                wanted.2
            ))
        });
        guest.power_off()?;
    }
    Ok(())
}
