//! Warmth of the card: busy time less idle time, and whether it throttled during an experiment.

/// Fraction of the busy time of an experiment in which a hot card may have served: medians ignore it.
const MOST_HOT: f64 = 0.05;

/// Warmth up to which a card has rested, as a fraction of that at which it throttles.
const RESTED: f64 = 0.2;

/// Warmth up to which an experiment may go on without a rest, as such a fraction.
const WARM: f64 = 0.8;

/// Warmth after a rest, as such a fraction.
const AFTER_REST: f64 = 0.1;

/// Busy time less idle time of the card, in ns, and what is known about its limit.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Warmth {
    /// Busy time less idle time, in ns.
    pub(crate) now: f64,
    /// Warmth at which the card throttles.
    pub(crate) throttles_at: Option<f64>,
    /// Whether the card reached `throttles_at` and has not rested since.
    is_hot: bool,
    /// Busy time of the hot card, and all busy time, since the attempt at an experiment began.
    hot: f64,
    busy: f64,
}

impl Warmth {
    /// Counts busy time in ns.
    pub(crate) fn works(&mut self, time: f64) {
        self.is_hot |= self.throttles_at.is_some_and(|limit| self.now >= limit);
        self.hot += if self.is_hot { time } else { 0.0 };
        self.busy += time;
        self.now += time;
    }

    /// Counts idle time in ns.
    pub(crate) fn idles(&mut self, time: f64) {
        self.now = (self.now - time).max(0.0);
        self.is_hot &= self.is_above(RESTED);
    }

    /// Begins an attempt at an experiment with a card that is cool.
    pub(crate) fn begins_cool(&mut self) {
        (self.is_hot, self.hot, self.busy) = (false, 0.0, 0.0);
    }

    /// Returns whether the card throttled during more of the attempt than medians ignore. A rest may have ended it since,
    /// so that reads after the attempt do not show it.
    pub(crate) fn was_hot(&self) -> bool {
        self.hot > MOST_HOT * self.busy
    }

    /// Returns the idle time in ns after which a card that is known to throttle has rested; `None` if it has.
    pub(crate) fn rest(&self) -> Option<f64> {
        let limit = self.throttles_at.filter(|_| self.is_above(RESTED))?;
        Some(self.now - AFTER_REST * limit)
    }

    /// Returns whether the card would soon throttle.
    pub(crate) fn is_warm(&self) -> bool {
        self.is_above(WARM)
    }

    fn is_above(&self, part: f64) -> bool {
        self.throttles_at
            .is_some_and(|limit| self.now >= part * limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rest_at_the_end_does_not_hide_that_the_card_was_hot() {
        let mut warmth = Warmth {
            throttles_at: Some(50e9),
            ..Warmth::default()
        };
        warmth.begins_cool();
        (0..60).for_each(|_| warmth.works(1e9));
        let rest = warmth.rest().unwrap();
        warmth.idles(rest);
        assert_eq!((warmth.now, warmth.rest()), (5e9, None));
        assert!(warmth.was_hot());
        warmth.begins_cool();
        for _ in 0..600 {
            if warmth.is_warm() {
                warmth.idles(warmth.rest().unwrap());
            }
            warmth.works(1e9);
        }
        assert!(!warmth.was_hot());
    }

    #[test]
    fn a_card_that_is_not_known_to_throttle_is_never_hot() {
        let mut warmth = Warmth::default();
        warmth.works(1e15);
        assert!(!warmth.was_hot() && !warmth.is_warm() && warmth.rest().is_none());
    }
}
