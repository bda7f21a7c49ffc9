//! A thread pool for engines with blocking system calls.
//!
//! The resources of an I/O (its buffer, or a whole engine) move to the thread and return with the
//! result, so nothing else can access them.

use super::CompletionSink;
use hakaru_model::stream::IoRequest;
use hakaru_sys::Errno;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A queued I/O with its resources.
#[derive(Debug)]
struct PoolTask<T> {
    slot: u32,
    request: IoRequest,
    tool: T,
}

/// A completed I/O with its resources.
#[derive(Debug)]
struct PoolCompletion<T> {
    slot: u32,
    result: Result<u32, Errno>,
    tool: T,
}

#[derive(Debug)]
struct PoolState<T> {
    waiting: VecDeque<PoolTask<T>>,
    /// Which regions are in use by a thread; empty if I/Os are unordered.
    busy: Vec<bool>,
    done: VecDeque<PoolCompletion<T>>,
    closing: bool,
}

impl<T> PoolState<T> {
    /// Returns the oldest I/O that can start.
    fn next(&mut self) -> Option<PoolTask<T>> {
        let free = |task: &PoolTask<T>| {
            !self
                .busy
                .get(task.request.region as usize)
                .copied()
                .unwrap_or(false)
        };
        let index = self.waiting.iter().position(free)?;
        let task = self.waiting.remove(index)?;
        self.set_busy(&task.request, true);
        Some(task)
    }

    fn set_busy(&mut self, request: &IoRequest, busy: bool) {
        if let Some(region) = self.busy.get_mut(request.region as usize) {
            *region = busy;
        }
    }
}

#[derive(Debug)]
struct Pool<T> {
    state: Mutex<PoolState<T>>,
    /// Signals that a task may be ready.
    work: Condvar,
    /// Signals that a task is complete.
    landed: Condvar,
}

impl<T> Pool<T> {
    fn lock(&self) -> MutexGuard<'_, PoolState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs tasks on the calling thread until the pool closes.
    fn serve(&self, perform: &impl Fn(&IoRequest, &mut T) -> Result<u32, Errno>) {
        let mut state = self.lock();
        while !state.closing {
            let Some(PoolTask {
                slot,
                request,
                mut tool,
            }) = state.next()
            else {
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let result = perform(&request, &mut tool);
            state = self.lock();
            state.set_busy(&request, false);
            state.done.push_back(PoolCompletion { slot, result, tool });
            self.landed.notify_one();
        }
    }
}

/// A queue of I/Os served by threads. Dropping it waits for the I/Os that are running.
pub(super) struct ThreadPool<T> {
    pool: Arc<Pool<T>>,
    threads: Vec<JoinHandle<()>>,
    /// Resources of the slots that are not in flight.
    home: Vec<Option<T>>,
    prepared: Vec<PoolTask<T>>,
    in_flight: usize,
}

/// Number, names and ordering of the threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolConfig {
    pub(super) name: &'static str,
    pub(super) threads: usize,
    /// Number of regions whose I/Os run in order; 0 if unordered.
    pub(super) ordered_regions: usize,
}

