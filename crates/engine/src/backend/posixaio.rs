//! The `posixaio` engine: threads that call `pread` and `pwrite`.
//!
//! The C library does `aio_read` and `aio_write` the same way, and like there the I/Os of one file are done one after
//! another, in their order: a deeper queue pays with several files only. A buffer goes to the thread with its I/O and
//! comes back with the result, so nobody else can touch it meanwhile.

use super::files::sync_file;
use super::{Backend, SyncKind};
use hakaru_model::job::Op;
use hakaru_model::stream::Request;
use hakaru_sys::Errno;
use hakaru_sys::buffer::AlignedBuffer;
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Threads at most, as in the GNU C library.
const THREADS: usize = 20;

/// An I/O on its way, and the buffer it works on.
#[derive(Debug)]
struct Task {
    slot: u32,
    request: Request,
    buffer: AlignedBuffer,
}

/// An I/O that is done.
#[derive(Debug)]
struct Done {
    slot: u32,
    result: Result<u32, Errno>,
    buffer: Option<AlignedBuffer>,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<Task>,
    /// Files that a thread works on.
    busy: Vec<bool>,
    done: VecDeque<Done>,
    closing: bool,
}

#[derive(Debug)]
struct Pool {
    files: Vec<OwnedFd>,
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
            let next = state.waiting.iter().position(|task| !state.busy[task.request.region as usize]);
            let Some(task) = next.and_then(|index| state.waiting.remove(index)) else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let region = task.request.region as usize;
            state.busy[region] = true;
            drop(state);
            let done = perform(&self.files[region], task);
            state = self.lock();
            state.busy[region] = false;
            state.done.push_back(done);
            self.landed.notify_one();
        }
    }
}

fn perform(file: &OwnedFd, task: Task) -> Done {
    let Task { slot, request, mut buffer } = task;
    let memory = &mut buffer.as_mut_slice()[..request.len as usize];
    let moved = match request.op {
        Op::Write => rustix::io::pwrite(file, memory, request.offset),
        _ => rustix::io::pread(file, memory, request.offset),
    };
    Done { slot, result: moved.map(|moved| moved as u32), buffer: Some(buffer) }
}

/// A queue that threads work on. Dropping it waits for the I/Os they are at.
#[derive(Debug)]
pub(crate) struct PosixaioBackend {
    pool: Arc<Pool>,
    threads: Vec<JoinHandle<()>>,
    /// The buffers of slots that are not in flight.
    buffers: Vec<Option<AlignedBuffer>>,
    prepared: Vec<Task>,
    in_flight: usize,
}

impl PosixaioBackend {
    /// Files in the order of the worker's regions; `depth` buffers of `size` bytes, which `fill` makes ready.
    ///
    /// # Errors
    /// ENOMEM when there is not enough memory, EAGAIN when there are too many threads.
    pub(crate) fn new(
        files: Vec<OwnedFd>,
        depth: usize,
        size: usize,
        mut fill: impl FnMut(&mut [u8]),
    ) -> Result<PosixaioBackend, Errno> {
        let mut buffers = Vec::with_capacity(depth);
        for _ in 0..depth {
            let mut buffer = AlignedBuffer::new(size)?;
            fill(buffer.as_mut_slice());
            buffers.push(Some(buffer));
        }
        let count = depth.min(files.len()).clamp(1, THREADS);
        let state = State {
            waiting: VecDeque::with_capacity(depth),
            busy: vec![false; files.len()],
            done: VecDeque::with_capacity(depth),
            closing: false,
        };
        let pool = Arc::new(Pool { files, state: Mutex::new(state), work: Condvar::new(), landed: Condvar::new() });
        let threads = Vec::with_capacity(count);
        let mut this = PosixaioBackend { pool, threads, buffers, prepared: Vec::with_capacity(depth), in_flight: 0 };
        for _ in 0..count {
            let pool = Arc::clone(&this.pool);
            let builder = std::thread::Builder::new().name("posixaio".to_owned()).stack_size(128 << 10);
            let thread = builder.spawn(move || pool.serve());
            this.threads.push(thread.map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::AGAIN))?);
        }
        Ok(this)
    }
}

