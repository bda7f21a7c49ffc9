//! `lockfile`: a file is locked during each I/O, so that I/Os of several workers are serialized.
//!
//! Waiting for the lock is part of the latency, as in fio. The cost of dynamic dispatch is
//! negligible compared with the lock.

use super::offload::Submitter;
use super::{Files, MovedBuffer, OpenFiles, SyncBackend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::job::rules::FileLock;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use rustix::fd::OwnedFd;
use std::sync::{PoisonError, RwLock};

/// Wraps an engine that performs one I/O at a time, and holds the file's lock during each I/O.
pub(crate) struct LockedBackend<'a> {
    engine: Submitter,
    /// Files for flushes, which need no lock.
    files: OpenFiles,
    /// Lock of each region's file.
    locks: Vec<&'a RwLock<()>>,
    how: FileLock,
}

impl<'a> LockedBackend<'a> {
    /// Files and locks in the order of the worker's regions.
    pub(crate) fn new(
        engine: Submitter,
        files: Vec<OwnedFd>,
        locks: Vec<&'a RwLock<()>>,
        how: FileLock,
    ) -> LockedBackend<'a> {
        LockedBackend {
            engine,
            files: OpenFiles::new(files),
            locks,
            how,
        }
    }
}

impl Files for LockedBackend<'_> {
    fn buffer(&mut self, _: u32, len: usize) -> &mut [u8] {
        self.engine.buffer(0, len)
    }

    fn next_buffer(&mut self, _: u32, len: usize) -> MovedBuffer<'_> {
        self.engine.next_buffer(0, len)
    }

    fn buffers(&mut self) -> &mut [u8] {
        self.engine.buffers()
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.files.sync(region, kind)
    }

    fn close(&mut self) -> Result<(), Errno> {
        // The engine's own files come first, because only those were written.
        self.engine.close().and(self.files.close())
    }
}

impl SyncBackend for LockedBackend<'_> {
    fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
        let Some(lock) = self.locks.get(request.region as usize) else {
            return self.engine.transfer(request);
        };
        match (self.how, request.op) {
            (FileLock::ReadWrite, Op::Read) => {
                let _held = lock.read().unwrap_or_else(PoisonError::into_inner);
                self.engine.transfer(request)
            }
            _ => {
                let _held = lock.write().unwrap_or_else(PoisonError::into_inner);
                self.engine.transfer(request)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    /// An engine that counts how many I/Os run at the same time.
    struct Counting {
        now: Arc<AtomicUsize>,
        most: Arc<AtomicUsize>,
        buffer: [u8; 8],
    }

    impl Files for Counting {
        fn buffer(&mut self, _: u32, len: usize) -> &mut [u8] {
            &mut self.buffer[..len]
        }

        fn buffers(&mut self) -> &mut [u8] {
            &mut self.buffer
        }

        fn close(&mut self) -> Result<(), Errno> {
            Err(Errno::IO)
        }
    }

    impl SyncBackend for Counting {
        fn transfer(&mut self, request: &IoRequest) -> Result<u32, Errno> {
            let now = self.now.fetch_add(1, SeqCst) + 1;
            self.most.fetch_max(now, SeqCst);
            std::thread::sleep(std::time::Duration::from_millis(2));
            self.now.fetch_sub(1, SeqCst);
            Ok(request.len)
        }
    }

    /// Maximum number of simultaneous I/Os of three workers on one file.
    fn most_at_once(how: FileLock, op: Op) -> usize {
        let (now, most, lock) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicUsize::new(0)),
            RwLock::new(()),
        );
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let engine = Counting {
                    now: Arc::clone(&now),
                    most: Arc::clone(&most),
                    buffer: [0; 8],
                };
                let mut backend =
                    LockedBackend::new(Box::new(engine), Vec::new(), vec![&lock], how);
                scope.spawn(move || {
                    let request = IoRequest {
                        op,
                        region: 0,
                        offset: 0,
                        len: 8,
                    };
                    (0..5).for_each(|_| assert_eq!(backend.transfer(&request), Ok(8)));
                });
            }
        });
        most.load(SeqCst)
    }

    #[test]
    fn one_at_a_time_but_for_readers_among_themselves() {
        assert_eq!(most_at_once(FileLock::Exclusive, Op::Read), 1);
        assert_eq!(most_at_once(FileLock::ReadWrite, Op::Write), 1);
        assert!(most_at_once(FileLock::ReadWrite, Op::Read) > 1);
    }

    #[test]
    fn reports_errors_of_closing_and_closes_all_files() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let engine = Counting {
            now,
            most,
            buffer: [0; 8],
        };
        let file = tempfile::tempfile().unwrap().into();
        let mut backend = LockedBackend::new(
            Box::new(engine),
            vec![file],
            Vec::new(),
            FileLock::Exclusive,
        );
        assert_eq!((backend.close(), backend.files.len()), (Err(Errno::IO), 0));
    }
}
