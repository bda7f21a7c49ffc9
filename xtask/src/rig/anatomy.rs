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
use std::hash::{DefaultHasher, Hasher};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest time of one anatomy: its budget of 30 minutes, and the computation in an emulated machine.
const LIMIT: Duration = Duration::from_secs(3600);

/// Gaps inside of a command that are absorbed if QEMU does not tell where commands begin: shorter than most of the guest
/// between two.
const GAPS: Nanos = Nanos(250_000);

/// Most wrong findings in percent.
const MOST_WRONG: f64 = 2.0;

/// Properties that are not compared, because the rig cannot show them. Its cards have no fixed time of a command, so that
/// the anatomy finds that of the host's path. QEMU does not execute flushes, and executes discards as writes.
const OF_QEMU: [CardProperty; 5] = [
    CardProperty::ReadOverhead,
    CardProperty::WriteOverhead,
    CardProperty::Flush,
    CardProperty::Discard,
    CardProperty::DiscardFrees,
];

/// Files of a card: its model, the anatomy, and the digest of the program that examined it.
const MODEL: &str = "model.json";
const ANATOMY: &str = "anatomy.json";
const PROGRAM: &str = "program.txt";

/// What to examine.
struct AnatomyPart {
    models: u64,
    seed: u64,
    /// Machines that run at the same time.
    at_once: u64,
    /// Numbers of the only cards to examine; empty for all.
    only: Vec<u64>,
    /// Examine cards again whose anatomies an earlier run left.
    fresh: bool,
}

/// A card, and what makes an anatomy of it the same.
struct CardTrial {
    /// Directory of its files.
    dir: PathBuf,
    model: DeviceModel,
    /// Seed of the card's noise, and of the anatomy.
    seed: u64,
    /// Digest of the program.
    program: String,
}

/// The run that examined a card.
enum Origin {
    ThisRun,
    EarlierRun,
}

impl Origin {
    fn text(&self) -> &'static str {
        match self {
            Origin::ThisRun => "examined now",
            Origin::EarlierRun => "taken from an earlier run",
        }
    }
}

/// Examines the cards, prints how the findings compare with the truth.
///
/// # Errors
/// If a machine cannot be started, an anatomy fails, or too many findings are wrong.
pub(super) fn main(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let program = setup::program(Arch::X86_64, product::HOST, &mut args)?;
    let part = parse(&args)?;
    let digest = digest(program.file())?;
    setup::head_start();
    setup::real_time();
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
                    if !part.only.is_empty() && !part.only.contains(&number) {
                        continue;
                    }
                    let trial = CardTrial::draw(&out, part.seed, number, &digest);
                    let found = trial.anatomy(&rig, part.fresh);
                    let mut totals = totals.lock().unwrap_or_else(PoisonError::into_inner);
                    let (totals, checks) = &mut *totals;
                    let name = format!("card {number}");
                    checks.check(&name, || compare(&trial.model, &found?, totals));
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
        only: Vec::new(),
        fresh: false,
    };
    for arg in args {
        let (name, value) = arg.split_once('=').unwrap_or((arg, ""));
        match name {
            "--models" => part.models = number(arg, value)?,
            "--seed" => part.seed = number(arg, value)?,
            "--at-once" => part.at_once = number(arg, value)?.clamp(1, 16),
            "--only" => {
                let numbers = value.split(',').map(|one| number(arg, one));
                part.only = numbers.collect::<Result<_>>()?;
            }
            "--fresh" if value.is_empty() => part.fresh = true,
            _ => bail!(
                "{arg}: expected --models=N, --seed=S, --only=N,N, --fresh, --at-once=N or --hakaru FILE"
            ),
        }
    }
    if let Some(absent) = part.only.iter().find(|number| **number >= part.models) {
        bail!(
            "--only={absent}: the cards are numbered from 0 to {}",
            part.models.saturating_sub(1)
        );
    }
    Ok(part)
}

/// Returns a digest of a program: another build may find something else.
fn digest(program: &Path) -> Result<String> {
    let content = std::fs::read(program).with_context(|| format!("read {}", program.display()))?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&content);
    Ok(format!("{:016x}", hasher.finish()))
}

