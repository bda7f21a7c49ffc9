//! Fills of the classes of requests and of the parts of their time: each has a color and a pattern, so that color is
//! never the only difference.
//!
//! The patterns are defined once in a document ([`PATTERNS`]); the rules refer to them.

use hakaru_model::io_path::{ClassGroup, TimePart};

/// A fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Paint {
    /// Blue without a pattern: data.
    Solid,
    /// Orange diagonals: journal.
    Diagonal,
    /// Green dots: metadata.
    Dots,
    /// Purple crosses: file allocation tables; waiting.
    Cross,
    /// Light blue verticals: directories; block queue.
    Vertical,
    /// Small gray dots: not attributed; completion and wake-up.
    Speckled,
    /// Red horizontals: flushes.
    Horizontal,
    /// Gray without a pattern: the remainder.
    Plain,
}

impl Paint {
    /// CSS class of a filled shape.
    pub(super) fn class(self) -> String {
        format!("hk-k{}", self as usize)
    }

    /// CSS class of a stroke.
    pub(super) fn stroke(self) -> String {
        format!("hk-r{}", self as usize)
    }

    /// Color in pictures made of pixels, visible on light and dark backgrounds.
    pub(super) fn rgb(self) -> [u8; 3] {
        match self {
            Paint::Solid => [0x1f, 0x8a, 0xcc],
            Paint::Diagonal => [0xcc, 0x88, 0x00],
            Paint::Dots => [0x0a, 0xa3, 0x7a],
            Paint::Cross => [0xcc, 0x79, 0xa7],
            Paint::Vertical => [0x3d, 0x9a, 0xd1],
            Paint::Speckled | Paint::Plain => [0x8a, 0x94, 0x9e],
            Paint::Horizontal => [0xe0, 0x6a, 0x10],
        }
    }
}

impl Paint {
    /// Fill of the bars of a series.
    pub(super) fn of_series(series: usize) -> Paint {
        const ALL: [Paint; 6] = [
            Paint::Solid,
            Paint::Diagonal,
            Paint::Dots,
            Paint::Horizontal,
            Paint::Cross,
            Paint::Speckled,
        ];
        ALL[series % ALL.len()]
    }
}

impl From<ClassGroup> for Paint {
    fn from(group: ClassGroup) -> Paint {
        match group {
            ClassGroup::Data => Paint::Solid,
            ClassGroup::Journal => Paint::Diagonal,
            ClassGroup::Metadata => Paint::Dots,
            ClassGroup::Fat => Paint::Cross,
            ClassGroup::Directory => Paint::Vertical,
            ClassGroup::Unattributed => Paint::Speckled,
            ClassGroup::Flush => Paint::Horizontal,
        }
    }
}

impl From<TimePart> for Paint {
    fn from(part: TimePart) -> Paint {
        match part {
            TimePart::Flush => Paint::Horizontal,
            TimePart::Data => Paint::Solid,
            TimePart::Metadata => Paint::Dots,
            TimePart::WaitingBehind => Paint::Cross,
            TimePart::BlockQueue => Paint::Vertical,
            TimePart::WakeUp => Paint::Speckled,
            TimePart::JournalCommit => Paint::Diagonal,
            TimePart::FileSystem => Paint::Plain,
        }
    }
}

/// The patterns, for a document whose shapes have fills.
pub(crate) const PATTERNS: &str = "\
<defs>\
<pattern id=\"hk-p1\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" class=\"hk-n1\" opacity=\".35\"/><rect width=\"3\" height=\"6\" class=\"hk-n1\"/></pattern>\
<pattern id=\"hk-p2\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" class=\"hk-n2\" opacity=\".45\"/><circle cx=\"3\" cy=\"3\" r=\"1.7\" class=\"hk-n2\"/></pattern>\
<pattern id=\"hk-p3\" width=\"7\" height=\"7\" patternUnits=\"userSpaceOnUse\"><rect width=\"7\" height=\"7\" class=\"hk-n3\" opacity=\".4\"/><path d=\"M0 0L7 7M7 0L0 7\" class=\"hk-r3\" stroke-width=\"1.5\"/></pattern>\
<pattern id=\"hk-p4\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\" class=\"hk-n4\" opacity=\".45\"/><rect width=\"2\" height=\"5\" class=\"hk-n4\"/></pattern>\
<pattern id=\"hk-p5\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\"><rect width=\"4\" height=\"4\" class=\"hk-n5\" opacity=\".3\"/><circle cx=\"2\" cy=\"2\" r=\".8\" class=\"hk-n5\"/></pattern>\
<pattern id=\"hk-p6\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\" class=\"hk-n6\" opacity=\".35\"/><rect width=\"5\" height=\"2.2\" class=\"hk-n6\"/></pattern>\
</defs>";

