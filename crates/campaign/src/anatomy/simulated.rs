//! The simulated card as a device of an anatomy, in virtual time.

use hakaru_anatomy::{DeviceError, TimedDevice, TimedRequest};
use hakaru_engine::sim::card::SimCard;
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// A simulated card whose clock advances by the time of its requests only.
#[derive(Debug)]
pub struct SimulatedDevice {
    card: SimCard,
    now: Nanos,
    stop: Option<&'static AtomicBool>,
}

impl SimulatedDevice {
    /// Creates a card in its initial state. The seed determines its noise.
    pub fn new(model: DeviceModel, seed: u64) -> SimulatedDevice {
        SimulatedDevice {
            card: SimCard::new(model, seed),
            now: Nanos(0),
            stop: None,
        }
    }

    /// Returns the bytes that the card copied inside, to collect units.
    pub fn copied(&self) -> Bytes {
        self.card.copied()
    }

    /// Lets a flag stop it.
    #[must_use]
    pub fn stopped_by(self, stop: &'static AtomicBool) -> SimulatedDevice {
        SimulatedDevice {
            stop: Some(stop),
            ..self
        }
    }
}

impl TimedDevice for SimulatedDevice {
    fn capacity(&self) -> Bytes {
        self.card.model().capacity
    }

    fn block(&self) -> u64 {
        u64::from(self.card.model().block_size)
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn serve(&mut self, request: TimedRequest) -> Result<Nanos, DeviceError> {
        if self.stop.is_some_and(|stop| stop.load(Relaxed)) {
            return Err(DeviceError::Stopped);
        }
        let served = match request {
            TimedRequest::Read { offset, len } => self.card.serve(self.now, Op::Read, offset, len),
            TimedRequest::Write { offset, len } => {
                self.card.serve(self.now, Op::Write, offset, len)
            }
            TimedRequest::Discard { offset, len } => {
                self.card.serve(self.now, Op::Trim, offset, len)
            }
            TimedRequest::Flush => self.card.flush(self.now),
        };
        let latency = Nanos(served.done_at.0 - self.now.0);
        self.now = served.done_at;
        Ok(latency)
    }

    fn read_at_depth(
        &mut self,
        offsets: &[u64],
        len: u64,
        depth: usize,
    ) -> Result<Vec<Nanos>, DeviceError> {
        let mut in_flight = BinaryHeap::new();
        let mut latencies = Vec::with_capacity(offsets.len());
        for offset in offsets {
            if in_flight.len() >= depth
                && let Some(Reverse(done)) = in_flight.pop()
            {
                self.now = self.now.max(done);
            }
            let done = self.card.serve(self.now, Op::Read, *offset, len).done_at;
            latencies.push(Nanos(done.0 - self.now.0));
            in_flight.push(Reverse(done));
        }
        for Reverse(done) in in_flight {
            self.now = self.now.max(done);
        }
        Ok(latencies)
    }

    fn idle(&mut self, time: Nanos) -> Result<(), DeviceError> {
        self.now.0 += time.0;
        Ok(())
    }

    fn can_discard(&self) -> bool {
        true
    }
}
