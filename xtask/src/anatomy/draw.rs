//! Random device models with the mechanics of real cards.

use hakaru_model::anatomy::CardProperty;
use hakaru_model::device_model::{DeviceModel, Flash, MappingCache, Noise, SlcCache, Throttle};
use hakaru_model::rng::Rng;
use hakaru_model::units::{Bytes, Nanos};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Disturbance that is added to the models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disturbance {
    /// None: noise of 1 to 5% and rare stalls.
    Usual,
    /// Noise of 20%.
    Noise,
    /// Speed wanders by 15%.
    Drift,
    /// Every fifth request takes 3 ms longer on average.
    BusyHost,
    /// A fifth of all requests takes 1.6 times as long, for no reason that a request shows.
    TwoSpeeds,
    /// All requests take 1.6 times as long for half of every period of 10 to 200 s.
    Switching,
    /// The path of a request through an emulated machine takes 0.45 ms with noise of 25%, which wanders by 30% and is half
    /// as long again for 3 s of every minute. One request of 250 waits for another 13 ms.
    HostPath,
}

impl Disturbance {
    /// Returns whether a property includes the time of the host, which no model of a card contains.
    pub(crate) fn is_in(self, property: CardProperty) -> bool {
        let of_host = matches!(
            property,
            CardProperty::ReadOverhead | CardProperty::WriteOverhead | CardProperty::Discard
        );
        self == Disturbance::HostPath && of_host
    }

    /// Returns whether the device model contains it, so that its workloads can be predicted.
    pub(crate) fn is_of_the_card(self) -> bool {
        matches!(
            self,
            Disturbance::Usual | Disturbance::Noise | Disturbance::Drift
        )
    }
}

/// Kind of cards that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CardKind {
    /// Reads of 18 to 90 MB/s.
    Usual,
    /// Reads of 4 to 10 MB/s with noise of up to 10%; most throttle after 60 to 200 s.
    Slow,
    /// The cards of `cargo xtask rig anatomy`, without a guest.
    Rig,
}

/// Draws from a seed.
pub(crate) struct Drawer(pub(crate) Rng);

