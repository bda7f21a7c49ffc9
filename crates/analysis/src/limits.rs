//! Bottleneck (host or card), and the cost of a layer compared with the raw device.

use crate::compare::{common_phases, compare_family, has_rate, rate_pair};
use crate::figures::sequential;
use crate::stats::{self, SampleMoments};
use hakaru_model::caveat::Caveat;
use hakaru_model::facts::{Bus, Identity};
use hakaru_model::finding::{Bottleneck, BusLimit, LayerCost, PhaseSummary, Summary};
use hakaru_model::job::Op;
use hakaru_model::units::BytesPerSec;

/// From this fraction of the bus limit on, the bus is the bottleneck. Commands, responses and gaps
/// cost an SD bus 15 to 20%: cards with 90 MB/s elsewhere reach 40 of 50 MB/s in the same slot.
pub(crate) const AT_CEILING: f64 = 0.75;

/// Up to this fraction, the card is the bottleneck.
pub(crate) const UNDER_CEILING: f64 = 0.60;

/// Cards whose figures differ by less than this fraction share a bottleneck: different cards differ
/// more.
pub(crate) const SAME_FIGURE: f64 = 0.03;

/// Minimum number of different cards for this conclusion.
pub(crate) const FEWEST_CARDS: usize = 3;

/// Returns the bus limit in bytes/s, if known.
///
/// SD and eMMC: as computed in the device crate from width, clock and timing. USB: 13 packets of
/// 512 bytes per microframe at 480 Mbit/s (USB 2.0, table 5-10), 8b/10b coding at 5 Gbit/s,
/// 128b/132b above (USB 3.2). SATA: 8b/10b. PCI Express: 8b/10b at 2.5 and 5 GT/s, 128b/130b above,
/// times the lanes.
pub fn ceiling(bus: &Bus) -> Option<BytesPerSec> {
    let bytes = match bus {
        Bus::Mmc { ceiling, .. } => *ceiling.known()? as f64,
        Bus::Usb { speed_mbps } => match *speed_mbps.known()? {
            0 => return None,
            mbps @ 1..=12 => mbps as f64 * 1e5,
            13..=480 => 13.0 * 512.0 * 8_000.0,
            mbps @ 481..=5_000 => mbps as f64 * 1e6 / 10.0,
            mbps => mbps as f64 * 1e6 / 8.0 * 128.0 / 132.0,
        },
        Bus::Scsi { link } => leading_number(link.known()?)? * 1e9 / 10.0,
        Bus::Nvme { link } => {
            let text = link.known()?;
            let gigatransfers = leading_number(text)?;
            let coding = if gigatransfers <= 5.0 {
                0.8
            } else {
                128.0 / 130.0
            };
            gigatransfers * 1e9 / 8.0 * coding * lanes(text)?
        }
        Bus::Virtio | Bus::Software | Bus::Other { .. } => return None,
    };
    (bytes.is_finite() && bytes > 0.0).then_some(BytesPerSec(bytes))
}

/// Parses the number at the start of a text: `6.0 Gbps` is 6.
fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text.len());
    text[..end].parse().ok().filter(|n| *n > 0.0)
}

/// Parses the number of lanes: `8.0 GT/s PCIe x4` has four.
fn lanes(text: &str) -> Option<f64> {
    let (_, after) = text.rsplit_once(['x', '×'])?;
    leading_number(after)
}

/// From this fraction of the bus limit on, the limit or the figure is wrong. Limits are those of the
/// raw link, so rounding cannot exceed them.
pub(crate) const IMPOSSIBLE: f64 = 1.05;

/// Returns what limits sequential reads and writes, with each card judged by its own bus: one entry per host and bus limit, and
/// per verdict if cards on equal buses differ. Simulated cards have no bus and are skipped.
///
/// A card close to the limit of its bus is limited by the bus. If several different cards in one host have the same
/// speed, and their bus has little reserve, the host is the bottleneck. This is not concluded for unknown buses,
/// because with three to ten cards a true spread of 5 to 10% can look as narrow by chance.
pub fn bus_limit(cards: &[&Summary]) -> Vec<BusLimit> {
    [Op::Read, Op::Write]
        .into_iter()
        .flat_map(|op| limits_of(cards, op))
        .collect()
}

