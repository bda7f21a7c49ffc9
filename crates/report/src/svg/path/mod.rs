//! Charts of the path of an I/O: bytes by layer, time by part, queue depth and addresses over time, request sizes, and differences
//! between layers.

mod addresses;
mod depth;
mod differences;
mod flow;
mod shares;
mod sizes;

pub(crate) use addresses::{AddressMark, AddressPlot, LayoutArea, addresses};
pub(crate) use depth::{DepthPlot, DepthPoint, depth};
pub(crate) use differences::{Differences, differences};
pub(crate) use flow::{FlowBand, FlowPicture, FlowStage, flow};
pub(crate) use shares::{ShareBar, SharePart, Shares, shares};
pub(crate) use sizes::{SizeBars, SizeRow, sizes};

use super::canvas::{Anchor, Canvas, fitted, width_of};
use super::paint::Paint;

/// Width and height of a sample of a fill.
const SAMPLE: (f64, f64) = (18.0, 11.0);
/// Height of a row of a legend.
const ROW: f64 = 19.0;

/// Draws samples of fills with their names from the top, with as many in a row as fit, and returns the height used.
fn legend(canvas: &mut Canvas, width: f64, names: &[(Paint, &str)]) -> f64 {
    let (mut x, mut y) = (0.0, 0.0);
    let lead = SAMPLE.0 + 6.0;
    for (paint, name) in names {
        let name = fitted(name, width - lead);
        let wide = lead + width_of(&name);
        if x > 0.0 && x + wide > width {
            (x, y) = (0.0, y + ROW);
        }
        canvas.rect(*paint, (x + 0.5, y + 0.5), SAMPLE, false);
        canvas.text((x + lead, y + 10.5), Anchor::Start, "hk-t", &name);
        x += wide + 14.0;
    }
    match names.is_empty() {
        true => 0.0,
        false => y + ROW + 6.0,
    }
}