impl<T: Send + 'static> ThreadPool<T> {
    /// Starts threads that run prepared I/Os with `perform`. There is one slot for each of `tools`.
    ///
    /// # Errors
    /// EAGAIN when there are too many threads.
    pub(super) fn new(
        terms: PoolConfig,
        tools: Vec<T>,
        perform: impl Fn(&IoRequest, &mut T) -> Result<u32, Errno> + Clone + Send + 'static,
    ) -> Result<ThreadPool<T>, Errno> {
        let depth = tools.len();
        let state = PoolState {
            waiting: VecDeque::with_capacity(depth),
            busy: vec![false; terms.ordered_regions],
            done: VecDeque::with_capacity(depth),
            closing: false,
        };
        let pool = Arc::new(Pool {
            state: Mutex::new(state),
            work: Condvar::new(),
            landed: Condvar::new(),
        });
        let home = tools.into_iter().map(Some).collect();
        let threads = Vec::with_capacity(terms.threads);
        let mut this = ThreadPool {
            pool,
            threads,
            home,
            prepared: Vec::with_capacity(depth),
            in_flight: 0,
        };
        for _ in 0..terms.threads {
            let (pool, perform) = (Arc::clone(&this.pool), perform.clone());
            let builder = std::thread::Builder::new()
                .name(terms.name.to_owned())
                .stack_size(128 << 10);
            let thread = builder.spawn(move || pool.serve(&perform));
            this.threads
                .push(thread.map_err(|e| Errno::from_io_error(&e).unwrap_or(Errno::AGAIN))?);
        }
        Ok(this)
    }

    /// Returns the resource of a free slot.
    pub(super) fn tool(&mut self, slot: u32) -> &mut T {
        self.home[slot as usize]
            .as_mut()
            .expect("a slot that is free has what it works with")
    }

    /// Returns the resources of all free slots.
    pub(super) fn tools(&mut self) -> impl Iterator<Item = &mut T> {
        self.home.iter_mut().flatten()
    }

    /// Removes the resources of all free slots, in their order. Nothing can be prepared afterwards.
    pub(super) fn take_tools(&mut self) -> Vec<T> {
        self.home.drain(..).flatten().collect()
    }

    fn take(&mut self, slot: u32) -> T {
        self.home[slot as usize]
            .take()
            .expect("a slot that is free has what it works with")
    }

    pub(super) fn prepare(&mut self, slot: u32, request: &IoRequest) {
        let tool = self.take(slot);
        self.prepared.push(PoolTask {
            slot,
            request: *request,
            tool,
        });
    }

    /// Queues a result directly, without using a thread.
    pub(super) fn answer(&mut self, slot: u32, result: Result<u32, Errno>) {
        let tool = self.take(slot);
        self.in_flight += 1;
        self.pool
            .lock()
            .done
            .push_back(PoolCompletion { slot, result, tool });
    }

    /// Passes the prepared I/Os to the threads. Returns their number.
    pub(super) fn submit(&mut self) -> usize {
        let taken = self.prepared.len();
        if taken > 0 {
            self.in_flight += taken;
            self.pool.lock().waiting.extend(self.prepared.drain(..));
            (0..taken.min(self.threads.len())).for_each(|_| self.pool.work.notify_one());
        }
        taken
    }

    /// Waits up to `timeout` for at least `min` results, and passes up to `max` to `done`.
    pub(super) fn reap(
        &mut self,
        min: usize,
        max: usize,
        timeout: Option<Duration>,
        done: &mut impl CompletionSink,
    ) -> usize {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let min = min.min(max).min(self.in_flight);
        let mut state = self.pool.lock();
        while state.done.len() < min {
            state = match until.map(|until| until.saturating_duration_since(Instant::now())) {
                None => self
                    .pool
                    .landed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => break,
                Some(left) => {
                    self.pool
                        .landed
                        .wait_timeout(state, left)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
        let count = state.done.len().min(max);
        for PoolCompletion { slot, result, tool } in state.done.drain(..count) {
            self.home[slot as usize] = Some(tool);
            done.landed(slot, result);
        }
        self.in_flight -= count;
        count
    }
}

impl<T> ThreadPool<T> {
    /// Ends the threads after their current I/Os. No submission may follow.
    pub(super) fn dismiss(&mut self) {
        self.pool.lock().closing = true;
        self.pool.work.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked holds no I/O.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for ThreadPool<T> {
    fn drop(&mut self) {
        self.dismiss();
    }
}

impl<T> fmt::Debug for ThreadPool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPool")
            .field("threads", &self.threads.len())
            .field("in_flight", &self.in_flight)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::job::Op;
    use std::sync::Barrier;

    fn read(region: u32, offset: u64) -> IoRequest {
        IoRequest {
            op: Op::Read,
            region,
            offset,
            len: 16,
        }
    }

    #[test]
    fn as_many_ios_as_there_are_slots_are_done_at_once() {
        let barrier = Arc::new(Barrier::new(4));
        let terms = PoolConfig {
            name: "test",
            threads: 4,
            ordered_regions: 0,
        };
        let perform = move |request: &IoRequest, tool: &mut u64| {
            barrier.wait();
            *tool = request.offset;
            Ok(request.len)
        };
        let mut queue = ThreadPool::new(terms, vec![0; 4], perform).unwrap();
        assert_eq!(
            queue.reap(1, 4, Some(Duration::from_millis(1)), &mut |_: u32,
                                                                   _: Result<
                u32,
                Errno,
            >| ()),
            0
        );
        for round in 0..20u64 {
            (0..4u32).for_each(|slot| queue.prepare(slot, &read(0, round * 4 + u64::from(slot))));
            assert_eq!(queue.submit(), 4);
            let mut seen = 0;
            while seen < 4 {
                seen += queue.reap(1, 2, None, &mut |_: u32, result: Result<u32, Errno>| {
                    assert_eq!(result, Ok(16))
                });
            }
            assert!((0..4u32).all(|slot| *queue.tool(slot) == round * 4 + u64::from(slot)));
        }
    }

    #[test]
    fn dropping_waits_for_what_is_running() {
        let terms = PoolConfig {
            name: "test",
            threads: 2,
            ordered_regions: 1,
        };
        let mut queue = ThreadPool::new(terms, vec![(); 4], |request, ()| Ok(request.len)).unwrap();
        (0..4).for_each(|slot| queue.prepare(slot, &read(0, 0)));
        queue.submit();
        let pool = Arc::clone(&queue.pool);
        drop(queue);
        assert_eq!(Arc::strong_count(&pool), 1, "no thread is left");
    }
}