/// Card with its index, summary and measured phase.
type Member<'a> = (u32, &'a Summary, &'a PhaseSummary);

fn limits_of(cards: &[&Summary], op: Op) -> Vec<BusLimit> {
    let real = (0..)
        .zip(cards)
        .filter(|(_, summary)| !summary.caveats.contains(&Caveat::Simulated));
    let mut groups: Vec<(&str, Option<BytesPerSec>, Vec<Member<'_>>)> = Vec::new();
    for (place, summary) in real {
        let Some(phase) = sequential(summary, op) else {
            continue;
        };
        let ceiling = summary
            .target
            .device
            .known()
            .and_then(|device| ceiling(&device.bus));
        let host = summary.environment.hostname.as_str();
        let known = groups
            .iter_mut()
            .find(|(of, known, _)| *of == host && *known == ceiling);
        match known {
            Some((.., members)) => members.push((place, summary, phase)),
            None => groups.push((host, ceiling, vec![(place, summary, phase)])),
        }
    }
    let mut named = groups
        .iter()
        .map(|(host, ..)| *host)
        .filter(|host| !host.is_empty());
    let first = named.next();
    let several = named.any(|host| Some(host) != first);
    let limits = groups.into_iter().flat_map(|(host, ceiling, members)| {
        let host = (several && !host.is_empty()).then(|| host.to_owned());
        let limits = judged(op, ceiling, &members).into_iter();
        limits
            .map(|limit| BusLimit {
                host: host.clone(),
                ..limit
            })
            .collect::<Vec<_>>()
    });
    limits.collect()
}

/// Judges a speed as a share of the bus limit.
pub(crate) fn of_share(share: f64) -> Bottleneck {
    match share {
        share if share > IMPOSSIBLE => Bottleneck::Contradiction,
        share if share >= AT_CEILING => Bottleneck::Host,
        share if share <= UNDER_CEILING => Bottleneck::Card,
        _ => Bottleneck::Unclear,
    }
}

/// Judges the cards of a host on buses of the same speed, grouped by verdict.
fn judged(op: Op, ceiling: Option<BytesPerSec>, members: &[Member<'_>]) -> Vec<BusLimit> {
    let alike = is_narrow(members) && different(members) >= FEWEST_CARDS;
    let verdict = |(.., phase): &Member<'_>| match ceiling.map(|c| phase.bandwidth.mean / c.0) {
        Some(share) if alike && share > UNDER_CEILING && share <= IMPOSSIBLE => Bottleneck::Host,
        Some(share) => of_share(share),
        None => Bottleneck::Unclear,
    };
    let mut by_verdict: Vec<(Bottleneck, Vec<Member<'_>>)> = Vec::new();
    for member in members {
        let limit = verdict(member);
        match by_verdict.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, of)) => of.push(*member),
            None => by_verdict.push((limit, vec![*member])),
        }
    }
    let limits = by_verdict.into_iter();
    limits
        .filter_map(|(limit, of)| bus_limit_of(op, ceiling, limit, &of))
        .collect()
}

