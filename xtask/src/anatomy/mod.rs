//! `cargo xtask anatomy`: anatomies of random simulated cards, compared with the truth.

pub(crate) mod draw;
mod host_path;
pub(crate) mod score;
pub(crate) mod table;

use anyhow::{Context, Result, bail};
use draw::{CardKind, Disturbance, Drawer};
use hakaru_anatomy::{PredictionError, TimedDevice, Workload, budget, drive, predict, seconds_of};
use hakaru_campaign::anatomy::{AlteredDevice, SimulatedDevice};
use hakaru_model::anatomy::{Anatomy, CardProperty};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};
use score::{Score, score, truth};
use std::time::{SystemTime, UNIX_EPOCH};
use table::Totals;

/// Returns a simulated card with a disturbance that no model contains.
fn disturbed(model: &DeviceModel, disturbance: Disturbance, seed: u64) -> AlteredDevice {
    let mut rng = Rng::fork(seed, 5);
    // Period of a device whose speed switches, in ns.
    let period = (10 + rng.below(190)) * 1_000_000_000;
    let mut requests = 0_u64;
    let card = SimulatedDevice::new(model.clone(), seed);
    AlteredDevice::slower(card, move |card, latency| {
        requests += 1;
        let slower = Nanos(latency.0 / 5 * 3);
        match disturbance {
            Disturbance::BusyHost if requests.is_multiple_of(5) => {
                Nanos((-(1.0 - rng.unit()).ln() * 3e6) as u64)
            }
            Disturbance::TwoSpeeds if rng.below(5) == 0 => slower,
            Disturbance::Switching if card.now().0 % period > period / 2 => slower,
            Disturbance::HostPath => host_path::request_time(&mut rng, card.now(), period),
            _ => Nanos(0),
        }
    })
}

/// What to draw.
struct TrialOptions {
    models: u64,
    seed: u64,
    cards: CardKind,
    disturbance: Disturbance,
    /// Print each finding that is wrong.
    verbose: bool,
    /// Only read.
    read_only: bool,
    /// The only one of these models.
    only: Option<u64>,
}

/// Runs anatomies and predictions, prints the tables.
pub(crate) fn main(args: &[String]) -> Result<()> {
    let options = parse(args)?;
    println!(
        "{} models, seed {}, cards: {:?}, disturbance: {:?}",
        options.models, options.seed, options.cards, options.disturbance
    );
    let totals = trials(&options)?;
    println!("{}", totals.table());
    Ok(())
}

fn parse(args: &[String]) -> Result<TrialOptions> {
    let mut options = TrialOptions {
        models: 20,
        seed: fresh_seed()?,
        cards: CardKind::Usual,
        disturbance: Disturbance::Usual,
        verbose: false,
        read_only: false,
        only: None,
    };
    for arg in args {
        let (name, value) = arg.split_once('=').unwrap_or((arg, ""));
        let number = || number(arg, value);
        match name {
            "--models" => options.models = number()?,
            "--seed" => options.seed = number()?,
            "--read-only" => options.read_only = true,
            "--only" => options.only = Some(number()?),
            "--verbose" => options.verbose = true,
            "--cards" => {
                options.cards = match value {
                    "usual" => CardKind::Usual,
                    "slow" => CardKind::Slow,
                    "rig" => CardKind::Rig,
                    _ => bail!("{arg}: expected usual, slow or rig"),
                }
            }
            "--disturbance" => {
                options.disturbance = match value {
                    "noise" => Disturbance::Noise,
                    "drift" => Disturbance::Drift,
                    "busy" => Disturbance::BusyHost,
                    "two-speeds" => Disturbance::TwoSpeeds,
                    "switching" => Disturbance::Switching,
                    "host-path" => Disturbance::HostPath,
                    _ => bail!(
                        "{arg}: expected noise, drift, busy, two-speeds, switching or host-path"
                    ),
                }
            }
            _ => bail!(
                "{arg}: expected --models=N, --seed=S, --only=N, --cards=KIND, --disturbance=NAME, --read-only or --verbose"
            ),
        }
    }
    Ok(options)
}

/// Returns a seed that no earlier run had.
pub(crate) fn fresh_seed() -> Result<u64> {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH)?;
    Ok(clock.as_nanos() as u64)
}

/// Parses the value of an option.
pub(crate) fn number(arg: &str, value: &str) -> Result<u64> {
    value
        .parse()
        .with_context(|| format!("{arg}: not a number"))
}

