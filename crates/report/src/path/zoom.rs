//! The picture of addresses over time of one phase, as a page of its own that shows any part of it.

use super::{phases, pictures, subjects};
use crate::document::{Document, DocumentBlock};
use crate::workload::with_workloads_of;
use crate::{naming, text};
use hakaru_model::finding::Summary;

/// A part of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AddressWindow {
    /// Start and end in seconds since the phase began.
    pub seconds: (f64, f64),
    /// First and last address, in bytes from the start of the disk.
    pub bytes: (f64, f64),
}

impl AddressWindow {
    /// Limits the window to another one; a side that is empty then, or is not a number, becomes that of the other.
    #[must_use]
    pub fn within(self, whole: &AddressWindow) -> AddressWindow {
        let side = |own: (f64, f64), all: (f64, f64)| {
            let cut = (own.0.max(all.0), own.1.min(all.1));
            match cut.0 < cut.1 {
                true => cut,
                false => all,
            }
        };
        AddressWindow {
            seconds: side(self.seconds, whole.seconds),
            bytes: side(self.bytes, whole.bytes),
        }
    }
}

/// The picture of one phase.
#[derive(Clone, Debug)]
pub struct AddressPage {
    /// ID and name of each phase that has a picture.
    pub phases: Vec<(String, String)>,
    /// ID of the phase that is shown.
    pub phase: String,
    /// All addresses and the whole time.
    pub whole: AddressWindow,
    /// What is shown.
    pub shown: AddressWindow,
    /// The page.
    pub html: String,
}

/// Renders the addresses of the requests of a phase over time. An unknown phase is the first one; without a wanted
/// window, all is shown. `None` if no request was kept.
pub fn path_addresses(
    summary: &Summary,
    phase: &str,
    wanted: Option<AddressWindow>,
) -> Option<AddressPage> {
    with_workloads_of([summary], || {
        let of = subjects(std::slice::from_ref(summary));
        let all = phases(&of);
        let with_picture = all.iter().filter_map(|phase| {
            let side = phase
                .sides
                .iter()
                .find(|side| pictures::whole(side).is_some())?;
            Some((phase, side))
        });
        let with_picture: Vec<_> = with_picture.collect();
        let chosen = with_picture.iter().find(|(of, _)| of.id == phase);
        let (of_phase, side) = chosen.or(with_picture.first())?;
        let whole = pictures::whole(side)?;
        let shown = wanted.map_or(whole, |wanted| wanted.within(&whole));
        let chart = pictures::addresses_within(of_phase, side, &shown);
        let document = Document {
            title: text::path_title(&naming::target(summary)),
            under: Vec::new(),
            blocks: vec![
                DocumentBlock::Part(of_phase.name.clone()),
                DocumentBlock::WideChart(Box::new(chart)),
            ],
        };
        let names = with_picture.iter();
        Some(AddressPage {
            phases: names
                .map(|(phase, _)| (phase.id.clone(), phase.name.clone()))
                .collect(),
            phase: of_phase.id.clone(),
            whole,
            shown,
            html: document.html(),
        })
    })
}
