//! `cargo xtask rig smoke`: one machine, one card, the four workloads on every layer.

use super::checks::Checks;
use super::speed::RigStation;
use super::{cards, product, setup};
use crate::ci::StepOutcome;
use crate::workspace;
use anyhow::{Context, Result, ensure};
use hakaru_model::job::Op;
use hakaru_rig::card::CardLedger;
use hakaru_rig::guest::GuestBuilder;
use hakaru_rig::kit::{Arch, Kit};
use std::time::Duration;

/// Runs as a CI step: skipped if guests are not available.
///
/// # Errors
/// See [`main`].
pub(crate) fn step() -> Result<StepOutcome> {
    if let Err(why) = setup::ready(Arch::X86_64).and_then(|_| setup::layer_tools()) {
        let why = format!("no test machine can be started: {why:#}");
        return Ok(StepOutcome::Skipped(why));
    }
    let program = workspace::tested_program()?.display().to_string();
    Ok(match run(&["--hakaru".to_owned(), program])? {
        0 => StepOutcome::Passed,
        n => StepOutcome::NotJudged(format!(
            "the host was busy during {n} comparisons; all other checks passed"
        )),
    })
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
    let hakaru = setup::program(Arch::X86_64, product::HOST, &mut args)?.in_pc();
    ensure!(
        args.is_empty(),
        "cargo xtask rig smoke takes nothing but --hakaru FILE"
    );
    setup::head_start();
    let mut checks = Checks::new();
    let model = cards::nimble();
    let card = cards::make(model.clone())?;
    let mut guest = GuestBuilder::new(&Kit::usual()).card(&card).boot()?;
    let boot_time = guest.boot_time().as_secs_f64();
    checks.say(&format!("a PC started in {boot_time:.1} s"));
    checks.check("card", || {
        product::sees_card(&mut guest, &hakaru, "mmcblk0")
    });
    RigStation::new(&mut guest, &card, &model, "/dev/mmcblk0", &hakaru)
        .compare_all(&mut checks, "")?;
    card.take_ledger();
    checks.check("quick suite", || {
        product::quick_suite(&mut guest, &hakaru, Duration::from_secs(120))
    });
    checks.check("nothing outside the named range", || {
        written_in_range(&card.take_ledger())
    });
    guest.power_off()?;
    checks.close()
}

/// Checks that the quick suite wrote within its size.
fn written_in_range(ledger: &CardLedger) -> Result<String> {
    let writes = ledger.commands.iter().filter(|c| c.op == Op::Write);
    let end = writes.map(|c| c.offset.0 + c.len.0).max();
    let end = end.context("the suite wrote nothing")?;
    ensure!(end <= 16 << 20, "the suite wrote up to byte {end}");
    let written = ledger.of(Op::Write).bytes;
    Ok(format!(
        "{written} written, the last of them before byte {end}"
    ))
}
