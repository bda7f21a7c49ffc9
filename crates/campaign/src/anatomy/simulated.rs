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

/// Serves one request of an [`AlteredDevice`], usually by the card itself.
pub type ServeRequest =
    Box<dyn FnMut(&mut SimulatedDevice, TimedRequest) -> Result<Nanos, DeviceError>>;

/// A simulated card with a disturbance that no device model contains, for tests: a function serves its requests. Reads
/// at a queue depth are those of the card.
pub struct AlteredDevice {
    /// The card.
    pub card: SimulatedDevice,
    /// Serves a request and returns its latency.
    pub serve: ServeRequest,
}

impl AlteredDevice {
    /// Creates a device whose requests `serve` serves.
    pub fn new(
        card: SimulatedDevice,
        serve: impl FnMut(&mut SimulatedDevice, TimedRequest) -> Result<Nanos, DeviceError> + 'static,
    ) -> AlteredDevice {
        AlteredDevice {
            card,
            serve: Box::new(serve),
        }
    }

    /// Creates a device whose requests take longer than those of the card. `extra` returns the time that is added to a
    /// request, from the card and its latency.
    pub fn slower(
        card: SimulatedDevice,
        mut extra: impl FnMut(&SimulatedDevice, Nanos) -> Nanos + 'static,
    ) -> AlteredDevice {
        AlteredDevice::new(card, move |card, request| {
            let latency = card.serve(request)?;
            let extra = extra(card, latency);
            card.idle(extra)?;
            Ok(Nanos(latency.0 + extra.0))
        })
    }
}

impl TimedDevice for AlteredDevice {
    fn capacity(&self) -> Bytes {
        self.card.capacity()
    }

    fn block(&self) -> u64 {
        self.card.block()
    }

    fn now(&self) -> Nanos {
        self.card.now()
    }

    fn serve(&mut self, request: TimedRequest) -> Result<Nanos, DeviceError> {
        (self.serve)(&mut self.card, request)
    }

    fn read_at_depth(
        &mut self,
        offsets: &[u64],
        len: u64,
        depth: usize,
    ) -> Result<Vec<Nanos>, DeviceError> {
        self.card.read_at_depth(offsets, len, depth)
    }

    fn idle(&mut self, time: Nanos) -> Result<(), DeviceError> {
        self.card.idle(time)
    }

    fn can_discard(&self) -> bool {
        self.card.can_discard()
    }
}
