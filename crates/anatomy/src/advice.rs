//! How to format and use a card, by its anatomy.

use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty as P};
use hakaru_model::anatomy_record::CardAdvice;
use hakaru_model::units::{Bytes, Nanos};

/// Multiple that suits every unit that cards announce.
const USUAL_ALIGNMENT: u64 = 4 << 20;

/// Block of ext4 and page of f2fs in bytes.
const BLOCK: u64 = 4 << 10;

/// Segment of f2fs in bytes.
const SEGMENT: u64 = 2 << 20;

/// Smallest and largest cluster of FAT that is advised, in bytes.
const CLUSTERS: (u64, u64) = (16 << 10, 64 << 10);

/// Open units up to which a journal is one too many.
const FEW_UNITS: u64 = 2;

/// Logs that f2fs keeps open by default, and fewer ones that its mount option accepts.
const LOGS: [u32; 3] = [6, 4, 2];

/// Returns what follows from the findings; nothing about what is unknown.
pub fn advise(anatomy: &Anatomy) -> Vec<CardAdvice> {
    let mut all = Vec::new();
    let unit = anatomy.size(P::Unit);
    if let Some(unit) = unit {
        let align = Bytes(multiple(unit, USUAL_ALIGNMENT));
        all.push(CardAdvice::PartitionStart { align });
    }
    let page = anatomy.size(P::Page);
    if let Some(page) = page {
        let size = page.min(CLUSTERS.1).next_power_of_two().max(CLUSTERS.0);
        all.push(CardAdvice::Cluster { size: Bytes(size) });
    }
    if let (Some(unit), Some(units @ 1..)) = (unit, anatomy.size(P::FatUnits)) {
        let size = Bytes(units.saturating_mul(unit));
        all.push(CardAdvice::FatArea { size });
    }
    let open = anatomy.size(P::OpenUnits);
    if let (Some(unit), Some(page)) = (unit, page) {
        all.push(CardAdvice::Ext4 {
            stride: (page / BLOCK).max(1),
            stripe_width: (unit / BLOCK).max(1),
            small_journal: open.is_some_and(|open| open <= FEW_UNITS),
        });
    }
    if let Some(unit) = unit {
        all.push(CardAdvice::F2fs {
            segments: unit.div_ceil(SEGMENT).max(1),
            active_logs: logs(anatomy.size(P::RandomUnits)),
        });
    }
    if let Some(open) = open {
        let most = open.saturating_sub(1).max(1);
        all.push(CardAdvice::Writers { most });
    }
    if let Some(frees) = anatomy.value(P::DiscardFrees) {
        let collection = anatomy.value(P::CollectionTime);
        let cheap = match (anatomy.value(P::Discard), collection) {
            (Some(discard), Some(collection)) => discard < collection / 10.0,
            _ => false,
        };
        let worthwhile = frees == 1.0 && cheap;
        all.push(CardAdvice::Discard { worthwhile });
    }
    if !anatomy.experiments.is_empty() {
        all.push(fill_level(anatomy));
    }
    if let Some(size) = anatomy.size(P::CacheSize) {
        all.push(CardAdvice::Bursts {
            size: Bytes(size),
            rest: rest(anatomy, size),
        });
    }
    all
}

/// Returns how much has to stay free, so that every unit that can be open is a whole one.
fn fill_level(anatomy: &Anatomy) -> CardAdvice {
    let (unit, open) = (anatomy.size(P::Unit), anatomy.finding(P::OpenUnits));
    let no_limit = matches!(open, CardFinding::Absent { .. });
    let collection = anatomy.value(P::CollectionTime);
    let missing = [
        (P::OpenUnits, open.known().is_none()),
        (P::Unit, unit.is_none()),
        (P::CollectionTime, collection.is_none()),
    ];
    let needs = missing.into_iter().find(|(_, is_missing)| *is_missing);
    let needs = needs.map(|(property, _)| property).filter(|_| !no_limit);
    let free = unit.zip(open.known());
    let free = free.map(|(unit, open)| Bytes(unit.saturating_mul(open.value as u64)));
    let is_known = needs.is_none() && !no_limit;
    CardAdvice::FillLevel {
        free: free.filter(|_| is_known),
        collection: collection
            .map(|time| Nanos(time as u64))
            .filter(|_| is_known),
        needs,
    }
}

