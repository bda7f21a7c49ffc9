//! `cargo xtask rig campaign`: a complete campaign on cards with known properties, in a machine with two power cuts.
//!
//! The bus is slower than the read speed of any card, so the report must name the bus as the bottleneck there. QEMU
//! does not slow a card down to its bus; the device models do.

use super::checks::{Checks, poll};
use super::figures::{ReportRows, stored_once};
use super::product::{self, ERASE};
use super::{cards, setup};
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::device_model::{DeviceModel, SlcCache};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::{Guest, GuestBuilder, Output, SlotWiring};
use hakaru_rig::kit::{Arch, Kit};
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The campaign file without the number of repeats.
const FILE: &str = include_str!("campaign.toml");

/// Default number of repeats of each cell.
const REPEATS: u32 = 10;

/// Number of cells in the campaign: three cards, four layers, four workloads.
const CELLS: u32 = 48;

/// Data rate of a one-line bus at 25 MHz (3.125 MB/s) after protocol overhead, in bytes per second.
const WIRE: u64 = 2_900_000;

/// Size of the new file for random writes, which vfat first fills with zeros.
const NEW_FILE: u64 = 4 << 20;

/// Size of the fast cache of the card that has one.
const CACHE: u64 = 4 << 20;

/// Maximum time between two power cuts, or to the end.
const LIMIT: Duration = Duration::from_secs(90 * 60);

/// Device models, best card first in everything not limited by the bus.
fn device_models() -> [DeviceModel; 3] {
    let card = |name: &str, read_seek_ms, write_rate, write_seek_ms| DeviceModel {
        capacity: Bytes(1 << 30),
        name: name.to_owned(),
        read_rate: WIRE,
        read_seek: Nanos::from_millis(read_seek_ms),
        write_rate,
        write_seek: Nanos::from_millis(write_seek_ms),
        ..cards::nimble()
    };
    let mut cached = card("cached", 8, 800_000, 25);
    // It empties in the pauses between the runs of a round, but hardly in the pauses that a busy host causes within a
    // run.
    cached.cache = Some(SlcCache {
        size: Bytes(CACHE),
        write_rate: 2_400_000,
        drain_rate: 2_000_000,
        drain_delay: Nanos(0),
    });
    [
        card("swift", 2, 2_500_000, 5),
        card("steady", 4, 1_600_000, 12),
        cached,
    ]
}

/// Runs the campaign.
///
/// # Errors
/// If a check fails, or the machine cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let hakaru = setup::program(Arch::X86_64, product::PC, &mut args)?.in_pc();
    let repeats = repeats(&args)?;
    setup::head_start();
    let mut checks = Checks::new();
    let cards = device_models().map(cards::make).into_iter();
    let rig = CampaignRig {
        out: &fresh_dir(repeats)?,
        cards: cards.collect::<Result<Vec<_>>>()?,
        hakaru,
        runs: CELLS * repeats,
    };
    let mut guest = rig.carry_out(&mut checks)?;
    let command = format!("{} --db /out/rig.db", rig.hakaru);
    let report = format!("{command} campaign report /out/rig.toml");
    let csv = guest.check_output(&format!("{report} --format csv"), LIMIT)?;
    guest.check_output(&format!("{report} --output /out/report.html"), LIMIT)?;
    let records = guest.check_output(&format!("{command} export"), LIMIT)?;
    guest.power_off()?;
    let figures = ReportRows::read(&csv)?;
    checks.check("every repeat of every cell is stored once", || {
        stored_once(&records, CELLS, repeats)
    });
    checks.check("every cell is in the report", || {
        figures.has_every_cell(CELLS as usize, repeats as usize)
    });
    check_findings(&mut checks, &figures);
    checks.conclude()
}

/// The number of repeats from the arguments.
fn repeats(args: &[String]) -> Result<u32> {
    match args {
        [] => Ok(REPEATS),
        [word, number] if word == "--repeat" => number.parse().context("--repeat wants a number"),
        _ => bail!("cargo xtask rig campaign takes nothing but --repeat N and --hakaru FILE"),
    }
}

/// Creates the directory of the campaign with its file. It is kept, so that the report and the database can be
/// inspected.
fn fresh_dir(repeats: u32) -> Result<PathBuf> {
    let dir = Kit::usual().dir().join("campaign");
    if dir.exists() {
        std::fs::remove_dir_all(&dir)?;
    }
    std::fs::create_dir_all(&dir)?;
    let dir = dir.canonicalize()?;
    let file = FILE.replace("REPEATS", &repeats.to_string());
    std::fs::write(dir.join("rig.toml"), file)?;
    Ok(dir)
}

