//! `cargo xtask rig articles`: published commands, with their original sizes and times, on three cards.
//!
//! Each card has its own guest, and all three run at the same time: a guest mostly waits for its card.

use super::checks::Checks;
use super::fat::enlarge_only_file;
use super::host::Patience;
use super::layers::RigLayer;
use super::product::{self, Product};
use super::speed::{CardTimeShares, RigStation};
use super::{cards, jobs, setup};
use anyhow::{Context, Result, ensure};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_rig::card::CardLedger;
use hakaru_rig::guest::Guest;
use hakaru_rig::kit::{Arch, Kit};
use serde_json::Value;
use std::time::Duration;

/// The selectable parts.
const PARTS: [&str; 3] = ["raw", "vfat", "sixteen"];

/// Published file size on vfat.
const VFAT_SIZE: (&str, u32) = ("4095M", 4095 << 20);

/// Maximum number of measurements of a figure that does not match.
const ATTEMPTS: u32 = 3;

/// The comparison of ext4 and f2fs, with sixteen clones of one job on one file.
const SIXTEEN: &str = "-filename=./testtmp -direct=1 -rw=randwrite -bs=4k -size=1000M -numjobs=16 -runtime=20 \
                       -group_reporting -name=file1";

/// Runs the commands.
///
/// # Errors
/// If a check fails, or a machine cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    setup::ready(Arch::X86_64)?;
    setup::layer_tools()?;
    let hakaru = Product::get(product::HOST, &mut args)?.in_pc();
    let lists = [cards::nimble(), cards::endurance(), cards::old()];
    let named = |word: &String| {
        PARTS.contains(&word.as_str()) || lists.iter().any(|list| list.name == *word)
    };
    ensure!(
        args.iter().all(named),
        "cargo xtask rig articles takes {PARTS:?}, names of cards, and --hakaru FILE"
    );
    let wants = |names: &[&str], one: &str| {
        let mut asked = args
            .iter()
            .filter(|arg| names.contains(&arg.as_str()))
            .peekable();
        asked.peek().is_none() || asked.any(|arg| arg == one)
    };
    setup::head_start();
    let mut checks = Checks::new();
    let names: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
    let parts: Vec<&str> = PARTS
        .into_iter()
        .filter(|part| wants(&PARTS, part))
        .collect();
    let (hakaru, parts) = (hakaru.as_str(), parts.as_slice());
    let made = std::thread::scope(|scope| {
        let wanted = lists.iter().filter(|list| wants(&names, &list.name));
        let benches: Vec<_> = wanted
            .map(|list| scope.spawn(|| on_card(list, hakaru, parts)))
            .collect();
        benches
            .into_iter()
            .map(|bench| bench.join())
            .collect::<Vec<_>>()
    });
    for made in made {
        checks.join(made.map_err(|_| anyhow::anyhow!("a thread of the bench panicked"))??);
    }
    checks.conclude()
}

/// Runs all parts on one card.
fn on_card(list: &DeviceModel, hakaru: &str, parts: &[&str]) -> Result<Checks> {
    let mut checks = Checks::new();
    // As large as the original cards; the backing file is sparse.
    let prices = DeviceModel {
        capacity: Bytes(32 << 30),
        ..list.clone()
    };
    let card = cards::make(prices.clone())?;
    let mut guest = Guest::builder(&Kit::usual()).card(&card).boot()?;
    let device = "/dev/mmcblk0";
    let mut station = RigStation {
        guest: &mut guest,
        card: &card,
        prices: &prices,
        device,
        hakaru,
        patience: Patience::new(),
    };
    if parts.contains(&"raw") {
        as_printed(
            &mut station,
            &mut checks,
            &format!("--filename={device}"),
            "16G",
        );
    }
    if parts.contains(&"vfat") {
        vfat(&mut station)?;
        as_printed(&mut station, &mut checks, "--directory=/mnt", VFAT_SIZE.0);
        station.clear(RigLayer::Vfat)?;
    }
    if parts.contains(&"sixteen") {
        sixteen_on_both(&mut station, &mut checks)?;
    }
    guest.power_off()?;
    Ok(checks)
}