/// Draws models one after the other, and adds up the scores.
fn trials(options: &TrialOptions) -> Result<Totals> {
    let mut totals = Totals::default();
    let wanted = |number: &u64| options.only.is_none_or(|only| only == *number);
    for number in (0..options.models).filter(wanted) {
        let mut drawer = Drawer(Rng::fork(options.seed, number));
        let model = drawer.card(
            options.cards,
            &format!("card {number}"),
            options.disturbance,
        );
        model.check().map_err(|why| anyhow::anyhow!(why))?;
        let seed = options.seed ^ number;
        let (anatomy, copied) = dissect(&model, options.disturbance, seed, options.read_only)?;
        for property in CardProperty::ALL {
            if options.disturbance.is_in(property) {
                continue;
            }
            let found = score(&model, &anatomy, property);
            totals.add(property, found);
            let shows = match found {
                Score::Wrong => true,
                Score::Declined | Score::Near => options.verbose,
                _ => false,
            };
            if shows {
                println!(
                    "{found:?}: card {number} {property:?}: {:?}, truth {:?}",
                    anatomy.finding(property),
                    truth(&model, property)
                );
                if found == Score::Wrong && options.verbose {
                    println!("  {model:?}");
                }
            }
        }
        let limit = budget(model.capacity, options.read_only);
        if totals.spent(&anatomy, copied, &limit) {
            println!("over the budget: card {number}, {copied} copied");
        }
        if totals.fits(&anatomy) {
            println!("fits no model: card {number}");
        }
        if options.verbose {
            print_spent(&model, &anatomy);
        }
        if options.disturbance.is_of_the_card() && !options.read_only {
            predictions(&model, &anatomy, seed, &mut totals, options.verbose)?;
        }
    }
    Ok(totals)
}

/// Prints what each experiment of a card cost.
fn print_spent(model: &DeviceModel, anatomy: &Anatomy) {
    let (cache, throttle) = (model.cache.is_some(), model.throttle.is_some());
    println!(
        "{}: {} cache {cache}, throttles {throttle}",
        model.name, model.capacity
    );
    for record in &anatomy.experiments {
        let spent = record.spent;
        println!(
            "  {:?}: {:.0} s, written {}, copied {}, repeats {}",
            record.experiment,
            seconds_of(spent.time),
            spent.written,
            spent.copied,
            record.repeats
        );
    }
}

/// Returns the anatomy of a simulated card, and what the card really copied inside.
fn dissect(
    model: &DeviceModel,
    disturbance: Disturbance,
    seed: u64,
    read_only: bool,
) -> Result<(Anatomy, Bytes)> {
    let mut anatomy = Anatomy::new(&model.name, model.capacity, read_only);
    let limit = budget(model.capacity, read_only);
    let mut device = disturbed(model, disturbance, seed);
    let observe = &mut |_: hakaru_anatomy::RunStep<'_>| {};
    let simulate =
        &mut |model| -> Box<dyn TimedDevice> { Box::new(SimulatedDevice::new(model, seed ^ 5)) };
    hakaru_anatomy::run(&mut device, &mut anatomy, limit, seed, simulate, observe)?;
    Ok((anatomy, device.card.copied()))
}

/// Predicts the held-out workloads, measures them on the true card, and adds up how well they agree.
fn predictions(
    model: &DeviceModel,
    anatomy: &Anatomy,
    seed: u64,
    totals: &mut Totals,
    verbose: bool,
) -> Result<()> {
    for (number, workload) in Workload::held_out().into_iter().enumerate() {
        let seed = seed.wrapping_add(1000 + number as u64);
        let mut simulate =
            |model| -> Box<dyn TimedDevice> { Box::new(SimulatedDevice::new(model, seed ^ 77)) };
        let predicted = match predict(anatomy, &workload, seed, &mut simulate) {
            Ok(predicted) => predicted,
            Err(PredictionError::Needs(property)) => {
                if verbose {
                    println!(
                        "no prediction of {}: {property:?} is unknown",
                        workload.name
                    );
                }
                totals.no_prediction(workload.name);
                continue;
            }
            Err(PredictionError::Device(error)) => return Err(error.into()),
        };
        let mut device = SimulatedDevice::new(model.clone(), seed ^ 999);
        let measured = drive(&workload, &mut device, seed)?.bandwidth();
        let error = predicted.bandwidth.value / measured - 1.0;
        let range = predicted.bandwidth.low..=predicted.bandwidth.high;
        let covers = range.contains(&measured);
        if verbose && error.abs() > 0.1 {
            println!(
                "{} {}: predicted {:.3} MB/s [{:.3}, {:.3}], measured {:.3}",
                model.name,
                workload.name,
                predicted.bandwidth.value / 1e6,
                predicted.bandwidth.low / 1e6,
                predicted.bandwidth.high / 1e6,
                measured / 1e6
            );
        }
        totals.prediction(workload.name, error, covers);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
