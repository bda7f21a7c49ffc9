//! The points of a campaign for other processes, such as `hakaru serve`.

use super::run::FleetWatch;
use crate::message::JobProgress;
use anyhow::Result;
use hakaru_campaign::campaign::live_points::live_points;
use hakaru_store::live::{LiveCampaign, LiveCellState};

impl FleetWatch<'_, '_> {
    /// Publishes all points with their stored repeats, and the series that was stored last.
    pub(super) fn publish_stored(&mut self, series: Option<String>) -> Result<()> {
        if let Some(live) = &self.run.live {
            let mut points = live_points(self.run.campaign, &mut self.progress, self.run.store)?;
            mark_running(&mut points, self.measured.values());
            live.update(|state| {
                state.campaign = Some(points);
                state.stored = series;
            });
        }
        Ok(())
    }

    /// Publishes which point a job measures.
    pub(super) fn publish_running(&mut self, progress: JobProgress) {
        let is_awaited = self.awaited.contains_key(&progress.job);
        let Some(point) = progress.point.filter(|_| is_awaited) else {
            return;
        };
        if self.measured.get(&progress.job) == Some(&point) {
            return;
        }
        self.measured.insert(progress.job, point);
        if let Some(live) = &self.run.live {
            live.update(|state| {
                if let Some(points) = &mut state.campaign {
                    mark_running(points, self.measured.values());
                }
            });
        }
    }
}

/// Marks the points that are measured now, by the names of their cards, layers and workloads; no others are.
fn mark_running<'p>(points: &mut LiveCampaign, measured: impl Iterator<Item = &'p [String; 3]>) {
    let running = points.cells.iter_mut();
    for cell in running.filter(|cell| cell.state == LiveCellState::Running) {
        cell.state = LiveCellState::Waiting;
    }
    let index = |known: &[String], name: &String| {
        let place = known.iter().position(|known| known == name)?;
        u32::try_from(place).ok()
    };
    for [card, layer, workload] in measured {
        let place = (
            index(&points.cards, card),
            index(&points.layers, layer),
            index(&points.workloads, workload),
        );
        let mut cells = points.cells.iter_mut();
        let found =
            cells.find(|cell| (Some(cell.card), Some(cell.layer), Some(cell.workload)) == place);
        if let Some(cell) = found.filter(|cell| cell.state == LiveCellState::Waiting) {
            cell.state = LiveCellState::Running;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_store::live::LiveCell;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn cell(card: u32, workload: u32, state: LiveCellState) -> LiveCell {
        LiveCell {
            card,
            layer: 0,
            workload,
            state,
            done: 0,
            of: 2,
            because: None,
        }
    }

    #[test]
    fn only_what_hosts_measure_now_is_running() {
        use LiveCellState::{Done, Running, Waiting};
        let mut points = LiveCampaign {
            id: "x".to_owned(),
            name: "x".to_owned(),
            number: 1,
            of: 8,
            remaining_s: 0.0,
            cards: names(&["a", "b"]),
            layers: names(&["raw"]),
            workloads: names(&["write", "read"]),
            cells: vec![
                cell(0, 0, Running),
                cell(0, 1, Waiting),
                cell(1, 0, Done),
                cell(1, 1, Waiting),
            ],
        };
        let of = |card: &str, workload: &str| [card, "raw", workload].map(str::to_owned);
        let mut marked = |measured: &[[String; 3]]| {
            mark_running(&mut points, measured.iter());
            let states = points.cells.iter().map(|cell| cell.state);
            states.collect::<Vec<_>>()
        };
        // Regression: a host that went on to its next point was shown at both, and only the host that reported last was
        // shown at all after a result was stored.
        assert_eq!(
            marked(&[of("a", "read"), of("b", "write")]),
            [Waiting, Running, Done, Waiting]
        );
        assert_eq!(
            marked(&[of("a", "write"), of("b", "read"), of("c", "read")]),
            [Running, Waiting, Done, Running]
        );
    }
}
