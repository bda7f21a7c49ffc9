//! What a wider bus saves: why four data lines are not four times as fast as one.

use super::circumstances::new_file_side;
use crate::text::{self, BusTransfer};
use hakaru_model::facts::Bus;
use hakaru_model::finding::{PhaseSummary, Summary};

/// The number of data lines of a side, and its clock in Hz, if known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BusWidth {
    lines: u32,
    clock: Option<u64>,
    /// Whether the number is from the name of the results.
    by_name: bool,
}

/// A sentence about the transfer time of the first workload with one I/O in flight, if the sides differ in the width of
/// their bus.
///
/// An I/O takes a fixed time `F` and the transfer `X / width`. With two widths and one clock, `T1 = F + X / w1` and
/// `T2 = F + X / w2` give both. The times are those in the device, if its counters have them; otherwise the mean time of
/// an I/O, which is the reciprocal of the IOPS and contains the host.
pub(super) fn transfer(
    names: (&str, &str),
    phases: &[(&PhaseSummary, &PhaseSummary)],
    sides: (&Summary, &Summary),
) -> Option<String> {
    let (a, b) = (width(sides.0, names.0)?, width(sides.1, names.1)?);
    let clocks_differ = a.clock.zip(b.clock).is_some_and(|(a, b)| a != b);
    if a.lines == b.lines || clocks_differ {
        return None;
    }
    let one_in_flight = |phase: &PhaseSummary| {
        let shape = phase.detail.shape?;
        let plain = shape.sync_every == 0 && !shape.sync_open;
        (shape.iodepth == 1 && shape.workers == 1 && plain).then_some(shape.block)
    };
    phases.iter().find_map(|(of_a, of_b)| {
        let block = one_in_flight(of_a)?;
        (one_in_flight(of_b)? == block).then_some(())?;
        let (narrow, wide) = match a.lines < b.lines {
            true => ((a, of_a), (b, of_b)),
            false => ((b, of_b), (a, of_a)),
        };
        let all = |phase: &PhaseSummary| 1e9 / phase.iops.mean;
        let in_device = narrow.1.detail.device_ns.zip(wide.1.detail.device_ns);
        let (long, short) = in_device.unwrap_or_else(|| (all(narrow.1), all(wide.1)));
        let host = in_device.map(|_| (all(narrow.1) - long, all(wide.1) - short));
        let lines = (narrow.0.lines, wide.0.lines);
        let narrow_transfer = transfer_time((long, short), lines)?;
        Some(text::bus_transfer(&BusTransfer {
            lines,
            block,
            times: (long, short),
            new_file: new_file_side(of_a, of_b).map(|first| match first {
                true => names.0.to_owned(),
                false => names.1.to_owned(),
            }),
            host: host.filter(|(a, b)| *a > 0.0 && *b > 0.0),
            transfer: narrow_transfer,
            by_name: a.by_name || b.by_name,
        }))
    })
}

/// Transfer time over the narrow bus, in the unit of the times; `None` if the times cannot come from the widths.
fn transfer_time((long, short): (f64, f64), (narrow, wide): (u32, u32)) -> Option<f64> {
    let saved_share = 1.0 - f64::from(narrow) / f64::from(wide);
    let transfer = (long - short) / saved_share;
    (transfer > 0.0 && transfer < long).then_some(transfer)
}

/// The width of the bus from the facts of the device, or from a name such as `4-bit` or `sdio-4bit`.
fn width(of: &Summary, name: &str) -> Option<BusWidth> {
    let device = of.target.device.known();
    if let Some(Bus::Mmc {
        width_bits,
        clock_hz,
        ..
    }) = device.map(|device| &device.bus)
        && let Some(&lines) = width_bits.known()
    {
        return Some(BusWidth {
            lines,
            clock: clock_hz.known().copied(),
            by_name: false,
        });
    }
    let before = name.split_once("bit")?.0.trim_end_matches(['-', ' ']);
    let digits = before.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    let lines = digits.parse().ok().filter(|n| matches!(n, 1 | 4 | 8))?;
    Some(BusWidth {
        lines,
        clock: None,
        by_name: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The article's 406 and 577 IOPS of 4 KiB, and a bus that is the only cost.
    #[test]
    fn the_transfer_is_what_the_widths_explain() {
        let ms = |iops: f64| 1e3 / iops;
        let transfer = transfer_time((ms(406.0), ms(577.0)), (1, 4)).unwrap();
        assert!((transfer - 0.973).abs() < 0.001, "{transfer}");
        let only_bus = transfer_time((4.0, 1.0), (1, 4));
        assert_eq!(only_bus, None, "no time is left for anything else");
        assert_eq!(transfer_time((1.0, 2.0), (1, 4)), None);
    }

    /// Regression: the printed parts did not add up to the printed times: 800 µs and 1.50 ms for 2.26 ms.
    #[test]
    fn the_parts_add_up_to_the_time_of_an_io() {
        let of = BusTransfer {
            lines: (1, 4),
            block: hakaru_model::units::Bytes(4096),
            times: (2.258e6, 1.661e6),
            new_file: None,
            host: Some((199e3, 69e3)),
            transfer: transfer_time((2.258e6, 1.661e6), (1, 4)).unwrap(),
            by_name: true,
        };
        assert_eq!(
            of.parts(),
            ["2.26 ms", "1.66 ms", "800 µs", "200 µs", "1.46 ms"]
        );
        assert_eq!(of.carried(), ["20.6 MB/s", "2.37 MB/s"]);
    }
}
