//! Replacement for the ring on 32-bit systems.

use super::RingOptions;
use crate::aio::Completion;
use crate::buffer::{MovedBuffer, Slots};
use rustix::fd::OwnedFd;
use rustix::io::Errno;

/// Rings are not supported on 32-bit systems: this type has no values.
#[derive(Debug)]
pub enum Ring {}

impl Ring {
    /// Always ENOSYS.
    ///
    /// # Errors
    /// ENOSYS.
    pub fn new(_: Slots, _: Vec<OwnedFd>, _: RingOptions) -> Result<Ring, Errno> {
        Err(Errno::NOSYS)
    }

    /// Cannot be called.
    pub fn buffer(&mut self, _: u32, _: usize) -> &mut [u8] {
        match *self {}
    }

    /// Cannot be called.
    pub fn next_buffer(&mut self, _: u32, _: usize) -> MovedBuffer<'_> {
        match *self {}
    }

    /// Cannot be called.
    pub fn buffers(&mut self) -> &mut [u8] {
        match *self {}
    }

    /// Cannot be called.
    pub fn files(&self) -> &[OwnedFd] {
        match *self {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None: it cannot be called.
    pub fn replace_file(&mut self, _: u32, _: OwnedFd) -> Result<(), Errno> {
        match *self {}
    }

    /// Cannot be called.
    pub fn prepare(&mut self, _: u32, _: u32, _: bool, _: u64, _: u32) {
        match *self {}
    }

    /// Cannot be called.
    pub fn prepare_nops(&mut self, _: impl Iterator<Item = u32>) {
        match *self {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None: it cannot be called.
    pub fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        match *self {}
    }

    /// Cannot be called.
    pub fn reap(&mut self, _: usize, _: impl FnMut(Completion)) -> usize {
        match *self {}
    }

    /// Cannot be called.
    pub fn options(&self) -> RingOptions {
        match *self {}
    }

    /// Cannot be called.
    pub fn submit_for(&mut self, _: usize, _: std::time::Duration) -> Option<Result<usize, Errno>> {
        match *self {}
    }

    /// Cannot be called.
    ///
    /// # Errors
    /// None: it cannot be called.
    pub fn close_files(&mut self) -> Result<(), Errno> {
        match *self {}
    }

    /// Cannot be called.
    pub fn in_flight(&self) -> usize {
        match *self {}
    }
}