/// Runs the four workloads on a target.
fn as_printed(station: &mut RigStation<'_>, checks: &mut Checks, target: &str, filesize: &str) {
    for workload in jobs::ALL {
        let command = workload.command(target, filesize, 60);
        let name = format!("{}: fio {command}", station.prices.name);
        checks.check(&name, || station.compare_command(&command, workload, 60));
    }
}

/// Prepares a vfat card with the file of the four workloads, whose clusters are allocated without writing.
fn vfat(station: &mut RigStation<'_>) -> Result<()> {
    let (device, file) = (station.device, "/mnt/write_bandwidth_test.0.0");
    let limit = Duration::from_secs(300);
    let mut run = |script: &str| -> Result<()> {
        station.card.hurry(true);
        let done = station.guest.run(script, limit);
        station.card.hurry(false);
        done?.success()?;
        Ok(())
    };
    run(&format!(
        "{}touch {file} && sync && umount /mnt && blockdev --flushbufs {device}",
        RigLayer::Vfat.make(device)
    ))?;
    enlarge_only_file(station.card, VFAT_SIZE.1)?;
    run(&format!(
        "fsck.vfat -n {device} && mount {device} /mnt && df /mnt && test $(stat -c %s {file}) = {}",
        VFAT_SIZE.1
    ))
}

/// Compares ext4 and f2fs; figures that do not match are measured again.
fn sixteen_on_both(station: &mut RigStation<'_>, checks: &mut Checks) -> Result<()> {
    let (prices, name) = (station.prices, station.prices.name.clone());
    let mut ext4 = sixteen(station, RigLayer::Ext4)?;
    for _ in 1..ATTEMPTS {
        if ext4.in_place(prices).is_err() {
            ext4 = sixteen(station, RigLayer::Ext4)?;
        }
    }
    checks.check(&format!("{name}, ext4: fio {SIXTEEN}"), || {
        ext4.in_place(prices)
    });
    let f2fs = sixteen(station, RigLayer::F2fs)?;
    checks.check(&format!("{name}, f2fs: fio {SIXTEEN}"), || {
        f2fs.in_a_row(&ext4)
    });
    Ok(())
}

/// Writes of the sixteen workers, and commands of the card.
struct SixteenWorkers {
    iops: f64,
    ledger: CardLedger,
}

fn sixteen(station: &mut RigStation<'_>, layer: RigLayer) -> Result<SixteenWorkers> {
    station.prepare(layer)?;
    station.card.take_ledger();
    let script = format!(
        "cd /mnt && {} fio {SIXTEEN} --output-format=json",
        station.hakaru
    );
    let json = station
        .guest
        .run(&script, Duration::from_secs(300))?
        .success()?;
    let ledger = station.card.take_ledger();
    station.clear(layer)?;
    let tree: Value = serde_json::from_str(&json).context("fio printed no JSON")?;
    ensure!(tree["jobs"][0]["error"] == 0, "an error ended the job");
    let iops = tree["jobs"][0]["write"]["iops"]
        .as_f64()
        .context("fio's JSON has no iops")?;
    Ok(SixteenWorkers { iops, ledger })
}

impl SixteenWorkers {
    /// ext4 writes each block in place, so each write costs a seek.
    fn in_place(&self, prices: &DeviceModel) -> Result<String> {
        let random = jobs::ALL[2];
        let shares = CardTimeShares::of(&self.ledger, random, prices, 20);
        let expected = random.by_list(prices) / 4096.0 * shares.data * (1.0 - shares.idle);
        let off = self.iops / expected - 1.0;
        let text = format!(
            "{:.0} IOPS where the list says {expected:.0} ({:+.1} %)",
            self.iops,
            off * 100.0
        );
        ensure!(off.abs() <= 0.03, "{text}");
        Ok(text)
    }

    /// f2fs writes all blocks sequentially, plus its metadata: faster than ext4, but never faster than the card.
    fn in_a_row(&self, ext4: &SixteenWorkers) -> Result<String> {
        let SixteenWorkers { iops, ledger } = self;
        let card = ledger.of(Op::Write).bytes.0 as f64 / 4096.0 / ledger.busy().as_secs_f64();
        let text = format!(
            "{iops:.0} IOPS, the card wrote {card:.0} blocks a second, ext4 had {:.0} IOPS",
            ext4.iops
        );
        ensure!(*iops > ext4.iops && *iops <= card * 1.05, "{text}");
        Ok(text)
    }
}
