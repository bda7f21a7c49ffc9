//! The device model with the values that were found.

use hakaru_model::anatomy::{Anatomy, CardFinding, CardProperty as P};
use hakaru_model::device_model::{DeviceModel, Flash, MappingCache, Noise, SlcCache, Throttle};
use hakaru_model::units::{Bytes, Nanos};

/// Size of a unit that does not show: a multiple of every page.
const NO_UNIT: u64 = 96 << 20;

/// Number of open units of a card that shows no limit.
const NO_LIMIT: u32 = 4096;

/// Returns the device model, for the simulated card; `None` if a rate is unknown. Costs that are absent or unknown are
/// 0.
pub fn fit(anatomy: &Anatomy) -> Option<DeviceModel> {
    let rough = |property| {
        let finding = anatomy.finding(property).rough();
        finding.map_or(0.0, |estimate| estimate.value)
    };
    let time = |property| Nanos(rough(property).max(0.0).round() as u64);
    let rate = |property| Some(rough(property) as u64).filter(|rate| *rate > 0);
    let mut model = DeviceModel::plain(&anatomy.name, anatomy.capacity);
    model.read_rate = rate(P::ReadRate)?;
    model.write_rate = rate(P::WriteRate)?;
    model.read_overhead = time(P::ReadOverhead);
    model.write_overhead = time(P::WriteOverhead);
    model.read_seek = time(P::ReadSeek);
    model.write_seek = time(P::WriteSeek);
    model.write_to_read = time(P::WriteToRead);
    model.read_to_write = time(P::ReadToWrite);
    model.flush = time(P::Flush);
    model.parallel_reads = match anatomy.finding(P::ParallelReads) {
        CardFinding::Known(ways) => ways.value as u32,
        CardFinding::Absent { up_to } => up_to as u32,
        CardFinding::Unknown(_) => 1,
    };
    model.flash = flash(anatomy);
    if let (Some(size), Some(write_rate)) = (anatomy.size(P::CacheSize), rate(P::CacheRate)) {
        model.cache = Some(SlcCache {
            size: Bytes(size),
            write_rate,
            drain_rate: rough(P::DrainRate) as u64,
            drain_delay: time(P::DrainDelay),
        });
    }
    if let (Some(after), Some(percent)) = (
        anatomy.value(P::ThrottleAfter),
        anatomy.finding(P::ThrottlePercent).rough(),
    ) {
        model.throttle = Some(Throttle {
            after: Nanos(after as u64),
            percent: percent.value.round().max(100.0) as u32,
            until: Some(Nanos((after - rough(P::ThrottleRecovery)).max(0.0) as u64)),
        });
    }
    let noise = &anatomy.noise;
    model.noise = Some(Noise {
        sigma_permille: (noise.sigma * 1000.0).round() as u32,
        stalls_per_million: (noise.stalls * 1_000_000 / noise.reads.max(1)) as u32,
        stall_mean: Nanos(noise.stall_time.0 / noise.stalls.max(1)),
        ..Noise::default()
    });
    model.check().is_ok().then_some(model)
}

fn flash(anatomy: &Anatomy) -> Option<Flash> {
    let page = match anatomy.finding(P::Page) {
        CardFinding::Known(page) => page.value as u64,
        // No step of pages: the smallest block.
        CardFinding::Absent { .. } => 512,
        CardFinding::Unknown(_) => return None,
    };
    // Without a unit, there is no limit of open ones, but pages and the mapping still cost their time.
    let known_unit = anatomy.size(P::Unit);
    let unit = known_unit.unwrap_or(NO_UNIT);
    let rough = |property| {
        let finding = anatomy.finding(property).rough();
        finding.map_or(0.0, |estimate| estimate.value)
    };
    let time = |property| Nanos(rough(property).max(0.0).round() as u64);
    let open_units = known_unit.and(anatomy.size(P::OpenUnits));
    let by_time = (unit - page) as f64 / (rough(P::CollectionTime) / 1e9).max(1e-9);
    let collection_rate = match rough(P::CollectionRate) {
        rate if rate > 0.0 => rate,
        _ => by_time,
    };
    let mapping = match (anatomy.size(P::MappingSlots), anatomy.size(P::MappingChunk)) {
        (Some(slots), Some(chunk)) => Some(MappingCache {
            chunk: Bytes(chunk),
            slots: slots as u32,
            load: time(P::MappingLoad),
        }),
        _ => None,
    };
    let open = open_units.map_or(NO_LIMIT, |units| units as u32);
    Some(Flash {
        page: Bytes(page),
        sense: time(P::Sense),
        gathers_writes: anatomy.value(P::GathersWrites) == Some(1.0),
        unit: Bytes(unit),
        open: time(P::OpenCost),
        unit_crossing: time(P::UnitCrossing),
        open_units: open,
        random_units: anatomy
            .size(P::RandomUnits)
            .map_or(if open_units.is_some() { 0 } else { open }, |units| {
                units as u32
            }),
        random_write: time(P::RandomWrite),
        collection_rate: (collection_rate as u64).max(1),
        fat_units: anatomy.size(P::FatUnits).unwrap_or(0) as u32,
        mapping,
        // The fixed time of a write is part of every discard of the model.
        discard: Nanos(time(P::Discard).0.saturating_sub(time(P::WriteOverhead).0)),
        discard_frees: anatomy.value(P::DiscardFrees) == Some(1.0),
    })
}
