//! Threads that verify blocks separately from the worker (`verify_async`).
//!
//! The worker sends each a copy of the data and continues; results return later.

use super::inspect::Inspector;
use super::scheme::ExpectedBlock;
use hakaru_model::mismatch::Mismatch;
use hakaru_model::stream::IoRequest;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::JoinHandle;

/// Maximum number of blocks queued per thread; the worker waits when it is reached.
const WAITING: usize = 16;

struct VerifyTask {
    request: IoRequest,
    wanted: ExpectedBlock,
    block: Vec<u8>,
}

/// A block with errors.
pub(super) type FailedBlock = (IoRequest, Vec<Mismatch>);

/// The verify threads, with their queued blocks.
#[derive(Debug)]
pub(super) struct VerifyPool {
    tasks: Vec<SyncSender<VerifyTask>>,
    answers: Receiver<(VerifyTask, Vec<Mismatch>)>,
    threads: Vec<JoinHandle<()>>,
    spare: Vec<Vec<u8>>,
    on_their_way: usize,
    turn: usize,
}

impl std::fmt::Debug for VerifyTask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl VerifyPool {
    /// Starts the threads.
    ///
    /// # Errors
    /// The reason why a thread could not be started.
    pub(super) fn new(
        threads: u32,
        cpus: &[u32],
        inspector: &Arc<Inspector>,
    ) -> std::io::Result<VerifyPool> {
        let (back, answers) = channel();
        let mut pool = VerifyPool {
            tasks: Vec::new(),
            answers,
            threads: Vec::new(),
            spare: Vec::new(),
            on_their_way: 0,
            turn: 0,
        };
        for _ in 0..threads {
            let (sender, tasks) = sync_channel::<VerifyTask>(WAITING);
            let (back, inspector, cpus) = (back.clone(), Arc::clone(inspector), cpus.to_vec());
            let run = move || {
                if !cpus.is_empty() {
                    // If these CPUs do not exist, any CPU can verify the data.
                    let _ = hakaru_sys::thread::pin(&cpus);
                }
                for task in tasks {
                    let found = inspector.inspect(&task.request, &task.block, task.wanted);
                    if back.send((task, found)).is_err() {
                        return;
                    }
                }
            };
            let thread = std::thread::Builder::new().name("verify".to_owned());
            pool.threads.push(thread.spawn(run)?);
            pool.tasks.push(sender);
        }
        Ok(pool)
    }

    /// Queues a block on the next thread. Returns the failed blocks found so far.
    pub(super) fn give(
        &mut self,
        request: IoRequest,
        block: &[u8],
        wanted: ExpectedBlock,
    ) -> Vec<FailedBlock> {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(block);
        self.turn = (self.turn + 1) % self.tasks.len().max(1);
        if let Some(thread) = self.tasks.get(self.turn)
            && thread
                .send(VerifyTask {
                    request,
                    wanted,
                    block: copy,
                })
                .is_ok()
        {
            self.on_their_way += 1;
        }
        self.collect(false)
    }

    /// Returns the failed blocks found by the threads; with `all`, waits for all queued blocks.
    pub(super) fn collect(&mut self, all: bool) -> Vec<FailedBlock> {
        let mut bad = Vec::new();
        while self.on_their_way > 0 {
            let answer = match self.answers.try_recv() {
                Err(TryRecvError::Empty) if !all => break,
                Err(TryRecvError::Empty) => self.answers.recv().ok(),
                answer => answer.ok(),
            };
            let Some((task, found)) = answer else { break };
            self.on_their_way -= 1;
            if !found.is_empty() {
                bad.push((task.request, found));
            }
            self.spare.push(task.block);
        }
        bad
    }
}

impl Drop for VerifyPool {
    fn drop(&mut self) {
        self.tasks.clear();
        for thread in self.threads.drain(..) {
            // A thread that panicked has been reported; its blocks are lost.
            let _ = thread.join();
        }
    }
}
