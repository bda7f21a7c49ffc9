//! The style of each shape of a chart: its classes by the rules of the document, and its own attributes.

/// How a shape is filled.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Fill<'s> {
    None,
    Color([u8; 3]),
    /// ID of a pattern.
    Pattern(&'s str),
}

/// The properties that charts use.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShapeStyle<'s> {
    pub(super) fill: Fill<'s>,
    pub(super) stroke: Option<[u8; 3]>,
    pub(super) stroke_width: f32,
    pub(super) dashes: Vec<f32>,
    pub(super) round_caps: bool,
    pub(super) round_joins: bool,
    pub(super) opacity: f32,
    pub(super) fill_opacity: f32,
    /// Whether the fill covers the stroke.
    pub(super) stroke_first: bool,
}

impl Default for ShapeStyle<'_> {
    fn default() -> Self {
        ShapeStyle {
            fill: Fill::Color([0; 3]),
            stroke: None,
            stroke_width: 1.0,
            dashes: Vec::new(),
            round_caps: false,
            round_joins: false,
            opacity: 1.0,
            fill_opacity: 1.0,
            stroke_first: false,
        }
    }
}

impl<'s> ShapeStyle<'s> {
    /// Sets a property; unknown ones, such as those of fonts, have no effect.
    pub(super) fn set(&mut self, property: &str, value: &'s str) {
        let number = || value.trim_end_matches("px").parse::<f32>().ok();
        let share = || number().map_or(1.0, |share| share.clamp(0.0, 1.0));
        match property {
            "fill" => self.fill = fill(value),
            "stroke" => self.stroke = color(value),
            "stroke-width" => self.stroke_width = number().unwrap_or(1.0),
            "stroke-dasharray" => {
                let lengths = value.split([' ', ',']);
                self.dashes = lengths.filter_map(|length| length.parse().ok()).collect();
            }
            "stroke-linecap" => self.round_caps = value == "round",
            "stroke-linejoin" => self.round_joins = value == "round",
            "opacity" => self.opacity = share(),
            "fill-opacity" => self.fill_opacity = share(),
            "paint-order" => self.stroke_first = value == "stroke",
            _ => {}
        }
    }
}

fn fill(value: &str) -> Fill<'_> {
    let pattern = value.strip_prefix("url(#");
    match (pattern.and_then(|id| id.strip_suffix(')')), color(value)) {
        (Some(id), _) => Fill::Pattern(id),
        (None, Some(color)) => Fill::Color(color),
        (None, None) => Fill::None,
    }
}

/// A color in the form `#rgb` or `#rrggbb`; `None` for anything else, such as `none`.
fn color(value: &str) -> Option<[u8; 3]> {
    let digits = value.strip_prefix('#')?;
    let all = u32::from_str_radix(digits, 16).ok()?;
    let part = |shift: u32, mask: u32| (all >> shift & mask) as u8;
    match digits.len() {
        3 => Some([8, 4, 0].map(|shift| part(shift, 0xf) * 0x11)),
        6 => Some([16, 8, 0].map(|shift| part(shift, 0xff))),
        _ => None,
    }
}

/// The rules of a document that apply to shapes.
#[derive(Debug, Default)]
pub(super) struct StyleRules<'s> {
    rules: Vec<StyleRule<'s>>,
}

#[derive(Debug)]
struct StyleRule<'s> {
    class: &'s str,
    /// Number of classes in the selector: the larger number applies.
    classes: usize,
    declarations: &'s str,
}

impl<'s> StyleRules<'s> {
    /// Reads the rules whose selector is a class, or a class within another one. Rules of text do not apply to its
    /// outlines.
    pub(super) fn of(css: &'s str) -> StyleRules<'s> {
        let mut rules = Vec::new();
        for rule in css.split('}') {
            let Some((selectors, declarations)) = rule.split_once('{') else {
                continue;
            };
            for selector in selectors.split(',') {
                let last = selector.split_ascii_whitespace().next_back();
                if let Some(class) = last.and_then(|last| last.strip_prefix('.')) {
                    rules.push(StyleRule {
                        class,
                        classes: selector.split_ascii_whitespace().count(),
                        declarations,
                    });
                }
            }
        }
        // Rules of the same weight keep their order.
        rules.sort_by_key(|rule| rule.classes);
        StyleRules { rules }
    }

    /// Applies the rules of a `class` attribute.
    pub(super) fn apply(&self, classes: &str, style: &mut ShapeStyle<'s>) {
        for rule in &self.rules {
            if classes.split(' ').any(|class| class == rule.class) {
                for declaration in rule.declarations.split(';') {
                    if let Some((property, value)) = declaration.split_once(':') {
                        style.set(property.trim(), value.trim());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_more_specific_rule_applies_then_the_later_one() {
        let css = ".hk .b{fill:#0f0}.a,.b{fill:#123456;stroke:#fff}.b{stroke:none;stroke-width:4px}\
                   .hk text.b{fill:#f00}";
        let rules = StyleRules::of(css);
        let mut style = ShapeStyle::default();
        rules.apply("x b", &mut style);
        assert_eq!(style.fill, Fill::Color([0, 255, 0]));
        assert_eq!((style.stroke, style.stroke_width), (None, 4.0));
        let mut style = ShapeStyle::default();
        rules.apply("a", &mut style);
        assert_eq!(style.fill, Fill::Color([0x12, 0x34, 0x56]));
        assert_eq!(style.stroke, Some([255; 3]));
    }

    #[test]
    fn properties_are_read_in_the_forms_of_the_rules() {
        let mut style = ShapeStyle::default();
        for (property, value) in [
            ("fill", "url(#hk-p1)"),
            ("stroke-dasharray", "9 4 1.5 4"),
            ("opacity", ".35"),
            ("paint-order", "stroke"),
            ("font-size", "12px"),
        ] {
            style.set(property, value);
        }
        assert_eq!(style.fill, Fill::Pattern("hk-p1"));
        assert_eq!(style.dashes, [9.0, 4.0, 1.5, 4.0]);
        assert_eq!(style.opacity, 0.35);
        assert!(style.stroke_first);
    }
}
