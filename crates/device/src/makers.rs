//! Card manufacturers by the manufacturer ID in the CID.
//!
//! The SD and MMC associations assign these numbers and publish no list. This table is compiled from public lists:
//! `lsmmc` in mmc-utils, cameramemoryspeed.com ("Reading the SD card CID"), and vendor names in kernel sources for
//! eMMC. A number identifies the manufacturer of the card or its controller, not the brand printed on it.

/// An SD card manufacturer: number, name, and its OEM ID if it is always the same.
pub(crate) struct SdMaker {
    pub(crate) number: u8,
    pub(crate) name: &'static str,
    pub(crate) oem: Option<&'static str>,
}

const fn sd(number: u8, name: &'static str, oem: Option<&'static str>) -> SdMaker {
    SdMaker { number, name, oem }
}

const SD_MAKERS: [SdMaker; 27] = [
    sd(0x01, "Panasonic", Some("PA")),
    sd(0x02, "Toshiba/Kioxia", Some("TM")),
    sd(0x03, "SanDisk", Some("SD")),
    sd(0x06, "Ritek", None),
    sd(0x08, "Silicon Power", None),
    sd(0x09, "ATP", Some("AP")),
    sd(0x13, "Kingmax", None),
    sd(0x18, "Infineon", None),
    sd(0x19, "Dynacard", None),
    sd(0x1a, "PQI", None),
    sd(0x1b, "Samsung", Some("SM")),
    sd(0x1c, "Transcend", None),
    sd(0x1d, "ADATA", Some("AD")),
    sd(0x1e, "Transcend", None),
    sd(0x1f, "Kingston", None),
    sd(0x27, "Phison", Some("PH")),
    sd(0x28, "Lexar", Some("BE")),
    sd(0x31, "Silicon Power", None),
    sd(0x33, "STMicroelectronics", None),
    sd(0x41, "Kingston", None),
    sd(0x51, "STEC", None),
    sd(0x5d, "Swissbit", None),
    sd(0x74, "Transcend", None),
    sd(0x76, "Patriot", None),
    sd(0x82, "Sony", None),
    sd(0x9c, "Angelbird/Hoodman", None),
    sd(0xaa, "QEMU (emulated)", Some("XY")),
];

const MMC_MAKERS: [(u8, &str); 15] = [
    (0x00, "SanDisk"),
    (0x02, "SanDisk/Kingston"),
    (0x03, "Toshiba"),
    (0x11, "Toshiba/Kioxia"),
    (0x13, "Micron"),
    (0x15, "Samsung"),
    (0x45, "SanDisk"),
    (0x70, "Kingston"),
    (0x88, "Foresee (Longsys)"),
    (0x90, "SK hynix"),
    (0x9b, "YMTC"),
    (0xaa, "QEMU (emulated)"),
    (0xd6, "Foresee (Longsys)"),
    (0xf4, "Biwin"),
    (0xfe, "Micron"),
];

/// Returns the manufacturer of an SD card.
pub(crate) fn sd_maker(number: u8) -> Option<&'static SdMaker> {
    SD_MAKERS.iter().find(|maker| maker.number == number)
}

/// Returns the manufacturer name of an eMMC or MMC.
pub(crate) fn mmc_maker(number: u8) -> Option<&'static str> {
    MMC_MAKERS
        .iter()
        .find(|(known, _)| *known == number)
        .map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_so_that_none_stands_twice() {
        assert!(
            SD_MAKERS
                .windows(2)
                .all(|pair| pair[0].number < pair[1].number)
        );
        assert!(MMC_MAKERS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(sd_maker(0x03).unwrap().name, "SanDisk");
        assert_eq!(mmc_maker(0x15), Some("Samsung"));
    }
}
