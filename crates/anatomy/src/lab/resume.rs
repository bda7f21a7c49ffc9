//! What an interrupted anatomy leaves, and its continuation.

use super::Lab;
use crate::location::SampleLocation;
use crate::references::References;
use hakaru_model::anatomy::{Anatomy, CardProperty, Spent};
use hakaru_model::anatomy_resume::{AnatomyResume, CacheWrite};
use hakaru_model::units::{Bytes, Nanos};

impl Lab<'_> {
    /// Takes over what an earlier part of the same anatomy found.
    pub(crate) fn resume(&mut self, anatomy: &Anatomy) {
        self.noise = anatomy.noise;
        self.reference = Some(anatomy.noise.latency.0 as f64).filter(|latency| *latency > 0.0);
        let state = anatomy.resume.as_deref().cloned().unwrap_or_default();
        self.interrupted = state.interrupted;
        self.references = References::resumed(state.references, state.transfers);
        self.cool_references = state.cool_references;
        let sum = |of: fn(&Spent) -> u64| -> u64 {
            let ended = anatomy.experiments.iter().map(|e| of(&e.spent));
            ended.sum::<u64>() + of(&state.interrupted)
        };
        self.spent = Spent {
            time: Nanos(sum(|s| s.time.0)),
            read: Bytes(sum(|s| s.read.0)),
            written: Bytes(sum(|s| s.written.0)),
            copied: Bytes(sum(|s| s.copied.0)),
            requests: sum(|s| s.requests),
        };
        let after = anatomy.finding(CardProperty::ThrottleAfter).rough();
        let throttles = after.filter(|after| after.value > 0.0);
        self.state.warmth.throttles_at = throttles.map(|after| after.low);
        self.knows_heat(anatomy);
        if let Some(write) = state.cache_write {
            self.state.cache = Some((write.len.0, write.fast_below));
            let fast = write.latency;
            self.state.fast_write =
                fast.map(|(value, error)| (write.len.0, SampleLocation { value, error }));
            return;
        }
        let rates = [CardProperty::CacheRate, CardProperty::WriteRate]
            .map(|property| anatomy.finding(property).rough());
        if let ([Some(fast), Some(slow)], Some(_)) = (rates, anatomy.value(CardProperty::CacheSize))
        {
            let len = 192u64 << 10;
            let fixed = anatomy.finding(CardProperty::WriteOverhead).rough();
            let time = |rate: f64| fixed.map_or(0.0, |f| f.value) + len as f64 / rate * 1e9;
            self.state.cache = Some((len, (time(fast.value) * time(slow.value)).sqrt()));
        }
    }

    /// Returns what another part needs to continue. `before` is what was spent before the experiment that did not end.
    pub(crate) fn state_to_resume(
        &self,
        anatomy: &Anatomy,
        before: Option<&Spent>,
    ) -> AnatomyResume {
        let unfinished = before.map_or(Spent::default(), |before| self.spent.since(before));
        let fast = self.state.fast_write;
        AnatomyResume {
            findings: anatomy.findings.clone(),
            references: self.references.latencies().to_vec(),
            transfers: self.references.transfers().to_vec(),
            cool_references: self.cool_references.clone(),
            cache_write: self.state.cache.map(|(len, fast_below)| CacheWrite {
                len: Bytes(len),
                fast_below,
                latency: fast.map(|(_, fast)| (fast.value, fast.error)),
            }),
            interrupted: self.interrupted.plus(&unfinished),
        }
    }
}
