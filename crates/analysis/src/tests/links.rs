//! Bus limits from the printed speed of a link.

use crate::limits::ceiling;
use hakaru_model::facts::{Bus, Fact};

fn rounded(bus: &Bus) -> Option<u64> {
    ceiling(bus).map(|limit| limit.0.round() as u64)
}

#[test]
fn links_of_disks_use_ten_bits_a_byte() {
    for (text, limit) in [
        ("6.0 Gbps", Some(600_000_000)),
        ("1.5 Gbps", Some(150_000_000)),
        ("  3 Gbps", Some(300_000_000)),
        ("12", Some(1_200_000_000)),
        ("0.0 Gbps", None),
        ("0", None),
        ("", None),
        ("Gbps 6", None),
        ("-6 Gbps", None),
        ("1.2.3 Gbps", None),
    ] {
        let link = Fact::Known(text.into());
        assert_eq!(rounded(&Bus::Scsi { link }), limit, "{text}");
    }
}

#[test]
fn links_of_pci_express_use_the_coding_of_their_generation() {
    // 8b/10b up to 5 GT/s, 128b/130b above, times the lanes.
    for (text, limit) in [
        ("2.5 GT/s PCIe x1", Some(250_000_000)),
        ("5.0 GT/s PCIe x1", Some(500_000_000)),
        ("5.0 GT/s PCIe x2", Some(1_000_000_000)),
        ("5.1 GT/s PCIe x1", Some(627_692_308)),
        ("8.0 GT/s PCIe x4", Some(3_938_461_538)),
        ("8.0 GT/s PCIe ×4", Some(3_938_461_538)),
        ("16.0 GT/s PCIe x16", Some(31_507_692_308)),
        ("8.0 GT/s PCIe x0", None),
        ("8.0 GT/s PCIe x", None),
        ("8.0 GT/s PCIe", None),
        ("0.0 GT/s PCIe x4", None),
    ] {
        let link = Fact::Known(text.into());
        assert_eq!(rounded(&Bus::Nvme { link }), limit, "{text}");
    }
}

#[test]
fn usb_has_the_limit_of_its_speed() {
    for (speed, limit) in [
        (0, None),
        (1, Some(100_000)),
        (12, Some(1_200_000)),
        (13, Some(53_248_000)),
        (480, Some(53_248_000)),
        (481, Some(48_100_000)),
        (5_000, Some(500_000_000)),
        (5_001, Some(606_181_818)),
        (20_000, Some(2_424_242_424)),
    ] {
        let speed_mbps = Fact::Known(speed);
        assert_eq!(rounded(&Bus::Usb { speed_mbps }), limit, "{speed}");
    }
}
