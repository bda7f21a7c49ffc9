//! `cargo xtask rig anatomy`: anatomies of random cards through the MMC stack of a guest, compared with the truth.

use super::checks::Checks;
use super::full::RigSetup;
use super::{product, setup};
use crate::anatomy::draw::Drawer;
use crate::anatomy::score::{Score, score};
use crate::anatomy::table::Totals;
use crate::anatomy::{fresh_seed, number};
use anyhow::{Context, Result, bail, ensure};
use hakaru_model::anatomy::{CardFinding, CardProperty};
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use hakaru_rig::card::SimulatedCard;
use hakaru_rig::kit::{Arch, Kit};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest time of one anatomy: its budget of 30 minutes, and the computation in an emulated machine.
const LIMIT: Duration = Duration::from_secs(3600);

/// Gaps inside of a command that are absorbed: shorter than those of the guest between two commands.
const GAPS: Nanos = Nanos(250_000);

/// Most wrong findings in percent.
const MOST_WRONG: f64 = 2.0;

/// Properties that the rig does not have. Its cards have no fixed time of a command, so that of the host's path is found;
/// QEMU executes no flush, and plays erase commands as writes.
const OF_QEMU: [CardProperty; 5] = [
    CardProperty::ReadOverhead,
    CardProperty::WriteOverhead,
    CardProperty::Flush,
    CardProperty::Discard,
    CardProperty::DiscardFrees,
];

/// What to examine.
struct AnatomyPart {
    models: u64,
    seed: u64,
    /// Machines that run at the same time.
    at_once: u64,
    only: Option<u64>,
}

/// Examines the cards, prints how the findings compare with the truth.
///
/// # Errors
/// If a machine cannot be started, an anatomy fails, or too many findings are wrong.
pub(super) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let program = setup::program(Arch::X86_64, product::HOST, &mut args)?;
    let part = parse(&args)?;
    setup::head_start();
    let rig = RigSetup {
        kit: Kit::usual(),
        hakaru: program.in_pc(),
    };
    let out = Kit::usual().dir().join("anatomy");
    std::fs::create_dir_all(&out)?;
    let out = out.canonicalize()?;
    let mut checks = Checks::new();
    checks.say(&format!("{} models, seed {}", part.models, part.seed));
    let totals = Mutex::new((Totals::default(), &mut checks));
    let next = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..part.at_once {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= part.models {
                        return;
                    }
                    if part.only.is_some_and(|only| only != number) {
                        continue;
                    }
                    let (model, found) = examined(&rig, &out, part.seed, number);
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    let (totals, checks) = &mut *totals;
                    let name = format!("card {number}");
                    checks.check(&name, || compare(&model, &found?, totals));
                }
            });
        }
    });
    let (totals, checks) = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{}", totals.table());
    let wrong = totals.wrong_percent();
    checks.check("wrong findings", || {
        ensure!(wrong <= MOST_WRONG, "{wrong:.2}%");
        Ok(format!("{wrong:.2}%"))
    });
    println!("models and anatomies are in {}", out.display());
    std::mem::replace(checks, Checks::new()).conclude()
}

fn parse(args: &[String]) -> Result<AnatomyPart> {
    let mut part = AnatomyPart {
        models: 10,
        seed: fresh_seed()?,
        at_once: 2,
        only: None,
    };
    for arg in args {
        let (name, value) = arg.split_once('=').unwrap_or((arg, ""));
        match name {
            "--models" => part.models = number(arg, value)?,
            "--seed" => part.seed = number(arg, value)?,
            "--at-once" => part.at_once = number(arg, value)?.clamp(1, 16),
            "--only" => part.only = Some(number(arg, value)?),
            _ => bail!(
                "{arg}: expected --models=N, --seed=S, --only=N, --at-once=N or --hakaru FILE"
            ),
        }
    }
    Ok(part)
}

/// Draws a card and examines it in a machine.
fn examined(
    rig: &RigSetup,
    out: &Path,
    seed: u64,
    number: u64,
) -> (DeviceModel, Result<AnatomyRecord>) {
    let mut drawer = Drawer(Rng::fork(seed, number));
    let model = drawer.rig_model(&format!("card {number}"));
    let dir = out.join(number.to_string());
    let found = examine(rig, &dir, &model, seed ^ number);
    (model, found)
}

fn examine(rig: &RigSetup, dir: &Path, model: &DeviceModel, seed: u64) -> Result<AnatomyRecord> {
    model.check().map_err(anyhow::Error::msg)?;
    std::fs::create_dir_all(dir)?;
    let file = |name: &str| -> PathBuf { dir.join(name) };
    std::fs::write(file("model.json"), serde_json::to_string_pretty(model)?)?;
    let card = Arc::new(SimulatedCard::new(model.clone(), seed)?.absorbing_inside(GAPS));
    let mut guest = rig.with(&card).out(dir).boot()?;
    let script = format!(
        "echo 0 >/sys/block/mmcblk0/queue/discard_max_bytes; cd /tmp && {} --db /tmp/a.db anatomy /dev/mmcblk0 {} \
         --seed {seed} --output /out/page.html --json >/out/anatomy.json",
        rig.hakaru,
        product::ERASE
    );
    let said = guest.run(&script, LIMIT)?;
    ensure!(said.code == 0, "exit code {}: {}", said.code, said.both());
    guest.power_off()?;
    let json = std::fs::read_to_string(file("anatomy.json"))?;
    serde_json::from_str(&json).context("`hakaru anatomy --json` printed no anatomy")
}

/// Adds the scores of a card, and lists what is not right.
fn compare(model: &DeviceModel, record: &AnatomyRecord, totals: &mut Totals) -> Result<String> {
    ensure!(record.completed, "the anatomy is incomplete");
    let (mut right, mut others) = (0, Vec::new());
    for property in CardProperty::ALL {
        if OF_QEMU.contains(&property) {
            continue;
        }
        let found = score(model, &record.anatomy, property);
        totals.add(property, found);
        match found {
            Score::Right => right += 1,
            Score::NotApplicable => {}
            Score::Near | Score::Declined | Score::Wrong => {
                let finding = record.anatomy.finding(property);
                let is_declined = matches!(finding, CardFinding::Unknown(_));
                let detail = if is_declined {
                    String::new()
                } else {
                    format!(" {finding:?}")
                };
                others.push(format!("\n    {found:?}: {property:?}{detail}"));
            }
        }
    }
    totals.spent(&record.anatomy, Bytes(0), &record.budget);
    totals.fits(&record.anatomy);
    Ok(format!("{right} right{}", others.concat()))
}
