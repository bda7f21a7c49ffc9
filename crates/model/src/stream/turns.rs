//! Selection of the next file: round robin, random, or sequential, with some or all files open.

use super::skew::Skew;
use crate::job::Distribution;
use crate::job::rules::{FileOrder, FileTurns};
use crate::rng::Rng;

/// Ranks of each file. As in fio, the most frequent rank may be any of a file, and its neighbours in the next file.
const RANKS: u64 = 1024;

/// Open files and the current one.
#[derive(Clone, Debug)]
pub(super) struct Turns {
    draws: Option<Skew>,
    /// Whether some files are drawn more often than others.
    skewed: bool,
    run_length: u32,
    left_of_run: u32,
    /// Indexes of the open files, in order.
    open: Vec<usize>,
    most_open: usize,
    /// First file of this pass that has not been opened yet.
    unopened: usize,
    /// Index in `open` of the current file.
    turn: usize,
    /// File of the last I/O.
    last: usize,
    files: usize,
}

impl Turns {
    /// Creates the selection for a number of files; at least one.
    pub(super) fn new(rules: &FileTurns, files: usize, seed: u64) -> Turns {
        let FileTurns {
            order,
            run_length,
            open_files,
        } = rules;
        let skew = |distribution| {
            let mut rng = Rng::fork(seed, 0x7000);
            let ranks = files as u64 * RANKS;
            Some(Skew::of_neighbours(&distribution, ranks, &mut rng))
        };
        let (draws, most_open) = match order {
            FileOrder::RoundRobin => (None, files),
            FileOrder::Sequential => (None, 1),
            FileOrder::Random => (skew(Distribution::Uniform), files),
            FileOrder::Zipf(theta) => (skew(Distribution::Zipf(*theta)), files),
            FileOrder::Pareto(power) => (skew(Distribution::Pareto(*power)), files),
            FileOrder::Normal(percent) => (skew(Distribution::Normal(*percent)), files),
        };
        let most_open = open_files
            .map_or(most_open, |most| most_open.min(most as usize))
            .max(1);
        let skewed = !matches!(draws, None | Some(Skew::Uniform));
        let mut turns = Turns {
            skewed,
            draws,
            run_length: (*run_length).max(1),
            left_of_run: 0,
            open: Vec::with_capacity(most_open),
            most_open,
            unopened: 0,
            turn: 0,
            last: 0,
            files,
        };
        turns.begin_pass();
        turns.turn = 0;
        turns
    }

    /// Whether some files are drawn more often than others. None is closed then.
    pub(super) fn are_skewed(&self) -> bool {
        self.skewed
    }

    /// Opens the first files after all are closed. As in fio, if all are open at once, the round robin order continues.
    pub(super) fn begin_pass(&mut self) {
        let next = match (&self.draws, self.most_open == self.files) {
            (None, true) => (self.last + 1) % self.files,
            _ => 0,
        };
        self.unopened = self.most_open.min(self.files);
        self.open.clear();
        self.open.extend(0..self.unopened);
        (self.turn, self.left_of_run) = (next, self.run_length);
    }

    /// Returns the file of the next I/O.
    pub(super) fn draw(&mut self, rng: &mut Rng) -> usize {
        if self.left_of_run == 0 {
            self.left_of_run = self.run_length;
            self.turn = match &self.draws {
                Some(skew) => (skew.draw(self.open.len() as u64 * RANKS, rng) / RANKS) as usize,
                None => (self.turn + 1) % self.open.len(),
            };
        }
        self.left_of_run -= 1;
        self.last = self.open[self.turn.min(self.open.len() - 1)];
        self.last
    }

    /// Closes a file that has nothing left in this pass, and opens the next in its place. Returns whether all are
    /// closed then.
    pub(super) fn close(&mut self, file: usize) -> bool {
        let Some(place) = self.open.iter().position(|&open| open == file) else {
            return self.open.is_empty();
        };
        if self.unopened < self.files {
            self.open[place] = self.unopened;
            self.unopened += 1;
            self.left_of_run = self.left_of_run.min(if place == self.turn {
                self.run_length
            } else {
                u32::MAX
            });
        } else {
            self.take_out(place);
        }
        self.open.is_empty()
    }

    /// The file after the closed one takes its place and becomes the current file.
    fn take_out(&mut self, place: usize) {
        self.open.remove(place);
        if place < self.turn {
            self.turn -= 1;
        } else if place == self.turn {
            (self.turn, self.left_of_run) = (
                place.checked_rem(self.open.len()).unwrap_or(0),
                self.run_length,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(rules: FileTurns, sizes: &[u64], n: usize) -> String {
        let mut turns = Turns::new(&rules, sizes.len(), 1);
        let (mut rng, mut left) = (Rng::new(1), sizes.to_vec());
        let mut drawn = |_| {
            let file = turns.draw(&mut rng);
            left[file] -= 1;
            if left[file] == 0 && turns.close(file) {
                turns.begin_pass();
                left.copy_from_slice(sizes);
            }
            file.to_string()
        };
        (0..n).map(&mut drawn).collect()
    }

    fn rules(order: FileOrder, run_length: u32, open_files: Option<u32>) -> FileTurns {
        FileTurns {
            order,
            run_length,
            open_files,
        }
    }

    #[test]
    fn files_take_turns_until_each_is_done() {
        use FileOrder::{RoundRobin, Sequential};
        assert_eq!(
            order(rules(RoundRobin, 1, None), &[2, 3, 1], 12),
            "012011201011"
        );
        assert_eq!(
            order(rules(RoundRobin, 2, None), &[4, 3, 2], 9),
            "001122001"
        );
        assert_eq!(
            order(rules(Sequential, 1, None), &[2, 3, 1], 12),
            "001112001112"
        );
        assert_eq!(
            order(rules(RoundRobin, 1, Some(2)), &[2, 2, 2, 1], 7),
            "0101232"
        );
    }

    #[test]
    fn drawn_files_are_all_used_up_in_a_pass() {
        for drawn in [
            FileOrder::Random,
            FileOrder::Zipf(1.2),
            FileOrder::Pareto(0.2),
            FileOrder::Normal(20.0),
        ] {
            let order = order(rules(drawn, 1, None), &[20; 5], 100);
            for file in "01234".chars() {
                assert_eq!(order.matches(file).count(), 20, "{drawn:?}: {order}");
            }
            assert_ne!(&order[..20], "01234012340123401234");
        }
    }
}
