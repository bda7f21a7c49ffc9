//! Random sample of requests.

use hakaru_model::io_path::{IoClass, RequestSample, SampledRequest};
use hakaru_model::rng::Rng;
use std::collections::BTreeMap;

/// Draws from each class separately, so that rare classes stay visible. Source: reservoir sampling, algorithm R (Vitter
/// 1985), with a fixed seed: the same requests give the same sample.
#[derive(Debug)]
pub(crate) struct Reservoir {
    rng: Rng,
    classes: BTreeMap<IoClass, (u64, Vec<SampledRequest>)>,
}

impl Default for Reservoir {
    fn default() -> Reservoir {
        Reservoir {
            rng: Rng::new(0x6861_6b61_7275),
            classes: BTreeMap::new(),
        }
    }
}

impl Reservoir {
    /// Largest sample of data.
    const MAX_DATA: usize = 4000;
    /// Largest sample of any other class.
    const MAX_OTHER: usize = 1000;

    /// Adds a request.
    pub(crate) fn add(&mut self, request: SampledRequest) {
        let max = match request.class {
            IoClass::Data => Self::MAX_DATA,
            _ => Self::MAX_OTHER,
        };
        let (seen, sample) = self.classes.entry(request.class).or_default();
        *seen += 1;
        if sample.len() < max {
            sample.push(request);
            return;
        }
        let place = self.rng.below(*seen) as usize;
        if let Some(replaced) = sample.get_mut(place) {
            *replaced = request;
        }
    }

    /// Returns the sample in order of issue.
    pub(crate) fn finish(self) -> RequestSample {
        let drawn_from = self.classes.values().map(|(seen, _)| seen).sum();
        let samples = self.classes.into_values();
        let mut requests: Vec<_> = samples.flat_map(|(_, sample)| sample).collect();
        requests.sort_by_key(|it| (it.queued.0 + it.waited.0, it.sector));
        RequestSample {
            drawn_from,
            requests,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::units::Nanos;

    #[test]
    fn rare_classes_stay_in_the_sample() {
        let sample = || {
            let mut reservoir = Reservoir::default();
            for number in 0..100_000_u64 {
                reservoir.add(SampledRequest {
                    sector: number,
                    sectors: 8,
                    op: None,
                    class: match number % 50_000 {
                        0 => IoClass::Superblock,
                        _ => IoClass::Data,
                    },
                    queued: Nanos(number),
                    waited: Nanos(0),
                    served: Nanos(1),
                    command: None,
                });
            }
            reservoir.finish()
        };
        let drawn = sample();
        assert_eq!(drawn, sample());
        assert_eq!(drawn.drawn_from, 100_000);
        assert_eq!(drawn.requests.len(), Reservoir::MAX_DATA + 2);
        let rare = drawn
            .requests
            .iter()
            .filter(|it| it.class == IoClass::Superblock);
        assert_eq!(rare.count(), 2);
        let early = drawn
            .requests
            .iter()
            .filter(|it| it.sector < 50_000)
            .count();
        assert!((1800..2200).contains(&early), "{early}");
        assert!(drawn.requests.is_sorted_by_key(|it| it.queued));
    }
}
