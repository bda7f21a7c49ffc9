//! `cargo xtask rig articles`: published commands as they were printed, down to sizes and times.
//!
//! Not those on vfat, whose file of 4095 MiB an emulated machine would fill for half an hour: they are checked with a
//! small file by the other parts.

use super::checks::Checks;
use super::layers::Layer;
use super::product::{self, Product};
use super::speed::{Station, data_share};
use super::{cards, jobs, setup};
use anyhow::{Context, Result, ensure};
use hakaru_model::price::PriceList;
use hakaru_model::units::Bytes;
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
    ensure!(args.is_empty(), "cargo xtask rig articles takes nothing but --hakaru FILE");
    setup::head_start();
    let mut checks = Checks::new();
    // As big as the cards were; nothing but what is written takes room.
    let prices = PriceList { capacity: Bytes(32 << 30), ..cards::nimble() };
    let card = cards::make(prices.clone())?;
    let mut guest = Guest::builder(&Kit::usual()).card(&card).boot()?;
    let (device, hakaru) = ("/dev/mmcblk0", hakaru.as_str());
    let mut station = Station { guest: &mut guest, card: &card, prices: &prices, device, hakaru };
    for workload in jobs::ALL {
        let command = workload.command(&format!("--filename={device}"), "16G", 60);
        checks.check(&format!("fio {command}"), || station.compare_command(&command, workload));
    }
    for layer in [Layer::Ext4, Layer::F2fs] {
        station.prepare(layer)?;
        checks.check(&format!("{}: fio {SIXTEEN}", layer.name()), || sixteen(&mut station));
        station.clear(layer)?;
    }
    guest.power_off()?;
    checks.conclude()
}

/// Runs the sixteen, and compares what they wrote with what the card took.
fn sixteen(station: &mut Station<'_>) -> Result<String> {
    station.card.take_ledger();
    let script = format!("cd /mnt && {} fio {SIXTEEN} --output-format=json", station.hakaru);
    let json = station.guest.run(&script, Duration::from_secs(300))?.success()?;
    let ledger = station.card.take_ledger();
    let tree: Value = serde_json::from_str(&json).context("fio printed no JSON")?;
    let write = &tree["jobs"][0]["write"];
    let iops = write["iops"].as_f64().context("fio's JSON has no iops")?;
    ensure!(tree["jobs"][0]["error"] == 0, "an error ended the job");
    let random = jobs::ALL[2];
    let expected = random.by_list(station.prices) / 4096.0 * data_share(&ledger, random, station.prices);
    let off = iops / expected - 1.0;
    let text = format!("{iops:.0} IOPS where the list says {expected:.0} ({:+.1} %)", off * 100.0);
    ensure!(off.abs() <= 0.05, "{text}");
    Ok(text)
}