impl Drawer {
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    /// Draws evenly on a logarithmic scale.
    fn scaled(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.0.unit())
    }

    fn micros(&mut self, low: f64, high: f64) -> Nanos {
        Nanos((self.scaled(low, high) * 1e3) as u64)
    }

    fn rate(&mut self, low: f64, high: f64) -> u64 {
        (self.scaled(low, high) * 1e6) as u64
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.0.below(100) < percent
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.0.below(list.len() as u64) as usize]
    }

    pub(crate) fn model(&mut self, name: &str, disturbance: Disturbance) -> DeviceModel {
        let gib = self.of(&[8u64, 16, 16, 32, 32, 64, 128]);
        let capacity = self.between(gib * 900, gib * 990) * MIB * 1024 / 1000 / (4 * MIB) * 4 * MIB;
        let mut model = DeviceModel::plain(name, Bytes(capacity));
        (model.read_seek, model.write_seek) = (Nanos(0), Nanos(0));
        model.read_rate = self.rate(18.0, 90.0);
        model.write_rate = self.rate(5.0, 45.0);
        model.read_overhead = self.micros(150.0, 700.0);
        model.write_overhead = self.micros(200.0, 1500.0);
        model.write_to_read = self.turn();
        model.read_to_write = self.turn();
        model.flush = self.micros(100.0, 8000.0);
        model.parallel_reads = self.of(&[1, 1, 1, 1, 1, 2, 3, 4, 8]);
        model.flash = Some(self.flash(gib));
        if self.chance(40) {
            let most = (capacity / 12).min(900 * MIB) as f64;
            model.cache = Some(SlcCache {
                size: Bytes(self.scaled(48e6, most) as u64),
                write_rate: (model.write_rate as f64 * self.scaled(1.4, 4.0)) as u64,
                drain_rate: self.rate(2.0, 50.0),
                drain_delay: Nanos(match self.chance(30) {
                    true => 0,
                    false => self.between(300, 4000) * 1_000_000,
                }),
            });
        }
        if self.chance(25) {
            let after = self.between(30, 180) * 1_000_000_000;
            model.throttle = Some(Throttle {
                after: Nanos(after),
                percent: self.between(130, 260) as u32,
                until: Some(Nanos(after / 100 * self.between(30, 80))),
            });
        }
        model.noise = Some(self.noise(disturbance));
        model
    }

    /// Draws a card of a kind.
    pub(crate) fn card(
        &mut self,
        kind: CardKind,
        name: &str,
        disturbance: Disturbance,
    ) -> DeviceModel {
        match kind {
            CardKind::Usual => self.model(name, disturbance),
            CardKind::Slow => self.slow_model(name, disturbance),
            CardKind::Rig => self.rig_model(name),
        }
    }

    /// Draws a card as slow as old ones, and ones on a slow bus.
    fn slow_model(&mut self, name: &str, disturbance: Disturbance) -> DeviceModel {
        let mut model = self.model(name, disturbance);
        model.capacity = Bytes(self.of(&[4, 8, 8, 16, 32]) << 30);
        model.read_rate = self.rate(4.0, 10.0);
        model.write_rate = self.rate(3.0, 8.0);
        model.read_overhead = self.micros(300.0, 1500.0);
        if let Some(cache) = &mut model.cache {
            cache.size = Bytes(self.scaled(48e6, 160e6) as u64);
            cache.write_rate = (model.write_rate as f64 * self.scaled(1.4, 2.0)) as u64;
        }
        if let Some(flash) = &mut model.flash {
            flash.sense = self.micros(150.0, 800.0);
            let most = (model.capacity.0 / (16 * MIB) / 3) as u32;
            if let Some(mapping) = &mut flash.mapping {
                mapping.slots = mapping.slots.min(most);
            }
        }
        if let Some(noise) = &mut model.noise
            && disturbance == Disturbance::Usual
        {
            noise.sigma_permille = self.between(10, 100) as u32;
        }
        model.throttle = self.chance(60).then(|| {
            let after = self.between(60, 200) * 1_000_000_000;
            Throttle {
                after: Nanos(after),
                percent: self.between(130, 260) as u32,
                until: Some(Nanos(after / 100 * self.between(30, 80))),
            }
        });
        model
    }

    /// Draws a card for the rig: slow enough for an emulated machine, without a fixed time of a command, of which one that
    /// continues the last one is a part, and with consecutive small writes gathered for the same reason. Reads are not
    /// parallel, as in every machine without a command queue.
    pub(crate) fn rig_model(&mut self, name: &str) -> DeviceModel {
        let mut model = self.model(name, Disturbance::Usual);
        model.capacity = Bytes(8 << 30);
        (model.read_overhead, model.write_overhead) = (Nanos(0), Nanos(0));
        model.read_seek = self.micros(800.0, 1600.0);
        model.write_seek = self.micros(1500.0, 4000.0);
        model.read_rate = self.rate(2.5, 3.5);
        model.write_rate = self.rate(2.5, 3.5);
        for turn in [&mut model.write_to_read, &mut model.read_to_write] {
            turn.0 = match turn.0 {
                0 => 0,
                _ => self.micros(800.0, 3000.0).0,
            };
        }
        (model.flush, model.parallel_reads) = (Nanos(0), 1);
        if let Some(cache) = &mut model.cache {
            cache.size = Bytes(self.scaled(48e6, 80e6) as u64);
            cache.write_rate = (model.write_rate as f64 * self.scaled(1.3, 1.6)) as u64;
            cache.drain_rate = self.rate(2.0, 20.0);
        }
        model.noise = Some(Noise {
            sigma_permille: self.between(10, 30) as u32,
            ..Noise::default()
        });
        if let Some(flash) = &mut model.flash {
            flash.gathers_writes = true;
            flash.unit = Bytes(match flash.page.0 == 48 * KIB {
                true => 3 * MIB,
                false => self.of(&[1, 2, 4]) * MIB,
            });
            flash.sense = self.micros(400.0, 1000.0);
            flash.open = self.micros(3000.0, 15_000.0);
            if flash.unit_crossing.0 > 0 {
                flash.unit_crossing = self.micros(600.0, 1500.0);
            }
            flash.random_write = self.micros(2000.0, 8_000.0);
            flash.collection_rate = self.rate(8.0, 40.0);
            if let Some(mapping) = &mut flash.mapping {
                mapping.slots = self.scaled(4.0, 60.0) as u32;
                mapping.load = self.micros(500.0, 1500.0);
            }
        }
        model
    }

    /// Draws the cost of a change of direction; most cards have one.
    fn turn(&mut self) -> Nanos {
        match self.chance(30) {
            true => Nanos(0),
            false => self.micros(40.0, 600.0),
        }
    }

    fn flash(&mut self, gib: u64) -> Flash {
        let page = self.of(&[4, 8, 8, 16, 16, 16, 32, 48, 64]) * KIB;
        let small = [2, 4, 4, 4, 8, 8, 12];
        let large = [4, 4, 8, 16, 24, 32, 64];
        let unit = match (page == 48 * KIB, gib <= 16) {
            (true, true) => self.of(&[6, 12]),
            (true, false) => self.of(&[12, 24, 48]),
            (false, true) => self.of(&small),
            (false, false) => self.of(&large),
        } * MIB;
        let open_units = match self.chance(12) {
            true => 200,
            false => self.between(1, 10) as u32,
        };
        let random_units = match self.chance(35) {
            true => 0,
            false => self.between(1, u64::from(open_units)) as u32,
        };
        Flash {
            page: Bytes(page),
            sense: self.micros(40.0, 150.0),
            gathers_writes: self.chance(50),
            unit: Bytes(unit),
            open: self.micros(300.0, 4000.0),
            unit_crossing: match self.chance(25) {
                true => Nanos(0),
                false => self.micros(20.0, 300.0),
            },
            open_units,
            random_units,
            random_write: self.micros(50.0, 1500.0),
            collection_rate: self.rate(12.0, 90.0),
            fat_units: match self.chance(50) {
                true => 0,
                false => self.between(1, 6) as u32,
            },
            mapping: self.mapping(gib),
            discard: self.micros(50.0, 2000.0),
            discard_frees: self.chance(50),
        }
    }

    fn mapping(&mut self, gib: u64) -> Option<MappingCache> {
        let most = (gib * 1024 / 16 / 3).min(700);
        self.chance(65).then(|| MappingCache {
            chunk: Bytes(self.of(&[256, 512, 768, 1024, 2048, 4096, 6144, 8192, 16384]) * KIB),
            slots: self.scaled(4.0, most as f64) as u32,
            load: self.micros(40.0, 400.0),
        })
    }

    fn noise(&mut self, disturbance: Disturbance) -> Noise {
        let mut noise = Noise {
            sigma_permille: self.between(10, 50) as u32,
            ..Noise::default()
        };
        if self.chance(60) {
            noise.stalls_per_million = self.between(50, 1500) as u32;
            noise.stall_mean = self.micros(20_000.0, 300_000.0);
        }
        match disturbance {
            Disturbance::Noise => noise.sigma_permille = 200,
            Disturbance::Drift => {
                noise.drift_permille = 150;
                noise.drift_period = Nanos(self.between(60, 900) * 1_000_000_000);
            }
            Disturbance::Usual
            | Disturbance::BusyHost
            | Disturbance::TwoSpeeds
            | Disturbance::Switching
            | Disturbance::HostPath => {}
        }
        noise
    }
}
