//! `io_uring` with buffers and files that belong to the ring while in flight. Exists on 64-bit machines only.

#[cfg(not(target_pointer_width = "64"))]
mod absent;
#[cfg(target_pointer_width = "64")]
mod entry;
#[cfg(target_pointer_width = "64")]
mod known;

#[cfg(not(target_pointer_width = "64"))]
pub use absent::Ring;
#[cfg(target_pointer_width = "64")]
pub use real::Ring;

/// Switches of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingOptions {
    /// Registers the buffers, so that the kernel need not map them for each I/O.
    pub fixed_buffers: bool,
    /// Registers the files, so that the kernel need not look them up for each I/O.
    pub fixed_files: bool,
    /// Lets a kernel thread submit.
    pub sq_poll: bool,
    /// Polls the device for completions.
    pub io_poll: bool,
    /// Lets I/Os that would wait fail with EAGAIN (RWF_NOWAIT).
    pub nowait: bool,
    /// Describes each buffer by a vector, as kernels before 5.6 want it. Registered buffers have no vectors.
    pub vectored: bool,
    /// The processor that the thread of the kernel runs on.
    pub sq_poll_cpu: Option<u32>,
    /// Has each so many-th I/O done by a thread of the kernel from the start; 0 for none.
    pub force_async: u32,
    /// May be used by any thread, one at a time, rather than by the one that made it only.
    pub shared: bool,
}

#[cfg(target_pointer_width = "64")]
mod real {
    use super::RingOptions;
    use super::entry::{self, FileHandle, Memory, SqeWords};
    use super::known::RegisteredRing;
    use crate::aio::{Completion, outcome};
    use crate::buffer::Slots;
    use io_uring::{IoUring, cqueue, opcode, squeue, types};
    use rustix::fd::{AsRawFd, OwnedFd};
    use rustix::io::Errno;
    use std::time::Duration;

    /// A ring whose I/Os each have a buffer of their own. Dropping it waits for all of them.
    pub struct Ring {
        /// The number by which this thread calls it.
        known: Option<RegisteredRing>,
        // The ring comes next: it is torn down before the buffers and files it uses are given back.
        ring: IoUring<squeue::Entry, cqueue::Entry>,
        files: Vec<OwnedFd>,
        slots: Slots,
        /// One for each slot, where buffers are described by vectors.
        vectors: Box<[libc::iovec]>,
        options: RingOptions,
        rw_flags: i32,
        /// First words of the entries that read and write each file.
        heads: Vec<[u64; 2]>,
        /// What is left of the number of a slot where the kernel looks for that of a buffer: nothing, unless those are
        /// registered.
        buffer_mask: u16,
        /// First word of the entry that does nothing.
        nothing: u64,
        /// Whether an I/O has to be looked at before it is prepared.
        rare: bool,
        /// I/Os until the next that a thread of the kernel does.
        until_async: u32,
        in_flight: usize,
        prepared: usize,
    }

    // SAFETY: the raw pointers of the vectors are to memory of `slots`, which goes with the ring; a ring that belongs to
    // a thread answers others with EEXIST.
    unsafe impl Send for Ring {}

