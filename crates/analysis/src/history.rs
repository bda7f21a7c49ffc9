//! History of one card: trends of its rates, signs of wear, and what would prove more.
//!
//! The unit of a trend is the series, because runs of one series are alike in ways that days are not. The earlier half of
//! the series is compared with the later half, and all trends of the card are one family. Two or three series give no
//! verdict.

use crate::compare::{
    ALPHA, ComparedSample, RELEVANT, SamplePair, compare_family, has_rate, name_and_unit,
};
use crate::stats::increase_p;
use crate::summarize;
use hakaru_model::anatomy::CardProperty;
use hakaru_model::anatomy_record::AnatomyRecord;
use hakaru_model::facts::{Bus, DeviceIdentity, Filesystem, Health, Identity};
use hakaru_model::finding::{Comparison, Summary, Verdict};
use hakaru_model::history::{
    AnatomyPoint, CardHistory, DefectKind, HistoryCaveat, MissingProof, Outlook, Trend, TrendPoint,
    VerifiedPoint, WearSign,
};
use hakaru_model::integrity::Verification;
use hakaru_model::job::Op;
use hakaru_model::record::RunRecord;
use hakaru_model::units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Life used, in percent, from which a card counts as worn.
const WORN_PERCENT: u64 = 80;

/// Milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Evaluates the runs, verifications and anatomies of one card. Phases of one name must be one job.
pub fn history(
    records: &[RunRecord],
    verifications: &[Verification],
    anatomies: &[AnatomyRecord],
) -> CardHistory {
    let mut records: Vec<&RunRecord> = records.iter().collect();
    records.sort_by_key(|record| (record.started_unix_ms, &record.id));
    let mut verifications: Vec<&Verification> = verifications.iter().collect();
    verifications.sort_by_key(|verification| (verification.started_unix_ms, &verification.id));
    let mut anatomies: Vec<&AnatomyRecord> = anatomies.iter().collect();
    anatomies.sort_by_key(|anatomy| (anatomy.started_unix_ms, &anatomy.id));
    let identities = identities(&records, &verifications, &anatomies);
    let series = series(&records);
    let trends = trends(&series);
    let verified: Vec<VerifiedPoint> = verifications.iter().map(|v| verified(v)).collect();
    let signs = signs(&series, &verified, &identities, &trends);
    let retries = retry_counts(&series).into_values().map(|of| of.len());
    let retries = retries.max().unwrap_or(0);
    let mut missing = missing(&trends, &verified, &identities);
    let newest = identities.last();
    // Only the MMC bus reports retries.
    let reports_retries = newest.is_some_and(|identity| {
        let device = identity.device.known();
        device.is_some_and(|device| matches!(device.bus, Bus::Mmc { .. }))
    });
    if reports_retries && retries < 2 {
        let have = retries as u32;
        missing.push(MissingProof::Retries { have });
    }
    CardHistory {
        name: newest
            .map(|identity| identity.display_name())
            .unwrap_or_default(),
        ids: ids(&identities),
        runs: u32::try_from(records.len()).unwrap_or(u32::MAX),
        series: u32::try_from(series.len()).unwrap_or(u32::MAX),
        outlook: outlook(&signs, &trends, &verified),
        caveats: caveats(&records, &trends, &identities),
        verifications: verified,
        anatomies: anatomies.iter().map(|of| examined(of)).collect(),
        trends,
        signs,
        missing,
    }
}

/// The identities of all runs, verifications and anatomies, oldest first.
fn identities<'a>(
    records: &[&'a RunRecord],
    verifications: &[&'a Verification],
    anatomies: &[&'a AnatomyRecord],
) -> Vec<&'a Identity> {
    let of_runs = records
        .iter()
        .map(|record| (record.started_unix_ms, &record.target));
    let of_verifications = verifications.iter().map(|v| (v.started_unix_ms, &v.target));
    let of_anatomies = anatomies.iter().map(|of| (of.started_unix_ms, &of.target));
    let all = of_runs.chain(of_verifications).chain(of_anatomies);
    let mut all: Vec<(i64, &Identity)> = all.collect();
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, identity)| identity).collect()
}

fn ids(identities: &[&Identity]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for id in identities.iter().flat_map(|identity| identity.ids()) {
        if !all.iter().any(|known| known == id) {
            all.push(id.to_owned());
        }
    }
    all
}

/// A series: its first run, and the summary of all.
type Series<'a> = (&'a RunRecord, Summary);