impl Backend for PosixaioBackend {
    const QUEUED: bool = true;
    const SUBMIT_WAITS: bool = false;

    #[inline]
    fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
        let buffer = self.buffers[slot as usize].as_mut().expect("a slot that is free has its buffer");
        &mut buffer.as_mut_slice()[..len]
    }

    /// None in one piece: they were filled one by one as they were made.
    fn buffers(&mut self) -> &mut [u8] {
        &mut []
    }

    fn prepare(&mut self, slot: u32, request: &Request) {
        if request.op == Op::Trim {
            // The C library has no asynchronous discard: it is done at once, as a queue of one.
            let file = &self.pool.files[request.region as usize];
            let result = hakaru_sys::file::discard(file, request.offset, u64::from(request.len)).map(|()| request.len);
            self.in_flight += 1;
            return self.pool.lock().done.push_back(Done { slot, result, buffer: None });
        }
        let buffer = self.buffers[slot as usize].take().expect("a slot that is free has its buffer");
        self.prepared.push(Task { slot, request: *request, buffer });
    }

    fn submit(&mut self, _: usize) -> Result<usize, Errno> {
        let taken = self.prepared.len();
        if taken > 0 {
            self.in_flight += taken;
            self.pool.lock().waiting.extend(self.prepared.drain(..));
            if taken == 1 { self.pool.work.notify_one() } else { self.pool.work.notify_all() }
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
        for Done { slot, result, buffer } in state.done.drain(..count) {
            if buffer.is_some() {
                self.buffers[slot as usize] = buffer;
            }
            done(slot, result);
        }
        self.in_flight -= count;
        Ok(count)
    }

    fn sync(&mut self, region: u32, kind: SyncKind) -> Result<(), Errno> {
        sync_file(&self.pool.files[region as usize], kind)
    }
}

impl Drop for PosixaioBackend {
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

    fn backend(files: usize, depth: usize) -> PosixaioBackend {
        let file = |_| {
            let file = tempfile::tempfile().unwrap();
            file.set_len(1 << 20).unwrap();
            file.into()
        };
        PosixaioBackend::new((0..files).map(file).collect(), depth, 4096, |buffer| buffer.fill(5)).unwrap()
    }

    #[test]
    fn ios_of_one_file_keep_their_order_and_those_of_several_all_come_back() {
        let mut backend = backend(3, 12);
        for round in 0..50 {
            for slot in 0..12 {
                let offset = u64::from(slot / 6) * 4096;
                let op = if slot / 3 % 2 == 0 { Op::Write } else { Op::Read };
                backend.buffer(slot, 4096).fill(round * 2 + u8::from(op == Op::Read));
                backend.prepare(slot, &Request { op, region: slot % 3, offset, len: 4096 });
            }
            assert_eq!(backend.submit(0), Ok(12));
            let mut seen = Vec::new();
            while seen.len() < 12 {
                backend.reap(1, 4, None, |slot, result| seen.push((slot, result))).unwrap();
            }
            seen.sort_unstable_by_key(|s| s.0);
            assert!(seen.iter().zip(0..).all(|(found, slot)| *found == (slot, Ok(4096))), "{seen:?}");
            // Each read came after the write before it.
            assert!((0..12).all(|slot| backend.buffer(slot, 4096).iter().all(|&b| b == round * 2)));
        }
    }

    #[test]
    fn waiting_ends_with_the_time_and_dropping_waits_for_what_is_running() {
        let mut backend = backend(1, 4);
        assert_eq!(backend.reap(1, 4, Some(Duration::from_millis(1)), |_, _| ()), Ok(0));
        for slot in 0..4 {
            backend.prepare(slot, &Request { op: Op::Write, region: 0, offset: 0, len: 4096 });
        }
        backend.submit(0).unwrap();
        let pool = Arc::clone(&backend.pool);
        drop(backend);
        assert_eq!(Arc::strong_count(&pool), 1, "no thread is left");
    }
}
