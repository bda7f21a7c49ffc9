//! `io_submit_mode=offload`: a queue of threads, each of which submits one I/O by the job's engine and waits for it.
//!
//! The worker only says what is to be done, and so keeps to its schedule however slow the device is: what waits in the
//! queue counts as latency. An engine goes to the thread with the I/O and comes back with the result, so nobody else can
//! touch its buffer meanwhile. Waking a thread costs microseconds; beside that the call by a table is nothing.

use super::files::sync_file;
use super::{Backend, SyncKind};
use hakaru_model::stream::Request;
use hakaru_sys::Errno;
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An engine with one buffer, which does one I/O at a time.
pub(crate) trait Submitter: Send {
    /// The first bytes of its buffer.
    fn buffer(&mut self, len: usize) -> &mut [u8];
    /// All of it.
    fn whole_buffer(&mut self) -> &mut [u8];
    /// Does an I/O, and waits for it.
    fn perform(&mut self, request: &Request) -> Result<u32, Errno>;
}

/// Any backend, used for one I/O at a time.
#[derive(Debug)]
pub(crate) struct Alone<B> {
    backend: B,
    /// Why its queue is of no use any more.
    broken: Option<Errno>,
}

impl<B: Backend> Alone<B> {
    pub(crate) fn new(backend: B) -> Alone<B> {
        Alone { backend, broken: None }
    }

    /// Puts an I/O into a queue of one, and takes it out again.
    fn through_queue(&mut self, request: &Request) -> Result<u32, Errno> {
        if let Some(errno) = self.broken {
            return Err(errno);
        }
        self.backend.prepare(0, request);
        loop {
            match self.backend.submit(1) {
                Ok(_) => break,
                Err(Errno::INTR | Errno::AGAIN | Errno::BUSY) => std::thread::yield_now(),
                Err(errno) => {
                    self.broken = self.backend.withdraw().is_none().then_some(errno);
                    return Err(errno);
                }
            }
        }
        let mut landed = None;
        while landed.is_none() {
            match self.backend.reap(1, 1, None, |_, result| landed = Some(result)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    self.broken = Some(errno);
                    return Err(errno);
                }
            }
        }
        landed.unwrap_or(Err(Errno::IO))
    }
}

impl<B: Backend + Send> Submitter for Alone<B> {
    fn buffer(&mut self, len: usize) -> &mut [u8] {
        self.backend.buffer(0, len)
    }

    fn whole_buffer(&mut self) -> &mut [u8] {
        self.backend.buffers()
    }

    fn perform(&mut self, request: &Request) -> Result<u32, Errno> {
        if B::QUEUED { self.through_queue(request) } else { self.backend.transfer(request) }
    }
}

/// An I/O on its way, and the engine that does it.
struct Task {
    slot: u32,
    request: Request,
    submitter: Box<dyn Submitter>,
}

/// An I/O that is done.
struct Done {
    slot: u32,
    result: Result<u32, Errno>,
    submitter: Box<dyn Submitter>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Task>,
    done: VecDeque<Done>,
    closing: bool,
}

#[derive(Default)]
struct Pool {
    state: Mutex<State>,
    /// There may be something to do.
    work: Condvar,
    /// Something is done.
    landed: Condvar,
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does until the pool closes.
    fn serve(&self) {
        let mut state = self.lock();
        while !state.closing {
            let Some(Task { slot, request, mut submitter }) = state.waiting.pop_front() else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let result = submitter.perform(&request);
            state = self.lock();
            state.done.push_back(Done { slot, result, submitter });
            self.landed.notify_one();
        }
    }
}

/// A queue that threads work on. Dropping it waits for the I/Os they are at.
pub(crate) struct OffloadBackend {
    pool: Arc<Pool>,
    threads: Vec<JoinHandle<()>>,
    /// For flushes, which the worker does itself.
    files: Vec<OwnedFd>,
    /// The engines of slots that are not in flight.
    home: Vec<Option<Box<dyn Submitter>>>,
    prepared: Vec<Task>,
    in_flight: usize,
}