/// The series of these runs, in order of the first.
fn series<'a>(records: &[&'a RunRecord]) -> Vec<Series<'a>> {
    let mut all: Vec<Vec<&'a RunRecord>> = Vec::new();
    for &record in records {
        match all
            .iter_mut()
            .find(|known| known[0].series == record.series)
        {
            Some(known) => known.push(record),
            None => all.push(vec![record]),
        }
    }
    let summarized = |records: Vec<&'a RunRecord>| {
        let owned: Vec<RunRecord> = records.iter().map(|&record| record.clone()).collect();
        (records[0], summarize(&owned))
    };
    all.into_iter().map(summarized).collect()
}

fn layer(record: &RunRecord) -> String {
    let point = record.campaign.as_ref().map(|point| point.layer.as_str());
    point
        .or(record.target.layer())
        .unwrap_or_default()
        .to_owned()
}

fn trends(series: &[Series<'_>]) -> Vec<Trend> {
    let mut all: Vec<Trend> = Vec::new();
    for (first, summary) in series {
        let (layer, host) = (layer(first), &first.environment.hostname);
        for phase in summary.phases.iter().filter(|phase| has_rate(phase)) {
            let rate = phase.detail.headline;
            let point = TrendPoint {
                series: first.series.clone(),
                at_unix_ms: first.started_unix_ms,
                mean: rate.of(phase).mean,
                ci95: rate.of(phase).ci95,
                runs: crate::campaign::runs_of(phase),
                used_percent: first.target.filesystem.as_ref().and_then(used_percent),
            };
            let same = |trend: &&mut Trend| {
                let place = trend.layer == layer && trend.host == *host;
                place && trend.phase == phase.phase && trend.op == phase.op
            };
            match all.iter_mut().find(same) {
                Some(trend) => trend.points.push(point),
                None => all.push(Trend {
                    phase: phase.phase.clone(),
                    op: phase.op,
                    shape: phase.detail.shape,
                    layer: layer.clone(),
                    host: host.clone(),
                    unit: name_and_unit(rate).1.to_owned(),
                    points: vec![point],
                    comparison: None,
                }),
            }
        }
    }
    compare(&mut all);
    all
}

/// Compares the earlier with the later half of each trend, all as one family.
fn compare(trends: &mut [Trend]) {
    let halves = |trend: &Trend| {
        let means: Vec<f64> = trend.points.iter().map(|point| point.mean).collect();
        let half = means.len() / 2;
        (means.len() >= Trend::FEWEST)
            .then(|| (means[..half].to_vec(), means[means.len() - half..].to_vec()))
    };
    let samples: Vec<Option<(Vec<f64>, Vec<f64>)>> = trends.iter().map(halves).collect();
    let pairs: Vec<SamplePair<'_>> = trends
        .iter()
        .zip(&samples)
        .filter_map(|(trend, sample)| {
            let (early, late) = sample.as_ref()?;
            let [a, b] = [early, late].map(|values| ComparedSample::Values(values));
            Some(SamplePair::new(trend.phase.clone(), &trend.unit, a, b))
        })
        .collect();
    let mut compared = compare_family(&pairs).into_iter();
    let found: Vec<_> = samples
        .iter()
        .map(|sample| sample.as_ref().and_then(|_| compared.next()))
        .collect();
    for (trend, comparison) in trends.iter_mut().zip(found) {
        trend.comparison = comparison;
    }
}

/// Used share of a file system in percent.
fn used_percent(filesystem: &Filesystem) -> Option<u32> {
    let (size, free) = (filesystem.size.0, filesystem.free.0.min(filesystem.size.0));
    (size > 0).then(|| ((size - free) as f64 / size as f64 * 100.0).round() as u32)
}

fn verified(verification: &Verification) -> VerifiedPoint {
    VerifiedPoint {
        id: verification.id.clone(),
        at_unix_ms: verification.started_unix_ms,
        checked: verification.verdict.checked(),
        bad: verification.verdict.bad_bytes,
        good: verification.verdict.is_good(),
    }
}

fn examined(record: &AnatomyRecord) -> AnatomyPoint {
    let anatomy = &record.anatomy;
    AnatomyPoint {
        id: record.id.clone(),
        at_unix_ms: record.started_unix_ms,
        completed: record.completed,
        unit: anatomy.size(CardProperty::Unit).map(Bytes),
        open_units: anatomy.size(CardProperty::OpenUnits),
        read_rate: anatomy.value(CardProperty::ReadRate),
        write_rate: anatomy.value(CardProperty::WriteRate),
    }
}

fn signs(
    series: &[Series<'_>],
    verified: &[VerifiedPoint],
    identities: &[&Identity],
    trends: &[Trend],
) -> Vec<WearSign> {
    let mut found = Vec::new();
    let bad = verified.iter().rfind(|point| point.bad.0 > 0);
    found.extend(bad.map(|point| WearSign::BadBlocks {
        at_unix_ms: point.at_unix_ms,
        bytes: point.bad,
    }));
    let phases = series.iter().flat_map(|(_, summary)| &summary.phases);
    let count = phases
        .map(|phase| phase.errors + phase.detail.other_errors)
        .sum();
    found.extend((count > 0).then_some(WearSign::IoErrors { count }));
    found.extend(of_registers(identities));
    let slower = (0..)
        .zip(trends)
        .filter(|(_, trend)| trend.op == Op::Write && is_slower(trend));
    found.extend(slower.map(|(trend, _)| WearSign::SlowerWrites { trend }));
    found.extend(more_retries(series));
    found
}

/// Whether a rate is proven to be lower than before, and not proven to be the same within the margin of equivalence.
fn is_slower(trend: &Trend) -> bool {
    let comparison = trend.comparison.as_ref();
    comparison.is_some_and(|c| c.verdict == Verdict::Different && c.ratio < 1.0 && !c.is_little())
}

/// Signs in the registers of an eMMC and in the SMART data.
fn of_registers(identities: &[&Identity]) -> Vec<WearSign> {
    let mut found = Vec::new();
    let devices: Vec<&DeviceIdentity> = identities
        .iter()
        .filter_map(|of| of.device.known())
        .collect();
    let cards = || devices.iter().filter_map(|device| device.card.as_ref());
    let reserve = cards().filter_map(|card| card.pre_eol.known()).next_back();
    let reserve =
        reserve.filter(|state| state.starts_with("warning") || state.starts_with("urgent"));
    found.extend(reserve.map(|state| WearSign::Reserve {
        state: state.clone(),
    }));
    let health: Vec<&Health> = devices
        .iter()
        .filter_map(|device| device.health.known())
        .collect();
    let of_card = cards()
        .filter_map(|card| card.life_time.known())
        .next_back();
    let of_card = of_card.and_then(|text| largest_number(text));
    let of_disk = health
        .iter()
        .filter_map(|health| health.percent_used)
        .next_back();
    let worn = of_card.into_iter().chain(of_disk).max();
    let worn = worn.filter(|percent| *percent >= WORN_PERCENT);
    found.extend(worn.map(|percent| WearSign::LifeUsed { percent }));
    type Count = fn(&Health) -> Option<u64>;
    let counts: [(DefectKind, Count); 3] = [
        (DefectKind::MediaErrors, |health| health.media_errors),
        (DefectKind::Reallocated, |health| health.reallocated_sectors),
        (DefectKind::Pending, |health| health.pending_sectors),
    ];
    for (kind, count) in counts {
        let values: Vec<u64> = health.iter().filter_map(|health| count(health)).collect();
        let known = values
            .first()
            .zip(values.last())
            .filter(|(_, last)| **last > 0);
        found.extend(known.map(|(&first, &last)| WearSign::Defects { kind, first, last }));
    }
    let warnings = health.last().map(|health| health.warnings.clone());
    let warnings = warnings.unwrap_or_default().into_iter();
    found.extend(warnings.map(|text| WearSign::Warning { text }));
    found
}

/// The largest number in a text such as `0-10 % and 10-20 %`.
fn largest_number(text: &str) -> Option<u64> {
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    numbers.filter_map(|digits| digits.parse().ok()).max()
}

/// Retries and commands of the traced series of each host, oldest first.
fn retry_counts<'a>(series: &[Series<'a>]) -> BTreeMap<&'a str, Vec<(u64, u64)>> {
    let mut hosts: BTreeMap<&str, Vec<(u64, u64)>> = BTreeMap::new();
    for (first, summary) in series {
        let classes = summary.paths.iter().flat_map(|traced| &traced.path.classes);
        let commands = classes.filter_map(|class| class.commands.as_ref());
        let counts = commands.fold((0, 0), |(retries, all), commands| {
            (retries + commands.retries, all + commands.commands)
        });
        if counts.1 > 0 {
            let host = first.environment.hostname.as_str();
            hosts.entry(host).or_default().push(counts);
        }
    }
    hosts
}

