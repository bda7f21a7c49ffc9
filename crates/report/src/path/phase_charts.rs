//! The charts of a traced phase, and their places on a page.

use super::{PathPhase, depth, figures, pictures};
use crate::chart::Chart;
use crate::document::{ColumnStyle, DocumentBlock, beside};

/// The charts of a phase.
pub(super) struct PhaseCharts {
    /// Bytes by layer, for each side.
    pub(super) flows: Vec<Chart>,
    /// Parts of the time of an operation, of all sides.
    pub(super) time: Option<Chart>,
    /// Why the sides differ.
    pub(super) differences: Vec<Chart>,
    /// Charts of requests, for each side.
    pub(super) sides: Vec<SideCharts>,
}

/// Charts of the requests of one side.
pub(super) struct SideCharts {
    addresses: Option<Chart>,
    sizes: Option<Chart>,
    depth: Option<Chart>,
}

impl PhaseCharts {
    /// The charts of all phases of a page, with unique names. Flow pictures share one scale.
    pub(super) fn of_all(phases: &[PathPhase<'_>]) -> Vec<PhaseCharts> {
        let sides = phases.iter().flat_map(|phase| &phase.sides);
        let full = sides
            .map(|side| figures::widest(side.path()))
            .fold(1.0, f64::max);
        let mut names = Vec::new();
        let mut all = Vec::new();
        for phase in phases {
            let mut charts = PhaseCharts::of(phase, full);
            charts.number_doubles(&mut names);
            all.push(charts);
        }
        all
    }

    fn of(phase: &PathPhase<'_>, full: f64) -> PhaseCharts {
        let sides = &phase.sides;
        let differences = phase.differences.iter();
        PhaseCharts {
            flows: sides
                .iter()
                .map(|side| pictures::flow(phase, side, full))
                .collect(),
            time: pictures::shares(phase),
            differences: differences.flat_map(|of| of.charts(phase)).collect(),
            sides: sides
                .iter()
                .map(|side| SideCharts {
                    addresses: pictures::addresses(phase, side),
                    sizes: pictures::sizes(phase, side),
                    depth: depth::depth(phase, side),
                })
                .collect(),
        }
    }

    fn number_doubles(&mut self, names: &mut Vec<String>) {
        let sides = self.sides.iter_mut().flat_map(|side| {
            let SideCharts {
                addresses,
                sizes,
                depth,
            } = side;
            [addresses, sizes, depth].into_iter().flatten()
        });
        let main = self
            .flows
            .iter_mut()
            .chain(&mut self.time)
            .chain(&mut self.differences);
        for chart in main.chain(sides) {
            let base = chart.name.clone();
            let mut nth = 1;
            while names.contains(&chart.name) {
                nth += 1;
                chart.name = format!("{base}-{nth}");
            }
            names.push(chart.name.clone());
        }
    }

    /// Flows, times and differences.
    pub(super) fn main(&self) -> Vec<Chart> {
        let main = self.flows.iter().chain(&self.time).chain(&self.differences);
        main.cloned().collect()
    }

    /// All charts, in display order.
    pub(super) fn all(&self) -> Vec<Chart> {
        let sides = self.sides.iter().flat_map(SideCharts::all);
        self.main().into_iter().chain(sides).collect()
    }

    /// The charts of requests.
    pub(super) fn of_requests(&self) -> Vec<DocumentBlock> {
        self.sides.iter().flat_map(SideCharts::blocks).collect()
    }
}

impl SideCharts {
    fn all(&self) -> Vec<Chart> {
        let all = [&self.addresses, &self.sizes, &self.depth];
        all.into_iter().flatten().cloned().collect()
    }

    /// Addresses, with the lower charts one below the other beside them.
    fn blocks(&self) -> Vec<DocumentBlock> {
        let block = |chart: &Chart| DocumentBlock::KeyChart(Box::new(chart.clone()));
        let low = [&self.sizes, &self.depth].into_iter().flatten();
        beside(
            ColumnStyle::Lead,
            self.addresses.iter().map(block).collect(),
            low.map(block).collect(),
        )
    }
}
