//! Texts of comparisons of two sides.

use crate::text::values::*;
use crate::text::{BusTransfer, Language, en, ja, language};
use hakaru_model::advice::Choice;
use hakaru_model::finding::Figure;

texts! {
    /// A figure of one operation in a mix of reads and writes.
    pub(crate) fn figure_of_mix(figure: Figure) -> String;
    /// A percentile for which there are too few I/Os.
    pub(crate) fn too_few_ios(name: &str) -> String;
    /// In how many of the figures that two sides have one is better.
    pub(crate) fn better_in(name: &str, count: usize, of: usize) -> String;
    /// Which of two things to use; `so_far` is whether figures are missing.
    pub(crate) fn choice(choice: Choice, names: (&str, &str), so_far: bool, missing: &[Figure]) -> String;
    /// How a figure of the second side differs from the first.
    pub(crate) fn figure_change(name: &str, ratio: f64, change: FigureChange) -> String;
    /// How much of an I/O is the transfer over a bus, from two widths of it.
    pub(crate) fn bus_transfer(of: &BusTransfer) -> String;
    /// All runs of one side came before those of the other.
    pub(crate) fn sides_in_sequence(first: &str, then: &str) -> String;
    /// The choice where every measured figure of both sides is far better than needed.
    pub(crate) fn choice_ample() -> &'static str;
    /// Figures of two sides that differ by 5% at most, of all that both have.
    pub(crate) fn figures_level(count: usize, of: usize) -> String;
    /// What speaks against the faster side.
    pub(crate) fn against_it(parts: &[String]) -> String;
    /// Column of the choices.
    pub(crate) fn choice_title() -> &'static str;
    /// Column of the choices, with the ratios of the second to the first.
    pub(crate) fn choice_column(first: &str, second: &str) -> String;
    /// A sentence that holds for one layer of several.
    pub(crate) fn on_layer(layer: &str, sentence: &str) -> String;
    /// A verdict on a use of which some figures are missing, in one word.
    pub(crate) fn incomplete() -> &'static str;
    /// What speaks against the better side.
    pub(crate) fn against_side(worse: &str) -> String;
    /// The slowest interval of a write that stalls.
    pub(crate) fn slowest_interval_of(value: &str, other: Option<&str>) -> String;
    /// A figure with its unit.
    pub(crate) fn quantity_of(figure: Figure, value: f64) -> String;
    /// The share of an I/O that passes in the block layer and below, if most of its time is spent above.
    pub(crate) fn waiting_above(sides: [(&str, &str, &str); 2]) -> String;
    /// Heading of verdicts of which none is final.
    pub(crate) fn verdicts_so_far() -> &'static str;
    /// The 99th percentiles of the latency of both sides.
    pub(crate) fn tails(first: (&str, &str), second: (&str, &str)) -> String;
    /// One side wrote a new file, the other one over an existing file.
    pub(crate) fn side_with_new_file(new: &str, old: &str) -> String;
    /// Some repeats of a side wrote a new file, the others over an existing one.
    pub(crate) fn repeats_with_new_file(new: usize, of: usize) -> String;
}