    impl std::fmt::Debug for Ring {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_struct("Ring")
                .field("options", &self.options)
                .field("in_flight", &self.in_flight)
                .finish()
        }
    }

    fn errno(error: &std::io::Error) -> Errno {
        Errno::from_raw_os_error(error.raw_os_error().unwrap_or(libc::EIO))
    }

    fn build(
        entries: u32,
        options: RingOptions,
    ) -> Result<IoUring<squeue::Entry, cqueue::Entry>, Errno> {
        let mut last = Errno::NOSYS;
        // Newest kernels first: entries that are taken in their order (6.6), one issuer whose completions run when it asks
        // (6.1), then plain.
        for (in_order, lean) in [(true, true), (false, true), (false, false)] {
            let mut builder = IoUring::builder();
            if in_order {
                builder.setup_no_sqarray();
            }
            if options.sq_poll {
                builder.setup_sqpoll(1000);
                if let Some(cpu) = options.sq_poll_cpu {
                    builder.setup_sqpoll_cpu(cpu);
                }
            } else if lean && !options.shared {
                builder.setup_single_issuer().setup_defer_taskrun();
            }
            if options.io_poll {
                builder.setup_iopoll();
            }
            match builder.build(entries) {
                Ok(ring) => return Ok(ring),
                Err(error) => last = errno(&error),
            }
        }
        Err(last)
    }

    /// Entries that the kernel allows a ring at most (`IORING_MAX_ENTRIES`).
    const MOST_ENTRIES: u32 = 32_768;

    /// `RWF_NOWAIT`.
    const NOWAIT: i32 = 8;

    impl Ring {
        /// A ring for as many I/Os as there are slots, on these files. Unless it is shared, it has to be used by the
        /// thread that made it; to others the kernel answers with an error.
        ///
        /// # Errors
        /// ENOSYS and EPERM where the kernel has no rings or forbids them, ENOMEM when memory may not be locked.
        pub fn new(slots: Slots, files: Vec<OwnedFd>, options: RingOptions) -> Result<Ring, Errno> {
            // A thread of the kernel gives entries back in batches: their I/Os may be done, and the next ones prepared,
            // before it does.
            let spare = if options.sq_poll { 2 } else { 1 };
            let entries = (slots.count() as u32 * spare)
                .next_power_of_two()
                .min(MOST_ENTRIES);
            let ring = build(entries, options)?;
            let rw_flags = if options.nowait { NOWAIT } else { 0 };
            let vectors = (0..slots.count())
                .map(|slot| slots.memory_of(slot))
                .map(|(memory, iov_len)| libc::iovec {
                    iov_base: memory.cast(),
                    iov_len,
                })
                .collect();
            let rare = options.vectored && !options.fixed_buffers || options.force_async > 0;
            let buffer_mask = if options.fixed_buffers { u16::MAX } else { 0 };
            let until_async = options.force_async;
            let (in_flight, prepared) = (0, 0);
            // A thread of the kernel, and polls of the device, need more in a call than entries and completions.
            let simple = !options.sq_poll && !options.io_poll && !options.shared;
            let known = if simple {
                RegisteredRing::to_this_thread(ring.as_raw_fd())
            } else {
                None
            };
            let mut this = Ring {
                known,
                ring,
                files,
                slots,
                vectors,
                options,
                rw_flags,
                heads: Vec::new(),
                buffer_mask,
                nothing: SqeWords::of(opcode::Nop::new().build()).head,
                rare,
                until_async,
                in_flight,
                prepared,
            };
            this.register()?;
            this.heads = (0..this.files.len() as u32)
                .map(|file| this.heads_of(file))
                .collect();
            Ok(this)
        }

        /// First words of the entries that read and write a file.
        fn heads_of(&self, file: u32) -> [u64; 2] {
            let memory = match self.options.fixed_buffers {
                true => Memory::Registered(std::ptr::null_mut(), 0),
                false => Memory::Plain(std::ptr::null_mut()),
            };
            [false, true].map(|write| SqeWords::of(self.entry(memory, file, write, 0, 0)).head)
        }

        fn register(&mut self) -> Result<(), Errno> {
            if self.options.fixed_files && !self.files.is_empty() {
                let raw: Vec<i32> = self.files.iter().map(|f| f.as_raw_fd()).collect();
                self.ring
                    .submitter()
                    .register_files(&raw)
                    .map_err(|e| errno(&e))?;
            }
            if self.options.fixed_buffers {
                // SAFETY: the vectors describe memory of `self.slots`, which is given back only after the ring is gone.
                unsafe { self.ring.submitter().register_buffers(&self.vectors) }
                    .map_err(|e| errno(&e))?;
            }
            Ok(())
        }

        /// The buffer of a slot that is not in flight.
        #[inline]
        pub fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
            self.slots.get_mut(slot as usize, len)
        }

        /// The buffer of a slot that is not in flight, after moving it on: see [`Slots::move_on`].
        #[inline]
        pub fn next_buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
            self.slots.move_on(slot as usize, len)
        }

        /// All buffers, to fill them before the first I/O.
        pub fn buffers(&mut self) -> &mut [u8] {
            self.slots.all_mut()
        }

        /// The files it works on.
        pub fn files(&self) -> &[OwnedFd] {
            &self.files
        }

        /// Puts another file in the place of one, which is closed. Nothing may be prepared or in flight on it.
        ///
        /// # Errors
        /// What the kernel answers when the new file cannot be registered, or the old one could not be closed well.
        ///
        /// # Panics
        /// When there is no such file, or I/Os are in flight: a bug of the caller.
        pub fn replace_file(&mut self, index: u32, file: OwnedFd) -> Result<(), Errno> {
            assert!(self.in_flight + self.prepared == 0, "I/Os are in flight");
            if self.options.fixed_files {
                let updated = self
                    .ring
                    .submitter()
                    .register_files_update(index, &[file.as_raw_fd()]);
                updated.map_err(|e| errno(&e))?;
            }
            let old = std::mem::replace(&mut self.files[index as usize], file);
            self.heads[index as usize] = self.heads_of(index);
            crate::file::close(old)
        }

        /// Prepares an I/O of the first `len` bytes of a slot on a file; it is handed over by the next `submit`.
        ///
        /// # Panics
        /// When there is no such slot or file, or the ring is full: a bug of the caller.
        #[inline(always)]
        pub fn prepare(&mut self, slot: u32, file: u32, write: bool, offset: u64, len: u32) {
            let buffer = self.slots.lend(slot as usize, len as usize);
            if self.rare {
                return self.prepare_rare(buffer, slot, file, write, offset, len);
            }
            let words = self.words(buffer, slot, file, write, offset, len);
            self.push(words);
        }

        #[inline(always)]
        fn words(
            &self,
            buffer: *mut u8,
            slot: u32,
            file: u32,
            write: bool,
            offset: u64,
            len: u32,
        ) -> SqeWords {
            SqeWords {
                head: self.heads[file as usize][usize::from(write)],
                offset,
                address: buffer.expose_provenance() as u64,
                len,
                rw_flags: self.rw_flags as u32,
                user_data: slot.into(),
                buffer: slot as u16 & self.buffer_mask,
                personality: 0,
                splice_fd: 0,
                rest: [0; 2],
            }
        }

        /// An I/O that is described in another way than most, or done in another.
        #[cold]
        fn prepare_rare(
            &mut self,
            buffer: *mut u8,
            slot: u32,
            file: u32,
            write: bool,
            offset: u64,
            len: u32,
        ) {
            let memory = if self.options.fixed_buffers {
                Memory::Registered(buffer, slot as u16)
            } else if self.options.vectored {
                let vector = &mut self.vectors[slot as usize];
                *vector = libc::iovec {
                    iov_base: buffer.cast(),
                    iov_len: len as usize,
                };
                Memory::Vector(std::ptr::from_ref(vector))
            } else {
                Memory::Plain(buffer)
            };
            let mut entry = self.entry(memory, file, write, offset, len);
            if self.options.force_async > 0 {
                self.until_async -= 1;
                if self.until_async == 0 {
                    self.until_async = self.options.force_async;
                    entry = entry.flags(squeue::Flags::ASYNC);
                }
            }
            self.push(SqeWords::of(entry.user_data(u64::from(slot))));
        }

        fn entry(
            &self,
            memory: Memory,
            file: u32,
            write: bool,
            offset: u64,
            len: u32,
        ) -> squeue::Entry {
            let target = match self.options.fixed_files {
                true => FileHandle::Registered(file),
                false => FileHandle::Descriptor(self.files[file as usize].as_raw_fd()),
            };
            entry::build(target, memory, write, (offset, len, self.rw_flags))
        }

        /// Prepares operations that do nothing in these slots, to measure the ring itself.
        ///
        /// # Panics
        /// When there is no such slot, or the ring is full: a bug of the caller.
        pub fn prepare_nops(&mut self, slots: impl Iterator<Item = u32>) {
            let mut queue = self.ring.submission();
            let before = queue.len();
            for slot in slots {
                self.slots.lend(slot as usize, 0);
                let words = SqeWords {
                    head: self.nothing,
                    user_data: u64::from(slot),
                    ..SqeWords::EMPTY
                };
                // SAFETY: the entry names no memory.
                let pushed = unsafe { queue.push(&words.entry()) };
                assert!(pushed.is_ok(), "the ring has an entry for each slot");
            }
            self.prepared += queue.len() - before;
        }

        // The entry goes into the queue word by word. One that is somewhere else in memory before, because a call may look
        // at it there, is read back sooner than its words can be.
        #[inline(always)]
        fn push(&mut self, words: SqeWords) {
            // SAFETY: buffer, vector and file of the entry belong to `self` and outlive the I/O, because dropping waits
            // for it.
            while unsafe { self.ring.submission().push(&words.entry()) }.is_err() {
                self.wait_for_entry();
            }
            self.prepared += 1;
        }

        /// Waits for the thread of the kernel to give an entry back.
        #[cold]
        #[inline(never)]
        fn wait_for_entry(&mut self) {
            assert!(self.options.sq_poll, "the ring has an entry for each slot");
            // The thread may sleep, and a kernel that cannot wait for it (before 5.10) is asked again.
            let _ = self.ring.submit();
            let _ = self.ring.submitter().squeue_wait();
            std::thread::yield_now();
        }

        /// Hands over what was prepared and waits until at least `wait_for` I/Os are done. Returns how many were taken.
        ///
        /// # Errors
        /// EINTR when a signal came first, EAGAIN or EBUSY when the kernel has no room now.
        #[inline]
        pub fn submit(&mut self, wait_for: usize) -> Result<usize, Errno> {
            let wait_for = wait_for.min(self.in_flight + self.prepared);
            if wait_for == 0 && self.prepared == 0 {
                return self.fetch().map(|()| 0);
            }
            let answer = match &self.known {
                Some(known) if known.is_ours() => known.enter(self.prepared, wait_for),
                _ => self.ring.submit_and_wait(wait_for).map_err(|e| errno(&e)),
            };
            if let Err(Errno::AGAIN | Errno::BUSY) = answer {
                // It has no room before what is done is taken from it.
                self.fetch()?;
            }
            answer.map(|answer| self.count_taken(answer))
        }

        /// Lets completions be written that the kernel puts off until they are asked for.
        #[cold]
        fn fetch(&mut self) -> Result<(), Errno> {
            const GETEVENTS: u32 = 1;
            // SAFETY: without an argument the call takes numbers only, and hands nothing over.
            let answer = unsafe { self.ring.submitter().enter::<()>(0, 0, GETEVENTS, None) };
            answer.map(drop).map_err(|e| errno(&e))
        }

        /// Whether [`Ring::submit_for`] can.
        pub fn can_wait_for_a_time(&self) -> bool {
            let polls = self.options.io_poll && !self.options.sq_poll;
            !polls && self.ring.params().is_feature_ext_arg()
        }

        /// The same, but for no longer than a time. `None` where the kernel cannot: before 5.11, and where it polls the
        /// device for us, which it does until something is done.
        ///
        /// # Errors
        /// As [`Ring::submit`]; that the time is over is no error.
        pub fn submit_for(
            &mut self,
            wait_for: usize,
            time: Duration,
        ) -> Option<Result<usize, Errno>> {
            if !self.can_wait_for_a_time() {
                return None;
            }
            let time = types::Timespec::from(time);
            let args = types::SubmitArgs::new().timespec(&time);
            let wait_for = wait_for.min(self.in_flight + self.prepared);
            Some(
                match self.ring.submitter().submit_with_args(wait_for, &args) {
                    Ok(answer) => Ok(self.count_taken(answer)),
                    // Only a call that has handed over nothing answers so; what a thread of the kernel takes, it takes.
                    Err(error) if errno(&error) == Errno::TIME => {
                        Ok(self.count_taken(self.prepared))
                    }
                    Err(error) => Err(errno(&error)),
                },
            )
        }

        #[inline]
        fn count_taken(&mut self, answer: usize) -> usize {
            // A thread of the kernel takes what it finds when it finds it; the answer says nothing of that.
            let taken = if self.options.sq_poll {
                self.prepared
            } else {
                answer.min(self.prepared)
            };
            self.prepared -= taken;
            self.in_flight += taken;
            taken
        }

        /// Closes its files, while nothing is in flight. No I/O may follow.
        ///
        /// # Errors
        /// The first that the file systems tell; all are closed in any case.
        pub fn close_files(&mut self) -> Result<(), Errno> {
            if self.options.fixed_files {
                // The ring would keep them open; that it cannot let go of them is found as it is dropped.
                let _ = self.ring.submitter().unregister_files();
            }
            self.files.drain(..).try_for_each(crate::file::close)
        }

        /// Gives what is done to `done`, without waiting, at most `max`. Returns how many.
        #[inline(always)]
        pub fn reap(&mut self, max: usize, mut done: impl FnMut(Completion)) -> usize {
            let mut count = 0;
            let Ring { ring, slots, .. } = self;
            for entry in ring.completion().take(max) {
                slots.give_back(entry.user_data() as usize);
                done(Completion {
                    slot: entry.user_data() as u32,
                    result: outcome(i64::from(entry.result())),
                });
                count += 1;
            }
            self.in_flight -= count;
            count
        }

        /// What it was made with.
        pub fn options(&self) -> RingOptions {
            self.options
        }

        /// I/Os handed over and not reaped.
        pub fn in_flight(&self) -> usize {
            self.in_flight
        }
    }

    impl Drop for Ring {
        fn drop(&mut self) {
            // The buffers belong to the kernel until each I/O is done. What was only prepared goes with the others.
            let mut left = self.in_flight + self.prepared;
            while left > 0 {
                let answer = self.ring.submit_and_wait(1).map_err(|e| errno(&e));
                left -= self.ring.completion().count().min(left);
                if answer.is_err_and(|e| !matches!(e, Errno::INTR | Errno::AGAIN | Errno::BUSY)) {
                    break;
                }
            }
        }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests;
