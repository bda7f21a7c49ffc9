//! Colors, dash patterns and markers of the charts.
//!
//! Colors: Okabe and Ito, "Color Universal Design" (2008), distinguishable with all common types of color vision. On
//! white, its orange is darkened to a contrast of 3:1; the dark theme lightens all of them. Its light blue is left out of
//! lines, where it cannot be told from the blue; purple and gray follow its black.

use super::ChartTheme;

/// Rules of the light theme, and those that hold in both.
macro_rules! light_rules {
    () => {
        "\
.hk text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Hiragino Sans','Yu Gothic UI','Noto Sans CJK JP',sans-serif;font-size:12px;font-variant-numeric:tabular-nums}\
.hk text.hk-title{font-size:16px;font-weight:700}.hk text.hk-sub{font-size:13px}\
.hk text.hk-name{font-size:13px;font-weight:600}.hk text.hk-value{font-size:13px}.hk-y{font-weight:600}\
.hk .hk-halo-text{fill:#1b1f24;paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}\
.hk-bg{fill:#fff}.hk-t{fill:#1b1f24}.hk-m{fill:#56606b}\
.hk-g{stroke:#e6eaee;stroke-width:1;fill:none}.hk-a{stroke:#56606b;stroke-width:1;fill:none}\
.hk-w{stroke:#1b1f24;stroke-width:1.5;fill:none}.hk-h{stroke:#fff;stroke-width:4;fill:none}\
.hk-run{stroke:#1b1f24;stroke-width:4.4;stroke-linecap:round;fill:none}.hk-halo{stroke:#fff;stroke-width:6;stroke-linecap:round;fill:none}\
.hk-box{fill:#fff;stroke:#1b1f24;stroke-width:1.3}\
.hk-c{stroke:#56606b;stroke-width:1.5;stroke-dasharray:3 3;fill:none}.hk-rated{stroke:#1b1f24;stroke-width:3;fill:none}.hk-leader{stroke:#8a949e;stroke-width:1;fill:none}\
.hk-l{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.hk-thin{stroke-width:1.25}.hk-pale{stroke-width:1;opacity:.55}\
.hk-d1{stroke-dasharray:7 4}.hk-d2{stroke-dasharray:1.5 4}.hk-d3{stroke-dasharray:9 4 1.5 4}\
.hk-s0{stroke:#0072b2}.hk-s1{stroke:#8f6200}.hk-s2{stroke:#009e73}.hk-s3{stroke:#d55e00}.hk-s4{stroke:#cc79a7}.hk-s5{stroke:#1b1f24}.hk-s6{stroke:#7b3fa0}.hk-s7{stroke:#6b7680}\
.hk-f0{fill:#0072b2}.hk-f1{fill:#8f6200}.hk-f2{fill:#009e73}.hk-f3{fill:#d55e00}.hk-f4{fill:#cc79a7}.hk-f5{fill:#1b1f24}.hk-f6{fill:#7b3fa0}.hk-f7{fill:#6b7680}\
.hk-ring{stroke:#56606b;stroke-width:1.5;fill:#fff}"
    };
}

/// Rules of the dark theme, which follow those of the light one.
macro_rules! dark_rules {
    () => {
        "\
.hk-bg{fill:#0f1419}.hk-t{fill:#e7eaee}.hk-m{fill:#a3adb8}\
.hk .hk-halo-text{fill:#e7eaee;stroke:#0f1419}\
.hk-g{stroke:#26313b}.hk-a{stroke:#a3adb8}.hk-w,.hk-rated{stroke:#e7eaee}.hk-h{stroke:#0f1419}.hk-c{stroke:#a3adb8}\
.hk-run{stroke:#e7eaee}.hk-halo{stroke:#0f1419}.hk-box{fill:#0f1419;stroke:#e7eaee}.hk-ring{stroke:#a3adb8;fill:#0f1419}\
.hk-s0{stroke:#4aa3df}.hk-s1{stroke:#f0b030}.hk-s2{stroke:#2cc295}.hk-s3{stroke:#ff8142}.hk-s4{stroke:#dd93bd}.hk-s5{stroke:#e7eaee}.hk-s6{stroke:#b794f4}.hk-s7{stroke:#8a949e}\
.hk-f0{fill:#4aa3df}.hk-f1{fill:#f0b030}.hk-f2{fill:#2cc295}.hk-f3{fill:#ff8142}.hk-f4{fill:#dd93bd}.hk-f5{fill:#e7eaee}.hk-f6{fill:#b794f4}.hk-f7{fill:#8a949e}"
    };
}

/// Style rules of all charts, for pages that embed several.
pub(crate) const CSS: &str = concat!(
    light_rules!(),
    "@media(prefers-color-scheme:dark){",
    dark_rules!(),
    "}"
);

/// Style rules of a standalone chart in one theme; `painted` adds those of the fills.
pub(super) fn rules(theme: ChartTheme, painted: bool) -> String {
    let (paint_light, paint_dark) = match painted {
        true => (super::paint::LIGHT, super::paint::DARK),
        false => ("", ""),
    };
    match theme {
        ChartTheme::Light => format!("{}{paint_light}", light_rules!()),
        ChartTheme::Dark => format!(
            "{}{paint_light}{}{paint_dark}",
            light_rules!(),
            dark_rules!()
        ),
        ChartTheme::Auto if painted => format!("{CSS}{}", super::PAINT_CSS),
        ChartTheme::Auto => CSS.to_owned(),
    }
}

/// Number of colors in the palette.
const COLORS: usize = 8;
const DASHES: usize = 4;
const MARKERS: usize = 6;

/// After the last color, colors repeat with the marker and dash pattern of the next series.
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
    let outline: &[(f64, f64)] = match shifted(series) % MARKERS {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Red, green and blue of `#0072b2`.
    fn rgb(color: &str) -> [f64; 3] {
        let part = |at| u8::from_str_radix(&color[at..at + 2], 16).unwrap();
        [1, 3, 5].map(|at| f64::from(part(at)))
    }

    /// Colors of all lines in these rules, in order.
    fn lines(rules: &str) -> Vec<[f64; 3]> {
        let color = |nth| {
            let start = format!(".hk-s{nth}{{stroke:");
            let at = rules.find(&start)? + start.len();
            Some(rgb(&rules[at..at + 7]))
        };
        (0..COLORS).map_while(color).collect()
    }

    #[test]
    fn no_two_lines_have_nearly_the_same_color() {
        for rules in [light_rules!(), dark_rules!()] {
            let colors = lines(rules);
            assert_eq!(colors.len(), COLORS);
            for (nth, a) in colors.iter().enumerate() {
                for (other, b) in colors.iter().enumerate().skip(nth + 1) {
                    let parts = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
                    let apart = parts.sum::<f64>().sqrt();
                    assert!(apart > 50.0, "{nth} and {other}: {apart}");
                }
            }
        }
    }

    #[test]
    fn styles_repeat_after_24_series_at_the_earliest() {
        let style = |series| (line(series), marker(series, 0.0, 0.0));
        let all: std::collections::BTreeSet<_> = (0..24).map(style).collect();
        assert_eq!(all.len(), 24);
    }
}
