//! `cargo xtask rig smoke`: one machine, one card, the four workloads on every layer.

use super::checks::Checks;
use super::host::Patience;
use super::layers::RigLayer;
use super::product::Product;
use super::speed::RigStation;
use super::{cards, jobs, product, setup};
use crate::ci::StepOutcome;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use hakaru_model::job::Op;
use hakaru_rig::guest::Guest;
use hakaru_rig::kit::{Arch, Kit};
use std::time::Duration;

/// Runs as a CI step: skipped if guests are not available.
///
/// # Errors
/// See [`main`].
pub(crate) fn step() -> Result<StepOutcome> {
    match setup::ready(Arch::X86_64).and_then(|_| setup::layer_tools()) {
        Ok(()) => {
            let program = workspace::tested_program()?;
            Ok(
                match run(&["--hakaru".to_owned(), program.display().to_string()])? {
                    0 => StepOutcome::Passed,
                    n => StepOutcome::NotJudged(format!(
                        "the host was busy during {n} comparisons; all other checks passed"
                    )),
                },
            )
        }
        Err(why) => Ok(StepOutcome::Skipped(format!(
            "no test machine can be had here: {why:#}"
        ))),
    }
}

/// Runs the smoke test.
///
/// # Errors
/// If a check fails, or the machine cannot be started.
pub(crate) fn main(args: &[String]) -> Result<()> {
    run(args).map(|_| ())
}

/// Runs the test, and returns the number of comparisons that were not judged.
fn run(args: &[String]) -> Result<usize> {
    let mut args = args.to_vec();
    setup::ready(Arch::X86_64)?;
    setup::layer_tools()?;
    let hakaru = Product::get(product::HOST, &mut args)?.in_pc();
    ensure!(
        args.is_empty(),
        "cargo xtask rig smoke takes nothing but --hakaru FILE"
    );
    setup::head_start();
    let mut checks = Checks::new();
    let prices = cards::nimble();
    let card = cards::make(prices.clone())?;
    let mut guest = Guest::builder(&Kit::usual()).card(&card).boot()?;
    checks.say(&format!(
        "a PC started in {:.1} s",
        guest.boot_time().as_secs_f64()
    ));
    checks.check("card", || {
        product::sees_card(&mut guest, &hakaru, "mmcblk0")
    });
    let (device, hakaru) = ("/dev/mmcblk0", hakaru.as_str());
    let mut station = RigStation {
        guest: &mut guest,
        card: &card,
        prices: &prices,
        device,
        hakaru,
        patience: Patience::new(),
    };
    for layer in RigLayer::ALL {
        station.prepare(layer)?;
        for workload in jobs::ALL {
            checks.check(&format!("{} {}", layer.name(), workload.rw), || {
                station.compare(layer, workload)
            });
        }
        station.clear(layer)?;
    }
    card.take_ledger();
    checks.check("quick suite", || {
        product::quick_suite(&mut guest, hakaru, Duration::from_secs(120))
    });
    checks.check("nothing outside the range named", || {
        let ledger = card.take_ledger();
        let end = ledger
            .commands
            .iter()
            .filter(|c| c.op == Op::Write)
            .map(|c| c.offset.0 + c.len.0)
            .max();
        let end = end.context("the suite wrote nothing")?;
        ensure!(end <= 16 << 20, "the suite wrote up to byte {end}");
        Ok(format!(
            "{} written, the last of them before byte {end}",
            ledger.of(Op::Write).bytes
        ))
    });
    guest.power_off()?;
    checks.close()
}
