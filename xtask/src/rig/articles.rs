//! `cargo xtask rig articles`: published commands as they were printed, down to sizes and times.
//!
//! Not those on vfat, whose file of 4095 MiB an emulated machine would fill for half an hour: they are checked with a
//! small file by the other parts.

use super::checks::Checks;
use super::layers::Layer;
use super::product::{self, Product};
use super::speed::{Shares, Station};
use super::{cards, jobs, setup};
use anyhow::{Context, Result, ensure};
use hakaru_model::job::Op;
use hakaru_model::price::PriceList;
use hakaru_model::units::Bytes;
use hakaru_rig::card::Ledger;
use hakaru_rig::guest::Guest;
use hakaru_rig::kit::{Arch, Kit};
use serde_json::Value;
use std::time::Duration;

/// The comparison of ext4 and f2fs, with sixteen clones of one job on one file.
const SIXTEEN: &str = "-filename=./testtmp -direct=1 -rw=randwrite -bs=4k -size=1000M -numjobs=16 -runtime=20 \
                       -group_reporting -name=file1";

/// Runs them.
///
/// # Errors
/// When a check fails, or the machine cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    setup::ready(Arch::X86_64)?;
    setup::layer_tools()?;
    let hakaru = Product::get(product::PC, &mut args)?.in_pc();
    let known = args.iter().all(|arg| ["raw", "sixteen"].contains(&arg.as_str()));
    ensure!(known, "cargo xtask rig articles takes raw, sixteen, and --hakaru FILE");
    let wants = |name: &str| args.is_empty() || args.iter().any(|arg| arg == name);
    setup::head_start();
    let mut checks = Checks::new();
    // As big as the cards were; nothing but what is written takes room.
    let prices = PriceList { capacity: Bytes(32 << 30), ..cards::nimble() };
    let card = cards::make(prices.clone())?;
    let mut guest = Guest::builder(&Kit::usual()).card(&card).boot()?;
    let (device, hakaru) = ("/dev/mmcblk0", hakaru.as_str());
    let mut station = Station { guest: &mut guest, card: &card, prices: &prices, device, hakaru };
    for workload in jobs::ALL.into_iter().filter(|_| wants("raw")) {
        let command = workload.command(&format!("--filename={device}"), "16G", 60);
        checks.check(&format!("fio {command}"), || station.compare_command(&command, workload, 60));
    }
    if wants("sixteen") {
        let ext4 = sixteen(&mut station, Layer::Ext4)?;
        checks.check(&format!("ext4: fio {SIXTEEN}"), || ext4.in_place(&prices));
        let f2fs = sixteen(&mut station, Layer::F2fs)?;
        checks.check(&format!("f2fs: fio {SIXTEEN}"), || f2fs.in_a_row(&ext4));
    }
    guest.power_off()?;
    checks.conclude()
}

/// What the sixteen wrote, and what the card was asked meanwhile.
struct Sixteen {
    iops: f64,
    ledger: Ledger,
}

fn sixteen(station: &mut Station<'_>, layer: Layer) -> Result<Sixteen> {
    station.prepare(layer)?;
    station.card.take_ledger();
    let script = format!("cd /mnt && {} fio {SIXTEEN} --output-format=json", station.hakaru);
    let json = station.guest.run(&script, Duration::from_secs(300))?.success()?;
    let ledger = station.card.take_ledger();
    station.clear(layer)?;
    let tree: Value = serde_json::from_str(&json).context("fio printed no JSON")?;
    ensure!(tree["jobs"][0]["error"] == 0, "an error ended the job");
    let iops = tree["jobs"][0]["write"]["iops"].as_f64().context("fio's JSON has no iops")?;
    Ok(Sixteen { iops, ledger })
}

impl Sixteen {
    /// ext4 writes each block where it belongs, so that each costs a seek.
    fn in_place(&self, prices: &PriceList) -> Result<String> {
        let random = jobs::ALL[2];
        let shares = Shares::of(&self.ledger, random, prices, 20);
        let expected = random.by_list(prices) / 4096.0 * shares.data * (1.0 - shares.idle);
        let off = self.iops / expected - 1.0;
        let text = format!("{:.0} IOPS where the list says {expected:.0} ({:+.1} %)", self.iops, off * 100.0);
        ensure!(off.abs() <= 0.05, "{text}");
        Ok(text)
    }

    /// f2fs writes block after block wherever they belong, and its tables besides: faster, and never faster than the
    /// card.
    fn in_a_row(&self, ext4: &Sixteen) -> Result<String> {
        let Sixteen { iops, ledger } = self;
        let card = ledger.of(Op::Write).bytes.0 as f64 / 4096.0 / ledger.busy().as_secs_f64();
        let text = format!("{iops:.0} IOPS, the card wrote {card:.0} blocks a second, ext4 had {:.0} IOPS", ext4.iops);
        ensure!(*iops > ext4.iops && *iops <= card * 1.05, "{text}");
        Ok(text)
    }
}