impl CardTrial {
    /// Draws the card with a number.
    fn draw(out: &Path, seed: u64, number: u64, program: &str) -> CardTrial {
        let mut drawer = Drawer(Rng::fork(seed, number));
        CardTrial {
            dir: out.join(number.to_string()),
            model: drawer.rig_model(&format!("card {number}")),
            seed: seed ^ number,
            program: program.to_owned(),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Returns the anatomy of the card: that of an earlier run unless it must be a fresh one.
    fn anatomy(&self, rig: &RigSetup, fresh: bool) -> Result<(AnatomyRecord, Origin)> {
        match self.earlier().filter(|_| !fresh) {
            Some(record) => Ok((record, Origin::EarlierRun)),
            None => Ok((self.examine(rig)?, Origin::ThisRun)),
        }
    }

    /// Returns the complete anatomy that an earlier run left, if the same program examined the same card with the same
    /// seed.
    fn earlier(&self) -> Option<AnatomyRecord> {
        let read = |name| std::fs::read_to_string(self.file(name)).ok();
        let model: DeviceModel = serde_json::from_str(&read(MODEL)?).ok()?;
        let record: AnatomyRecord = serde_json::from_str(&read(ANATOMY)?).ok()?;
        let is_same = read(PROGRAM)? == self.program && model == self.model;
        (is_same && record.completed && record.seed == self.seed).then_some(record)
    }

    /// Examines the card in a machine.
    fn examine(&self, rig: &RigSetup) -> Result<AnatomyRecord> {
        let CardTrial {
            dir,
            model,
            seed,
            program,
        } = self;
        model.check().map_err(anyhow::Error::msg)?;
        std::fs::create_dir_all(dir)?;
        // The anatomy of another card or program must not pass for this one if the run is interrupted.
        for stale in [PROGRAM, ANATOMY] {
            match std::fs::remove_file(self.file(stale)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        std::fs::write(self.file(MODEL), serde_json::to_string_pretty(model)?)?;
        let card = SimulatedCard::new(model.clone(), *seed)?;
        let card = Arc::new(card.absorbing_inside(GAPS).with_traced_commands());
        let mut guest = rig.with(&card).out(dir).boot()?;
        let script = format!(
            "echo 0 >/sys/block/mmcblk0/queue/discard_max_bytes; cd /tmp && {} --db /tmp/a.db anatomy /dev/mmcblk0 {} \
             --seed {seed} --output /out/page.html --json >/out/{ANATOMY}",
            rig.hakaru,
            product::ERASE
        );
        let said = guest.run(&script, LIMIT)?;
        ensure!(said.code == 0, "exit code {}: {}", said.code, said.both());
        guest.power_off()?;
        let json = std::fs::read_to_string(self.file(ANATOMY))?;
        let record =
            serde_json::from_str(&json).context("`hakaru anatomy --json` printed no anatomy")?;
        std::fs::write(self.file(PROGRAM), program)?;
        Ok(record)
    }
}

/// Adds the scores of a card, and lists what is not right.
fn compare(
    model: &DeviceModel,
    (record, origin): &(AnatomyRecord, Origin),
    totals: &mut Totals,
) -> Result<String> {
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
    Ok(format!(
        "{right} right, {}{}",
        origin.text(),
        others.concat()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_campaign::anatomy::{new_record, simulated_identity};
    use hakaru_model::anatomy_record::AnatomyScope;

    fn parsed(args: &[&str]) -> Result<AnatomyPart> {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        parse(&args)
    }

    #[test]
    fn only_takes_a_list_of_cards_that_are_drawn() {
        assert_eq!(parsed(&["--only=0,3,4"]).unwrap().only, [0, 3, 4]);
        assert!(parsed(&[]).unwrap().only.is_empty());
        for wrong in ["--only=", "--only=1,", "--only=10", "--fresh=1"] {
            assert!(parsed(&[wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_anatomy_is_taken_only_from_the_same_card_seed_and_program() {
        let out = tempfile::tempdir().unwrap();
        let trial = CardTrial::draw(out.path(), 7, 3, "one");
        assert!(trial.earlier().is_none());
        std::fs::create_dir(&trial.dir).unwrap();
        let identity = simulated_identity(&trial.model);
        let (scope, size) = (AnatomyScope::Device, trial.model.capacity);
        let mut record = new_record(identity, scope, size, trial.seed);
        let store = |record: &AnatomyRecord| {
            let json = serde_json::to_string(record).unwrap();
            std::fs::write(trial.file(ANATOMY), json).unwrap();
        };
        let model = serde_json::to_string(&trial.model).unwrap();
        std::fs::write(trial.file(MODEL), model).unwrap();
        store(&record);
        std::fs::write(trial.file(PROGRAM), "one").unwrap();
        assert!(trial.earlier().is_none(), "it is incomplete");
        record.completed = true;
        store(&record);
        assert_eq!(trial.earlier(), Some(record));
        for (seed, number, program) in [(8, 3, "one"), (7, 3, "two")] {
            let other = CardTrial::draw(out.path(), seed, number, program);
            assert!(other.earlier().is_none(), "{seed} {program}");
        }
        std::fs::remove_file(trial.file(PROGRAM)).unwrap();
        assert!(trial.earlier().is_none(), "it was interrupted");
    }
}
