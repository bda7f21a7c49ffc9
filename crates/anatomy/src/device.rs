//! The device under test, as far as the experiments see it.

use hakaru_model::units::{Bytes, Nanos};

/// A request to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedRequest {
    /// Read bytes at an offset.
    Read {
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        len: u64,
    },
    /// Write bytes at an offset.
    Write {
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        len: u64,
    },
    /// Make all writes durable.
    Flush,
    /// Discard bytes at an offset.
    Discard {
        /// Offset in bytes.
        offset: u64,
        /// Length in bytes.
        len: u64,
    },
}

/// Why no latency was measured.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// The user asked to stop.
    #[error("interrupted")]
    Stopped,
    /// A request failed.
    #[error("{what} failed: {cause}")]
    Io {
        /// The request.
        what: &'static str,
        /// The I/O error.
        #[source]
        cause: std::io::Error,
    },
}

/// A device that serves one request at a time and measures it. Its clock may be virtual.
pub trait TimedDevice {
    /// Returns the size in bytes.
    fn capacity(&self) -> Bytes;

    /// Returns the smallest unit of offsets and lengths in bytes, such as 512.
    fn block(&self) -> u64;

    /// Returns the time since an arbitrary start.
    fn now(&self) -> Nanos;

    /// Serves a request and returns its latency.
    ///
    /// # Errors
    /// The I/O error, or the request to stop.
    fn serve(&mut self, request: TimedRequest) -> Result<Nanos, DeviceError>;

    /// Reads `len` bytes at each offset with up to `depth` reads in flight, and returns their latencies.
    ///
    /// # Errors
    /// The I/O error, or the request to stop.
    fn read_at_depth(
        &mut self,
        offsets: &[u64],
        len: u64,
        depth: usize,
    ) -> Result<Vec<Nanos>, DeviceError>;

    /// Waits.
    ///
    /// # Errors
    /// The request to stop.
    fn idle(&mut self, time: Nanos) -> Result<(), DeviceError>;

    /// Returns whether the device discards.
    fn can_discard(&self) -> bool;
}