/// Returns the limit of cards with one verdict; `None` if there are none.
fn bus_limit_of(
    op: Op,
    ceiling: Option<BytesPerSec>,
    limit: Bottleneck,
    members: &[Member<'_>],
) -> Option<BusLimit> {
    let mean = stats::mean(&speeds(members))?;
    Some(BusLimit {
        op,
        host: None,
        members: members.iter().map(|(place, ..)| *place).collect(),
        measured: BytesPerSec(mean),
        ceiling,
        share: ceiling.map(|c| mean / c.0),
        cards: members.len().min(u32::MAX as usize) as u32,
        spread: spread(members),
        limit,
    })
}

fn speeds(members: &[Member<'_>]) -> Vec<f64> {
    let speeds = members.iter().map(|(.., phase)| phase.bandwidth.mean);
    speeds.collect()
}

/// Returns the standard deviation between the means of the cards, as a fraction of their mean.
fn spread(members: &[Member<'_>]) -> Option<f64> {
    SampleMoments::independent(&speeds(members)).map(|m| m.deviation / m.mean)
}

fn is_narrow(members: &[Member<'_>]) -> bool {
    spread(members).is_some_and(|s| s <= SAME_FIGURE)
}

/// Returns the number of different card models; specimens of one model count once, even with different labels.
fn different(found: &[Member<'_>]) -> usize {
    let targets: Vec<&Identity> = found
        .iter()
        .map(|(_, summary, _)| &summary.target)
        .collect();
    let kind = |target: &&Identity| match specimens_of(&targets, target) {
        Some(model) => model,
        None => target.display_name(),
    };
    let mut names: Vec<String> = targets.iter().map(kind).collect();
    names.sort();
    names.dedup();
    names.len()
}

/// Returns the model of a target if the list contains another specimen of it: the same model with another serial
/// number. The identity that a card reader reports does not identify the card in it.
pub(crate) fn specimens_of(all: &[&Identity], target: &Identity) -> Option<String> {
    let of = |identity: &Identity| {
        let device = identity.device.known()?;
        let tells_itself = device
            .card
            .as_ref()
            .is_none_or(|card| card.cid.known().is_some());
        Some((
            device.model.known()?.clone(),
            device.serial.known()?.clone(),
        ))
        .filter(|_| tells_itself)
    };
    let (model, serial) = of(target)?;
    let twin = |other: &&Identity| of(other).is_some_and(|(m, s)| m == model && s != serial);
    all.iter().any(twin).then_some(model)
}

/// Returns the cost of a layer for each workload: raw device against layer, as one family.
pub fn layer_cost(raw: &Summary, layer: &Summary) -> Vec<LayerCost> {
    let name = layer
        .target
        .filesystem
        .as_ref()
        .map_or_else(|| "raw".to_owned(), |fs| fs.fs_type.clone());
    layer_costs(&[(&name, raw, layer)])
        .pop()
        .unwrap_or_default()
}

/// Returns the costs of layers, given as name, reference and layer. All workloads of all layers are one family, so that
/// the number of cards and layers causes no false alarms.
pub fn layer_costs(layers: &[(&str, &Summary, &Summary)]) -> Vec<Vec<LayerCost>> {
    let phases: Vec<Vec<(&PhaseSummary, &PhaseSummary)>> = layers
        .iter()
        .map(|(_, reference, layer)| {
            // Phases without a value on either side are skipped, so that comparisons and phases keep the same indexes.
            let mut phases = common_phases(reference, layer);
            phases.retain(|(a, b)| has_rate(a) && has_rate(b));
            phases
        })
        .collect();
    let pairs: Vec<_> = phases
        .iter()
        .flatten()
        .map(|(a, b)| rate_pair(a, b))
        .collect();
    let mut compared = compare_family(&pairs).into_iter();
    let amplification = |phase: &PhaseSummary| phase.amplification.as_ref().map(|e| e.mean);
    let costs_of = |((name, ..), phases): (&(&str, _, _), &Vec<(&PhaseSummary, &PhaseSummary)>)| {
        let cost = |((a, b), comparison): (&(&PhaseSummary, &PhaseSummary), _)| LayerCost {
            layer: (*name).to_owned(),
            phase: a.phase.clone(),
            op: a.op,
            comparison,
            amplification_raw: amplification(a),
            amplification_layer: amplification(b),
        };
        phases.iter().zip(compared.by_ref()).map(cost).collect()
    };
    layers.iter().zip(&phases).map(costs_of).collect()
}

#[cfg(test)]
mod tests;
