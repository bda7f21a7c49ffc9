//! `cargo xtask rig articles`: published commands, with their original sizes and times, on three cards.
//!
//! Each card has its own guest, and all three run at the same time: a guest mostly waits for its card.

use super::checks::Checks;
use super::fat::enlarge_only_file;
use super::layers::RigLayer;
use super::speed::{CardTimeShares, RigStation};
use super::{cards, jobs, product, setup};
use anyhow::{Context, Result, ensure};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::Op;
use hakaru_model::units::Bytes;
use hakaru_rig::card::CardLedger;
use hakaru_rig::guest::GuestBuilder;
use hakaru_rig::kit::{Arch, Kit};
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
    let hakaru = setup::program(Arch::X86_64, product::HOST, &mut args)?.in_pc();
    let models = cards::compared();
    let names = models.each_ref().map(|model| model.name.as_str());
    let named = |word: &str| PARTS.contains(&word) || names.contains(&word);
    ensure!(
        args.iter().all(|arg| named(arg)),
        "cargo xtask rig articles takes {PARTS:?}, names of cards, and --hakaru FILE"
    );
    let parts = selected(PARTS, &args);
    let wanted = selected(names, &args);
    setup::head_start();
    let mut checks = Checks::new();
    let (hakaru, parts) = (hakaru.as_str(), parts.as_slice());
    let results: Vec<_> = std::thread::scope(|scope| {
        let wanted = models
            .iter()
            .filter(|model| wanted.contains(&model.name.as_str()));
        let threads: Vec<_> = wanted
            .map(|model| scope.spawn(|| on_card(model, hakaru, parts)))
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    for result in results {
        checks.join(result.map_err(|_| anyhow::anyhow!("a thread of the rig panicked"))??);
    }
    checks.conclude()
}

/// The names that occur in the arguments, or all if none does.
fn selected<'a>(names: [&'a str; 3], args: &[String]) -> Vec<&'a str> {
    let occurs = |name: &&str| args.iter().any(|arg| arg == name);
    let any = names.iter().any(occurs);
    names
        .into_iter()
        .filter(|name| !any || occurs(name))
        .collect()
}

/// Runs all parts on one card.
fn on_card(model: &DeviceModel, hakaru: &str, parts: &[&str]) -> Result<Checks> {
    let mut checks = Checks::new();
    // As large as the original cards; the backing file is sparse.
    let model = DeviceModel {
        capacity: Bytes(32 << 30),
        ..model.clone()
    };
    let card = cards::make(model.clone())?;
    let mut guest = GuestBuilder::new(&Kit::usual()).card(&card).boot()?;
    let mut station = RigStation::new(&mut guest, &card, &model, "/dev/mmcblk0", hakaru);
    if parts.contains(&"raw") {
        let target = format!("--filename={}", station.device);
        as_printed(&mut station, &mut checks, &target, "16G");
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
        let name = format!("{}: fio {command}", station.model.name);
        checks.check(&name, || station.compare_command(&command, workload, 60));
    }
}

/// Prepares a vfat card with the file of the four workloads, whose clusters are allocated without writing.
fn vfat(station: &mut RigStation<'_>) -> Result<()> {
    let (device, file) = (station.device, "/mnt/write_bandwidth_test.0.0");
    let limit = Duration::from_secs(300);
    let create = format!(
        "{}touch {file} && sync && umount /mnt && blockdev --flushbufs {device}",
        RigLayer::Vfat.make(device)
    );
    station.without_delay(&create, limit)?;
    let (_, size) = VFAT_SIZE;
    enlarge_only_file(station.card, size)?;
    let mount = format!(
        "fsck.vfat -n {device} && mount {device} /mnt && df /mnt && test $(stat -c %s {file}) = {size}"
    );
    station.without_delay(&mount, limit)
}

/// Compares ext4 and f2fs; figures that do not match are measured again.
fn sixteen_on_both(station: &mut RigStation<'_>, checks: &mut Checks) -> Result<()> {
    let (model, name) = (station.model, &station.model.name);
    let mut ext4 = sixteen(station, RigLayer::Ext4)?;
    for _ in 1..ATTEMPTS {
        if ext4.in_place(model).is_err() {
            ext4 = sixteen(station, RigLayer::Ext4)?;
        }
    }
    checks.check(&format!("{name}, ext4: fio {SIXTEEN}"), || {
        ext4.in_place(model)
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
    let limit = Duration::from_secs(300);
    let json = station.guest.check_output(&script, limit)?;
    let ledger = station.card.take_ledger();
    station.clear(layer)?;
    let iops = product::fio_job(&json)?["write"]["iops"].as_f64();
    let iops = iops.context("fio's JSON has no iops")?;
    Ok(SixteenWorkers { iops, ledger })
}

impl SixteenWorkers {
    /// ext4 writes each block in place, so each write costs a seek.
    fn in_place(&self, model: &DeviceModel) -> Result<String> {
        let random = jobs::ALL[2];
        let shares = CardTimeShares::of(&self.ledger, random, model, 20);
        let expected = random.expected(model) / 4096.0 * shares.data * (1.0 - shares.idle);
        let off = self.iops / expected - 1.0;
        let text = format!(
            "{:.0} IOPS, {expected:.0} by the device model ({:+.1}%)",
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
