//! Colors, dash patterns and markers of the charts.
//!
//! Colors: Okabe and Ito, "Color Universal Design" (2008), distinguishable with all common types of color vision. The
//! dark theme replaces the two darkest colors by lighter ones of the same palette.

/// Style rules of all charts, for pages that embed several.
pub(crate) const CSS: &str = "\
.hk text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Noto Sans CJK JP',sans-serif;font-size:12px}\
.hk text.hk-title{font-size:15px;font-weight:600}\
.hk-bg{fill:#fff}.hk-t{fill:#1b1f24}.hk-m{fill:#59636e}\
.hk-g{stroke:#dde2e7;stroke-width:1}.hk-a{stroke:#59636e;stroke-width:1}\
.hk-w{stroke:#1b1f24;stroke-width:1.5;fill:none}.hk-h{stroke:#fff;stroke-width:4;fill:none}\
.hk-c{stroke:#59636e;stroke-width:1.5;stroke-dasharray:3 3}\
.hk-l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.hk-thin{stroke-width:1.25}\
.hk-d1{stroke-dasharray:7 4}.hk-d2{stroke-dasharray:1.5 4}.hk-d3{stroke-dasharray:9 4 1.5 4}\
.hk-s0{stroke:#0072b2}.hk-s1{stroke:#d55e00}.hk-s2{stroke:#009e73}.hk-s3{stroke:#cc79a7}.hk-s4{stroke:#e69f00}.hk-s5{stroke:#56b4e9}\
.hk-f0{fill:#0072b2}.hk-f1{fill:#d55e00}.hk-f2{fill:#009e73}.hk-f3{fill:#cc79a7}.hk-f4{fill:#e69f00}.hk-f5{fill:#56b4e9}\
@media(prefers-color-scheme:dark){\
.hk-bg{fill:#14171a}.hk-t{fill:#e6e9ec}.hk-m{fill:#9aa4ae}\
.hk-g{stroke:#2c3238}.hk-a{stroke:#9aa4ae}.hk-w{stroke:#e6e9ec}.hk-h{stroke:#14171a}.hk-c{stroke:#9aa4ae}\
.hk-s0{stroke:#56b4e9}.hk-s5{stroke:#f0e442}.hk-f0{fill:#56b4e9}.hk-f5{fill:#f0e442}}";

/// Number of colors in the palette.
const COLORS: usize = 6;
const DASHES: usize = 4;

/// After the last color, colors repeat with the marker and dash pattern of the next series: 36 styles in total.
fn shifted(series: usize) -> usize {
    series + series / COLORS
}

/// CSS classes of the line of a series.
pub(super) fn line(series: usize) -> String {
    match shifted(series) % DASHES {
        0 => format!("hk-l hk-s{}", series % COLORS),
        dash => format!("hk-l hk-s{} hk-d{dash}", series % COLORS),
    }
}

/// CSS class of the filled shapes of a series.
pub(super) fn fill(series: usize) -> String {
    format!("hk-f{}", series % COLORS)
}

/// The marker of a series as a path around a point.
pub(super) fn marker(series: usize, x: f64, y: f64) -> String {
    let outline: &[(f64, f64)] = match shifted(series) % COLORS {
        0 => return format!("M{x:.1} {:.1}a3.8 3.8 0 1 1 .01 0z", y + 3.8),
        1 => &[(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)],
        2 => &[(0.0, -4.6), (4.4, 3.4), (-4.4, 3.4)],
        3 => &[(0.0, -4.9), (4.9, 0.0), (0.0, 4.9), (-4.9, 0.0)],
        4 => &[(0.0, 4.6), (4.4, -3.4), (-4.4, -3.4)],
        _ => &[(-4.4, -1.5), (-1.5, -4.4), (4.4, 1.5), (1.5, 4.4)],
    };
    let points: Vec<String> = outline
        .iter()
        .map(|(dx, dy)| format!("{:.1} {:.1}", x + dx, y + dy))
        .collect();
    format!("M{}z", points.join("L"))
}