/// The first and the newest rate of retries of a host, if the newest is proven to be higher: a two-sided test at 5%,
/// divided by the number of hosts.
fn more_retries(series: &[Series<'_>]) -> Option<WearSign> {
    let hosts = retry_counts(series);
    let ends = hosts.values().filter_map(|counts| match &counts[..] {
        [first, .., last] => Some((*first, *last)),
        _ => None,
    });
    let ends: Vec<((u64, u64), (u64, u64))> = ends.collect();
    let level = ALPHA / 2.0 / ends.len() as f64;
    let found = ends
        .iter()
        .find(|(first, last)| increase_p(*first, *last) <= level);
    let rate = |(retries, all): (u64, u64)| retries as f64 / all as f64 * 1e6;
    found.map(|&(first, last)| WearSign::MoreRetries {
        first: rate(first),
        last: rate(last),
    })
}

/// The trends of writes with enough series, and their comparisons.
fn compared_writes(trends: &[Trend]) -> impl Iterator<Item = (&Trend, &Comparison)> {
    let writes = trends.iter().filter(|trend| trend.op == Op::Write);
    writes.filter_map(|trend| Some((trend, trend.comparison.as_ref()?)))
}

/// Whether a fall of the rate by more than the margin of equivalence is excluded. That a fall is not proven is no proof of
/// the opposite.
fn keeps_up(comparison: &Comparison) -> bool {
    let least = 1.0 / (1.0 + RELEVANT);
    comparison.is_little() || comparison.ratio_ci95.is_some_and(|(low, _)| low >= least)
}

fn outlook(signs: &[WearSign], trends: &[Trend], verified: &[VerifiedPoint]) -> Outlook {
    let fails = |sign: &WearSign| match sign {
        WearSign::BadBlocks { .. } | WearSign::IoErrors { .. } | WearSign::Warning { .. } => true,
        WearSign::Reserve { state } => state.starts_with("urgent"),
        WearSign::LifeUsed { percent } => *percent >= 100,
        WearSign::Defects { kind, .. } => *kind == DefectKind::MediaErrors,
        WearSign::SlowerWrites { .. } | WearSign::MoreRetries { .. } => false,
    };
    if signs.iter().any(fails) {
        return Outlook::Failing;
    }
    if !signs.is_empty() {
        return Outlook::Wearing;
    }
    let compared = || compared_writes(trends);
    let steady = compared().next().is_some() && compared().all(|(_, c)| keeps_up(c));
    let good = verified.last().is_some_and(|point| point.good);
    match steady && good {
        true => Outlook::NoSign,
        false => Outlook::Unknown,
    }
}

fn missing(
    trends: &[Trend],
    verified: &[VerifiedPoint],
    identities: &[&Identity],
) -> Vec<MissingProof> {
    let mut missing = Vec::new();
    let open = compared_writes(trends).filter(|(trend, c)| !keeps_up(c) && !is_slower(trend));
    let have = open.map(|(trend, _)| trend.points.len()).min();
    missing.extend(have.map(|have| MissingProof::MoreSeries { have: have as u32 }));
    let writes = trends.iter().filter(|trend| trend.op == Op::Write);
    let most = writes.map(|trend| trend.points.len()).max().unwrap_or(0);
    if most < Trend::FEWEST {
        missing.push(MissingProof::Series {
            have: most as u32,
            needed: Trend::FEWEST as u32,
        });
    }
    if verified.is_empty() {
        missing.push(MissingProof::Verification);
    }
    let reports = |identity: &&Identity| {
        let device = identity.device.known();
        device.is_some_and(|device| {
            let card = device.card.as_ref();
            device.health.known().is_some()
                || card.is_some_and(|card| card.life_time.known().is_some())
        })
    };
    if !identities.iter().any(reports) {
        missing.push(MissingProof::WearData);
    }
    missing
}

fn caveats(
    records: &[&RunRecord],
    trends: &[Trend],
    identities: &[&Identity],
) -> Vec<HistoryCaveat> {
    let mut found = Vec::new();
    if !records.is_empty() && ids(identities).is_empty() {
        found.push(HistoryCaveat::ByLabel);
    }
    let distinct = |of: fn(&RunRecord) -> &String| -> Vec<String> {
        let all: BTreeSet<&String> = records.iter().map(|record| of(record)).collect();
        all.into_iter()
            .filter(|name| !name.is_empty())
            .cloned()
            .collect()
    };
    let hosts = distinct(|record| &record.environment.hostname);
    if hosts.len() > 1 {
        found.push(HistoryCaveat::Hosts { names: hosts });
    }
    let kernels = distinct(|record| &record.environment.kernel);
    if kernels.len() > 1 {
        found.push(HistoryCaveat::Kernels { names: kernels });
    }
    let levels = trends.iter().flat_map(|trend| &trend.points);
    let levels: Vec<u32> = levels.filter_map(|point| point.used_percent).collect();
    let ends = levels.iter().min().zip(levels.iter().max());
    if let Some((&low, &high)) = ends.filter(|(low, high)| **high > **low + 10) {
        found.push(HistoryCaveat::FillLevels { low, high });
    }
    let longest = trends.iter().max_by_key(|trend| trend.points.len());
    let mut days: BTreeMap<i64, u32> = BTreeMap::new();
    for point in longest.iter().flat_map(|trend| &trend.points) {
        *days.entry(point.at_unix_ms.div_euclid(DAY_MS)).or_default() += 1;
    }
    let most = days.into_values().max().unwrap_or(0);
    if most > 1 {
        found.push(HistoryCaveat::SameDay { series: most });
    }
    found
}

#[cfg(test)]
mod tests;