macro_rules! light_rules {
    () => {
        "\
.hk-n1{fill:#e69f00}.hk-n2{fill:#009e73}.hk-n3{fill:#cc79a7}.hk-n4{fill:#56b4e9}.hk-n5{fill:#8a949e}.hk-n6{fill:#d55e00}\
.hk-k0{fill:#0072b2;stroke:#0072b2}.hk-k1{fill:url(#hk-p1);stroke:#8f6200}.hk-k2{fill:url(#hk-p2);stroke:#009e73}\
.hk-k3{fill:url(#hk-p3);stroke:#cc79a7}.hk-k4{fill:url(#hk-p4);stroke:#2a7fb3}.hk-k5{fill:url(#hk-p5);stroke:#8a949e}\
.hk-k6{fill:url(#hk-p6);stroke:#d55e00}.hk-k7{fill:#8a949e;stroke:#8a949e}\
.hk .hk-thru{opacity:.4;stroke:none}.hk-e{fill:none;stroke:#1b1f24;stroke-width:1.3}.hk-area{fill:#f1f4f7;stroke:#d5dbe1}\
.hk-r0,.hk-r1,.hk-r2,.hk-r3,.hk-r4,.hk-r5,.hk-r6,.hk-r7{fill:none;stroke-width:1.6}\
.hk-r0{stroke:#0072b2}.hk-r1{stroke:#8f6200}.hk-r2{stroke:#009e73}.hk-r3{stroke:#cc79a7}.hk-r4{stroke:#2a7fb3}\
.hk-r5,.hk-r7{stroke:#8a949e}.hk-r6{stroke:#d55e00}.hk-dot{stroke-linecap:round;stroke-width:2.6}.hk-beads{stroke-dasharray:2 4;stroke-width:1.8}\
.hk .hk-b{font-weight:650}\
.hk .hk-o{fill:#1b1f24;font-weight:600;paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}"
    };
}

macro_rules! dark_rules {
    () => {
        "\
.hk-n1{fill:#f0b030}.hk-n2{fill:#2cc295}.hk-n3{fill:#dd93bd}.hk-n4{fill:#8fd0f7}.hk-n5{fill:#7d8894}.hk-n6{fill:#ff8142}\
.hk-k0{fill:#4aa3df;stroke:#4aa3df}.hk-k1{stroke:#f0b030}.hk-k2{stroke:#2cc295}.hk-k3{stroke:#dd93bd}.hk-k4{stroke:#8fd0f7}\
.hk-k5{stroke:#7d8894}.hk-k6{stroke:#ff8142}.hk-k7{fill:#7d8894;stroke:#7d8894}\
.hk-e{stroke:#e7eaee}.hk-area{fill:#1c2228;stroke:#343b42}\
.hk-r0{stroke:#4aa3df}.hk-r1{stroke:#f0b030}.hk-r2{stroke:#2cc295}.hk-r3{stroke:#dd93bd}.hk-r4{stroke:#8fd0f7}\
.hk-r5,.hk-r7{stroke:#7d8894}.hk-r6{stroke:#ff8142}\
.hk .hk-o{fill:#e7eaee;stroke:#0f1419}"
    };
}

/// Rules of the fills in the light theme.
pub(super) const LIGHT: &str = light_rules!();
/// Rules of the fills in the dark theme, which follow the light ones.
pub(super) const DARK: &str = dark_rules!();
/// Style rules of the fills, for pages that embed several charts.
pub(crate) const PAINT_CSS: &str = concat!(
    light_rules!(),
    "@media(prefers-color-scheme:dark){",
    dark_rules!(),
    "}"
);