impl OffloadBackend {
    /// A thread for each of the engines. Files in the order of the worker's regions.
    ///
    /// # Errors
    /// EAGAIN when there are too many threads.
    pub(crate) fn new(files: Vec<OwnedFd>, submitters: Vec<Box<dyn Submitter>>) -> Result<OffloadBackend, Errno> {
        let depth = submitters.len();
        let state =
            State { waiting: VecDeque::with_capacity(depth), done: VecDeque::with_capacity(depth), closing: false };
        let pool = Arc::new(Pool { state: Mutex::new(state), ..Pool::default() });
        let (threads, prepared) = (Vec::with_capacity(depth), Vec::with_capacity(depth));
        let home = submitters.into_iter().map(Some).collect();
        let mut this = OffloadBackend { pool, threads, files, home, prepared, in_flight: 0 };
        for _ in 0..depth {
            let pool = Arc::clone(&this.pool);
            let builder = std::thread::Builder::new().name("submitter".to_owned()).stack_size(128 << 10);
            let thread = builder.spawn(move || pool.serve());
            this.threads.push(thread.map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::AGAIN))?);
        }
        Ok(this)
    }
}

impl Backend for OffloadBackend {
    const QUEUED: bool = true;
    const SUBMIT_WAITS: bool = false;

    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        self.home[slot as usize].as_mut().expect("a slot that is free has its engine").buffer(len)
    }

    /// None in one piece: they were filled one by one as they were made.
    fn buffers(&mut self) -> &mut [u8] {
        &mut []
    }

    fn prepare(&mut self, slot: u32, request: &Request) {
        let submitter = self.home[slot as usize].take().expect("a slot that is free has its engine");
        self.prepared.push(Task { slot, request: *request, submitter });
    }

    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        let taken = self.prepared.len();
        if taken > 0 {
            self.in_flight += taken;
            self.pool.lock().waiting.extend(self.prepared.drain(..));
            (0..taken).for_each(|_| self.pool.work.notify_one());
        }
        Ok(taken)
    }

    fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        mut done: impl FnMut(u32, Result<u32, Errno>),
    ) -> Result<usize, Errno> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let min = min.min(max).min(self.in_flight);
        let mut state = self.pool.lock();
        while state.done.len() < min {
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self.pool.landed.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => break,
                Some(left) => self.pool.landed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
        let count = state.done.len().min(max);
        for Done { slot, result, submitter } in state.done.drain(..count) {
            self.home[slot as usize] = Some(submitter);
            done(slot, result);
        }
        self.in_flight -= count;
        Ok(count)
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        self.files.get(region as usize).map_or(Ok(()), |file| sync_file(file, kind))
    }
}

impl Drop for OffloadBackend {
    fn drop(&mut self) {
        self.pool.lock().closing = true;
        self.pool.work.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing in its hands any more.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::Op;
    use std::sync::Barrier;

    /// An engine whose I/Os wait for one another.
    struct Together(Arc<Barrier>, Vec<u8>);

    impl Submitter for Together {
        fn buffer(&mut self, len: usize) -> &mut [u8] {
            &mut self.1[..len]
        }

        fn whole_buffer(&mut self) -> &mut [u8] {
            &mut self.1
        }

        fn perform(&mut self, request: &Request) -> Result<u32, Errno> {
            self.0.wait();
            self.1.fill(request.offset as u8);
            Ok(request.len)
        }
    }

    #[test]
    fn as_many_ios_as_there_are_slots_are_done_at_once() {
        let barrier = Arc::new(Barrier::new(4));
        let one = |_| Box::new(Together(Arc::clone(&barrier), vec![9; 16])) as Box<dyn Submitter>;
        let mut backend = OffloadBackend::new(Vec::new(), (0..4).map(one).collect()).unwrap();
        assert_eq!(backend.reap(1, 4, Some(Duration::from_millis(1)), |_, _| ()), Ok(0));
        for round in 0..20u64 {
            for slot in 0..4u32 {
                let offset = round * 4 + u64::from(slot);
                backend.prepare(slot, &Request { op: Op::Read, region: 0, offset, len: 16 });
            }
            assert_eq!(backend.submit(0), Ok(4));
            let mut seen = 0;
            while seen < 4 {
                seen += backend.reap(1, 2, None, |_, result| assert_eq!(result, Ok(16))).unwrap();
            }
            for slot in 0..4u32 {
                let byte = (round * 4 + u64::from(slot)) as u8;
                assert!(backend.buffer(slot, 16).iter().all(|&b| b == byte));
            }
        }
        let pool = Arc::clone(&backend.pool);
        drop(backend);
        assert_eq!(Arc::strong_count(&pool), 1, "no thread is left");
    }
}