/// Returns the idle time after which the whole cache is available again.
fn rest(anatomy: &Anatomy, size: u64) -> Option<Nanos> {
    let rate = anatomy.value(P::DrainRate).filter(|rate| *rate > 0.0)?;
    let delay = anatomy.finding(P::DrainDelay).rough()?.value;
    Some(Nanos((delay + size as f64 / rate * 1e9) as u64))
}

/// Returns the number of logs of f2fs for a number of units that may be written out of order; `None` if the default suits.
fn logs(random_units: Option<u64>) -> Option<u32> {
    let units = random_units?;
    let fits = LOGS.into_iter().find(|logs| u64::from(*logs) <= units);
    fits.or(LOGS.last().copied()).filter(|logs| *logs < LOGS[0])
}

/// Returns the least common multiple.
fn multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::anatomy::{DeclineReason, Experiment, ExperimentRecord, Spent};

    fn anatomy(sizes: &[(P, u64)]) -> Anatomy {
        let mut anatomy = Anatomy::new("card", Bytes(32 << 30), false);
        for (property, value) in sizes {
            let finding = CardFinding::exact(*value);
            anatomy.findings.insert(*property, finding);
        }
        anatomy
    }

    #[test]
    fn advice_follows_from_sizes_and_limits() {
        let found = advise(&anatomy(&[
            (P::Unit, 24 << 20),
            (P::Page, 48 << 10),
            (P::OpenUnits, 2),
            (P::RandomUnits, 1),
            (P::FatUnits, 2),
        ]));
        assert!(found.contains(&CardAdvice::PartitionStart {
            align: Bytes(24 << 20)
        }));
        assert!(found.contains(&CardAdvice::Cluster {
            size: Bytes(64 << 10)
        }));
        assert!(found.contains(&CardAdvice::FatArea {
            size: Bytes(48 << 20)
        }));
        assert!(found.contains(&CardAdvice::Ext4 {
            stride: 12,
            stripe_width: 6144,
            small_journal: true
        }));
        assert!(found.contains(&CardAdvice::F2fs {
            segments: 12,
            active_logs: Some(2)
        }));
        assert!(found.contains(&CardAdvice::Writers { most: 1 }));
        assert_eq!(multiple(6 << 20, 4 << 20), 12 << 20);
    }

    #[test]
    fn the_fill_level_follows_from_the_limit_of_open_units() {
        let of = |sizes: &[(P, u64)], open: Option<CardFinding>| {
            let mut anatomy = anatomy(sizes);
            anatomy
                .findings
                .extend(open.map(|open| (P::OpenUnits, open)));
            anatomy.experiments.push(ExperimentRecord {
                experiment: Experiment::Noise,
                spent: Spent::default(),
                repeats: 0,
            });
            let mut all = advise(&anatomy).into_iter();
            all.find(|advice| matches!(advice, CardAdvice::FillLevel { .. }))
        };
        let told = |free: Option<u64>, needs| {
            Some(CardAdvice::FillLevel {
                free: free.map(Bytes),
                collection: free.map(|_| Nanos(70_000_000)),
                needs,
            })
        };
        let sizes = [(P::Unit, 4 << 20), (P::CollectionTime, 70_000_000)];
        let open = CardFinding::exact(3);
        assert_eq!(of(&sizes, Some(open)), told(Some(12 << 20), None));
        assert_eq!(of(&sizes[1..], Some(open)), told(None, Some(P::Unit)));
        assert_eq!(of(&sizes, None), told(None, Some(P::OpenUnits)));
        let unknown = CardFinding::Unknown(DeclineReason::Budget);
        assert_eq!(of(&sizes, Some(unknown)), told(None, Some(P::OpenUnits)));
        let no_limit = CardFinding::Absent { up_to: 64.0 };
        assert_eq!(of(&sizes, Some(no_limit)), told(None, None));
    }

    #[test]
    fn nothing_follows_from_what_is_unknown() {
        assert_eq!(advise(&anatomy(&[])), Vec::new());
        let no_limit = advise(&anatomy(&[(P::Unit, 4 << 20), (P::RandomUnits, 8)]));
        assert!(no_limit.contains(&CardAdvice::F2fs {
            segments: 2,
            active_logs: None
        }));
        assert!(
            !no_limit
                .iter()
                .any(|a| matches!(a, CardAdvice::Writers { .. }))
        );
    }
}
