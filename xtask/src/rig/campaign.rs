//! `cargo xtask rig campaign`: a complete campaign on cards with known properties, in a machine with two power cuts.
//!
//! The bus is slower than the read speed of any card, so the report must name the bus as the bottleneck there. QEMU
//! does not slow a card down to its bus; the device models do.

use super::checks::Checks;
use super::figures::{ReportRows, stored_once};
use super::product::{self, Product};
use super::{cards, setup};
use anyhow::{Context, Result, ensure};
use hakaru_model::device_model::{DeviceModel, SlcCache};
use hakaru_model::units::{Bytes, Nanos};
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::guest::{Guest, SlotWiring};
use hakaru_rig::kit::{Arch, Kit};
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

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
fn price_lists() -> [DeviceModel; 3] {
    let list = |name: &str, read_seek_ms, write_rate, write_seek_ms| DeviceModel {
        capacity: Bytes(1 << 30),
        name: name.to_owned(),
        read_rate: WIRE,
        read_seek: Nanos::from_millis(read_seek_ms),
        write_rate,
        write_seek: Nanos::from_millis(write_seek_ms),
        ..cards::nimble()
    };
    let mut cached = list("cached", 8, 800_000, 25);
    // It empties in the pauses between the runs of a round, but hardly in the pauses that a busy host causes within a
    // run.
    cached.cache = Some(SlcCache {
        size: Bytes(CACHE),
        write_rate: 2_400_000,
        drain_rate: 2_000_000,
    });
    [
        list("swift", 2, 2_500_000, 5),
        list("steady", 4, 1_600_000, 12),
        cached,
    ]
}

/// Runs the campaign.
///
/// # Errors
/// If a check fails, or the machine cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    setup::ready(Arch::X86_64)?;
    setup::layer_tools()?;
    let hakaru = Product::get(product::PC, &mut args)?.in_pc();
    let repeats = match args.as_slice() {
        [] => REPEATS,
        [word, number] if word == "--repeat" => {
            number.parse().context("--repeat wants a number")?
        }
        _ => {
            anyhow::bail!("cargo xtask rig campaign takes nothing but --repeat N and --hakaru FILE")
        }
    };
    setup::head_start();
    let mut checks = Checks::new();
    // Kept, so that the report and the database can be inspected.
    let folder = Kit::usual().folder().join("campaign");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    std::fs::write(
        folder.join("rig.toml"),
        FILE.replace("REPEATS", &repeats.to_string()),
    )?;
    let cards = price_lists()
        .map(cards::make)
        .into_iter()
        .collect::<Result<Vec<_>>>()?;
    let bench = CampaignRig {
        out: &folder,
        cards,
        hakaru,
        runs: CELLS * repeats,
    };
    let mut guest = bench.carry_out(&mut checks)?;
    let command = format!("{} --db /out/rig.db", bench.hakaru);
    let csv = guest
        .run(
            &format!("{command} campaign report /out/rig.toml --format csv"),
            LIMIT,
        )?
        .success()?;
    guest
        .run(
            &format!("{command} campaign report /out/rig.toml --output /out/report.html"),
            LIMIT,
        )?
        .success()?;
    let records = guest.run(&format!("{command} export"), LIMIT)?.success()?;
    guest.power_off()?;
    let figures = ReportRows::read(&csv)?;
    checks.check("every repeat of every cell is stored once", || {
        stored_once(&records, CELLS, repeats)
    });
    checks.check("every cell is in the report", || {
        figures.has_every_cell(CELLS as usize, repeats as usize)
    });
    for phase in ["seq-write", "rand-write", "rand-read"] {
        checks.check(
            &format!("the cards are ranked as by their price lists: {phase}"),
            || figures.ranks("raw", phase, &["swift", "steady", "cached"]),
        );
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
        ensure!(
            off.abs() <= 0.25,
            "it is found at byte {at}, and the cache has {CACHE}"
        );
        Ok(format!("at byte {at} ({:+.0} %)", off * 100.0))
    });
    checks.check("cards without a cache have no cliff", || {
        figures.has_none(&["swift", "steady"], "cliff_at")
    });
    for card in ["swift", "steady", "cached"] {
        checks.check(
            &format!("vfat writes zeroes on {card} before random writes are measured"),
            || figures.lays_out(card, "vfat", "rand-write", NEW_FILE),
        );
    }
    checks.conclude()
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
        let told = std::fs::read_to_string(self.out.join("told")).unwrap_or_default();
        checks.check("it is resumed twice, and comes to its end", || {
            let said = told
                .lines()
                .rfind(|line| line.contains("in total: "))
                .unwrap_or_default()
                .to_owned();
            ensure!(
                output.code == 0,
                "exit {}:\n{told}{}{}",
                output.code,
                output.stdout,
                output.stderr
            );
            Ok(said)
        });
        Ok(guest)
    }

    fn boot(&self) -> Result<Guest> {
        let mut builder = Guest::builder(&Kit::usual())
            .bus(SlotWiring::OneBit25MHz)
            .out(self.out);
        for card in &self.cards {
            builder = builder.card(card);
        }
        Ok(builder.boot()?)
    }

    fn script(&self) -> String {
        format!(
            "export XDG_STATE_HOME=/out/state\n\
             {} --db /out/rig.db campaign run /out/rig.toml --erase=$(cat /sys/block/mmcblk0/device/cid) 2>/out/told\n\
             code=$?\necho ENDED >>/out/told\nexit $code\n",
            self.hakaru
        )
    }

    /// Waits until a run with at least this number starts, and returns its number.
    fn await_run(&self, guest: &mut Guest, number: u32) -> Result<u32> {
        let begun = Instant::now();
        loop {
            let told = std::fs::read_to_string(self.out.join("told")).unwrap_or_default();
            if told.contains("ENDED") {
                let output = guest.finish(LIMIT)?;
                anyhow::bail!(
                    "it ended with {} before run {number}:\n{told}{}",
                    output.code,
                    output.stdout
                );
            }
            // A line such as `[ 17/480] swift  raw  seq-write  #7`.
            let numbers = told
                .lines()
                .filter_map(|line| line.trim().strip_prefix('[')?.split_once('/'));
            let last = numbers
                .filter_map(|(number, _)| number.trim().parse::<u32>().ok())
                .next_back();
            if let Some(seen) = last.filter(|&last| last >= number) {
                return Ok(seen);
            }
            ensure!(
                begun.elapsed() < LIMIT,
                "run {number} did not begin in {} s:\n{told}",
                LIMIT.as_secs()
            );
            std::thread::sleep(Duration::from_millis(300));
        }
    }

    /// Picks a random run in part `part` of `of` of the campaign.
    fn chance(&self, part: u32, of: u32) -> u32 {
        // The standard library seeds each hash map randomly.
        let random = RandomState::new().hash_one(part);
        let part_len = (self.runs / of).max(1);
        part * part_len + (random % u64::from(part_len)) as u32 + 1
    }
}
