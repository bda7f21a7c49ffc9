//! Units that an experiment keeps open, and the limit of a slow write.

use crate::lab::{Halt, Lab, Measured, REGION};
use hakaru_analysis::stats::median;
use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty, DeclineReason};

/// Geometry that experiments with units need: page, unit and their costs so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnitGeometry {
    /// Length of a write: a page.
    pub(super) len: u64,
    /// Size of a unit; the size of a region while it is unknown.
    pub(super) unit: u64,
    /// Distance of units that certainly differ.
    pub(super) stride: u64,
    pub(super) is_known: bool,
    /// Time to open a unit in ns, as far as it is known.
    pub(super) open: f64,
}

impl UnitGeometry {
    pub(super) fn of(lab: &Lab<'_>, known: &Anatomy) -> UnitGeometry {
        let page = known.size(CardProperty::Page).unwrap_or(16 << 10);
        let unit = known.size(CardProperty::Unit);
        // Pages of 3·2^n do not begin at every multiple of 2^n.
        let region = match page.is_multiple_of(3) {
            true => REGION / 2,
            false => REGION / 3,
        };
        UnitGeometry {
            len: page.max(lab.block()),
            unit: unit.unwrap_or(region),
            stride: unit.unwrap_or(region),
            is_known: unit.is_some(),
            open: known.value(CardProperty::OpenCost).unwrap_or(0.0),
        }
    }

    /// Returns the geometry with a unit that was found later.
    pub(super) fn with_unit(self, unit: u64) -> UnitGeometry {
        UnitGeometry {
            unit,
            stride: unit,
            is_known: true,
            ..self
        }
    }

    /// Returns whether two units certainly stay open, so that writes can alternate between them.
    pub(super) fn keeps_two_open(known: &Anatomy) -> bool {
        match known.finding(CardProperty::OpenUnits) {
            CardFinding::Known(units) => units.value >= 2.0,
            CardFinding::Absent { .. } => true,
            CardFinding::Unknown(_) => false,
        }
    }

    /// Returns the number of units that are open at the same time, or why it is unknown.
    pub(super) fn limit(known: &Anatomy) -> Measured<u64> {
        known
            .size(CardProperty::OpenUnits)
            .ok_or(Halt::Declined(DeclineReason::Needs(
                CardProperty::OpenUnits,
            )))
    }
}

/// Returns the time of a collection, as far as it tells collections from other writes: half of it must be certain.
pub(super) fn collection_time(known: &Anatomy) -> Option<f64> {
    let time = known.finding(CardProperty::CollectionTime).rough()?;
    (time.value > 0.0 && time.relative_error() <= 0.3).then_some(time.value)
}

/// A unit with the place of its next write in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct WrittenUnit {
    pub(super) start: u64,
    pub(super) next: u64,
}

impl WrittenUnit {
    /// Takes a unit that was not used before.
    pub(super) fn fresh(lab: &mut Lab<'_>, geometry: &UnitGeometry) -> Measured<WrittenUnit> {
        let start = lab.fresh(geometry.stride, geometry.stride)?;
        Ok(WrittenUnit { start, next: start })
    }

    /// Writes a page in order; begins again at the end of the unit. Returns the latency.
    pub(super) fn write(&mut self, lab: &mut Lab<'_>, geometry: &UnitGeometry) -> Measured<f64> {
        if self.next + geometry.len > self.start + geometry.unit {
            self.next = self.start;
        }
        let latency = lab.write(self.next, geometry.len)?;
        self.next += geometry.len;
        Ok(latency)
    }

    /// Writes a page `pages` beyond the place of the next write in order. Returns the latency.
    pub(super) fn skip(
        &mut self,
        lab: &mut Lab<'_>,
        geometry: &UnitGeometry,
        pages: u64,
    ) -> Measured<f64> {
        let mut at = self.next + pages * geometry.len;
        if at + geometry.len > self.start + geometry.unit {
            at = self.start;
        }
        let latency = lab.write(at, geometry.len)?;
        self.next = at + geometry.len;
        Ok(latency)
    }
}

/// A unit that is filled in order, and its successor when it is full. Writes that open a unit do not count.
pub(super) struct OrderedWrites {
    geometry: UnitGeometry,
    unit: WrittenUnit,
}

impl OrderedWrites {
    pub(super) fn begin(lab: &mut Lab<'_>, geometry: UnitGeometry) -> Measured<OrderedWrites> {
        let mut unit = WrittenUnit::fresh(lab, &geometry)?;
        unit.write(lab, &geometry)?;
        Ok(OrderedWrites { geometry, unit })
    }

    /// Offset of the next write.
    pub(super) fn next(&self) -> u64 {
        self.unit.next
    }

    /// Makes room for so many writes.
    pub(super) fn reserve(&mut self, lab: &mut Lab<'_>, writes: u64) -> Measured<()> {
        if self.unit.next + writes * self.geometry.len > self.unit.start + self.geometry.unit {
            // The rest of a full unit needs no collection.
            while self.unit.next + self.geometry.len <= self.unit.start + self.geometry.unit {
                self.write(lab)?;
            }
            *self = OrderedWrites::begin(lab, self.geometry)?;
        }
        Ok(())
    }

    pub(super) fn write(&mut self, lab: &mut Lab<'_>) -> Measured<f64> {
        let latency = lab.write(self.unit.next, self.geometry.len)?;
        self.unit.next += self.geometry.len;
        Ok(latency)
    }
}

/// Opens so many fresh units with one write each, with rests before a card throttles.
pub(super) fn open_fresh(
    lab: &mut Lab<'_>,
    geometry: &UnitGeometry,
    count: u64,
) -> Measured<Vec<WrittenUnit>> {
    (0..count)
        .map(|_| {
            lab.stays_cool()?;
            let mut unit = WrittenUnit::fresh(lab, geometry)?;
            unit.write(lab, geometry)?;
            Ok(unit)
        })
        .collect()
}

/// Median latency of writes in order within one fresh unit, without its first write.
pub(super) fn base(lab: &mut Lab<'_>, geometry: &UnitGeometry) -> Measured<(f64, WrittenUnit)> {
    let mut unit = WrittenUnit::fresh(lab, geometry)?;
    unit.write(lab, geometry)?;
    let pages = (geometry.unit / geometry.len)
        .saturating_sub(2)
        .clamp(2, 24);
    let latencies = (0..pages)
        .map(|_| unit.write(lab, geometry))
        .collect::<Measured<Vec<f64>>>()?;
    Ok((median(&latencies).unwrap_or(0.0), unit))
}

/// Latency above which a write waited for a collection, which is never short.
pub(super) fn slow_limit(lab: &Lab<'_>, base: f64, open: f64) -> f64 {
    let sigma = lab.sigma();
    let by_base = 1.45 * base + 5.0 * sigma * base;
    let by_open = base + 1.5 * open + 5.0 * sigma * (base + open);
    by_base.max(by_open)
}