/// Checks that the report finds the known properties of the cards and the bus.
fn check_findings(checks: &mut Checks, figures: &ReportRows) {
    for phase in ["seq-write", "rand-write", "rand-read"] {
        let name = format!("the cards are ranked as by their device models: {phase}");
        checks.check(&name, || {
            figures.ranks("raw", phase, &["swift", "steady", "cached"])
        });
    }
    checks.check("the bus is found to be the limit of reading", || {
        figures.verdict("limit", "raw", "read", "host")
    });
    checks.check("the cards are found to be the limit of writing", || {
        figures.is_not("limit", "raw", "write", "host")
    });
    checks.check("the cliff is found where the cache ends", || {
        let at = figures.value("cached", "raw", "seq-write", "cliff_at")?;
        let off = at / CACHE as f64 - 1.0;
        let found = format!("at byte {at} of {CACHE} ({:+.0}%)", off * 100.0);
        ensure!(off.abs() <= 0.25, "{found}");
        Ok(found)
    });
    checks.check("cards without a cache have no cliff", || {
        figures.has_none(&["swift", "steady"], "cliff_at")
    });
    for card in ["swift", "steady", "cached"] {
        let name = format!("vfat writes zeroes on {card} before random writes are measured");
        checks.check(&name, || {
            figures.lays_out(card, "vfat", "rand-write", NEW_FILE)
        });
    }
}

/// Environment of the campaign.
struct CampaignRig<'a> {
    out: &'a Path,
    cards: Vec<Arc<SimulatedCard>>,
    hakaru: String,
    runs: u32,
}

impl CampaignRig<'_> {
    /// Runs two parts that end with a power cut within a run, and a third part that ends normally.
    fn carry_out(&self, checks: &mut Checks) -> Result<Guest> {
        let (first, second) = (self.chance(1, 4), self.chance(2, 4));
        for after in [first, second] {
            let mut guest = self.boot()?;
            guest.begin(&self.script())?;
            let seen = self.await_run(&mut guest, after)?;
            std::thread::sleep(Duration::from_millis(u64::from(self.chance(0, 1)) % 3000));
            guest.cut_power()?;
            checks.say(&format!("power cut in run {seen} of {}", self.runs));
        }
        let mut guest = self.boot()?;
        guest.begin(&self.script())?;
        let output = guest.finish(LIMIT)?;
        let shown = self.shown();
        checks.check("it is resumed twice, and completes", || {
            let total = shown.lines().rfind(|line| line.contains("in total: "));
            let Output { code, .. } = output;
            ensure!(code == 0, "exit {code}:\n{shown}{}", output.both());
            Ok(total.unwrap_or_default().to_owned())
        });
        Ok(guest)
    }

    /// What the campaign printed so far on standard error.
    fn shown(&self) -> String {
        std::fs::read_to_string(self.out.join("shown")).unwrap_or_default()
    }

    fn boot(&self) -> Result<Guest> {
        let builder = GuestBuilder::new(&Kit::usual())
            .bus(SlotWiring::OneBit25MHz)
            .out(self.out);
        Ok(self.cards.iter().fold(builder, GuestBuilder::card).boot()?)
    }

    fn script(&self) -> String {
        format!(
            "export XDG_STATE_HOME=/out/state\n\
             {} --db /out/rig.db campaign run /out/rig.toml {ERASE} 2>/out/shown\n\
             code=$?\necho ENDED >>/out/shown\nexit $code\n",
            self.hakaru
        )
    }

    /// Waits until a run with at least this number starts, and returns its number.
    fn await_run(&self, guest: &mut Guest, number: u32) -> Result<u32> {
        let seen = poll(LIMIT, || {
            let shown = self.shown();
            // A line such as `[ 17/480] swift  raw  seq-write  #7`.
            let numbers = shown
                .lines()
                .filter_map(|line| line.trim().strip_prefix('[')?.split_once('/'));
            let last = numbers
                .filter_map(|(number, _)| number.trim().parse::<u32>().ok())
                .next_back();
            match last.filter(|&last| last >= number) {
                _ if shown.contains("ENDED") => Ok(None),
                None => Err(format!("run {number} did not begin:\n{shown}")),
                seen => Ok(seen),
            }
        })?;
        let Some(seen) = seen else {
            let code = guest.finish(LIMIT)?.code;
            bail!(
                "it ended with {code} before run {number}:\n{}",
                self.shown()
            );
        };
        Ok(seen)
    }

    /// Picks a random run in part `part` of `of` of the campaign.
    fn chance(&self, part: u32, of: u32) -> u32 {
        // The standard library seeds each hash map randomly.
        let random = RandomState::new().hash_one(part);
        let part_len = (self.runs / of).max(1);
        part * part_len + (random % u64::from(part_len)) as u32 + 1
    }
}
