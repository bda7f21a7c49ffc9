//! `io_uring` rings that own their buffers and files while in flight. 64-bit systems only.

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

/// Options of a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingOptions {
    /// Register the buffers, so that the kernel need not map them for each I/O.
    pub fixed_buffers: bool,
    /// Register the files, so that the kernel need not look them up for each I/O.
    pub fixed_files: bool,
    /// Submit from a kernel thread (SQPOLL).
    pub sq_poll: bool,
    /// Poll the device for completions (IOPOLL).
    pub io_poll: bool,
    /// Make I/Os that would block fail with EAGAIN (RWF_NOWAIT).
    pub nowait: bool,
    /// Use vectored operations, as kernels before 5.6 require. Not for registered buffers.
    pub vectored: bool,
    /// CPU of the kernel thread.
    pub sq_poll_cpu: Option<u32>,
    /// Issue every Nth I/O asynchronously from a kernel thread; 0: none.
    pub force_async: u32,
    /// Allow use by any thread, one at a time, not only by the creating thread.
    pub shared: bool,
}

#[cfg(target_pointer_width = "64")]
mod real {
    use super::RingOptions;
    use super::entry::{self, FileHandle, Memory, SqeWords};
    use super::known::RegisteredRing;
    use crate::aio::{Completion, outcome};
    use crate::buffer::{MovedBuffer, Slots};
    use io_uring::{IoUring, cqueue, opcode, squeue, types};
    use rustix::fd::{AsRawFd, OwnedFd};
    use rustix::io::Errno;
    use std::time::Duration;

    /// A ring whose I/Os each have their own buffer. Dropping it waits for all of them. Where that is impossible, as in
    /// a thread that did not create the ring, it leaks the buffers, because the kernel may still write to them.
    pub struct Ring {
        /// Its registered index in this thread.
        known: Option<RegisteredRing>,
        // The ring must be dropped before the buffers and files it uses.
        ring: IoUring<squeue::Entry, cqueue::Entry>,
        files: Vec<OwnedFd>,
        slots: Slots,
        /// I/O vectors, one per slot, if vectored.
        vectors: Box<[libc::iovec]>,
        options: RingOptions,
        rw_flags: i32,
        /// First words of the read and write entries of each file.
        heads: Vec<[u64; 2]>,
        /// Mask for the buffer index of an entry: 0 unless buffers are registered.
        buffer_mask: u16,
        /// First word of a no-op entry.
        nothing: u64,
        /// Whether I/Os need individual preparation.
        rare: bool,
        /// Number of I/Os until the next forced asynchronous one.
        until_async: u32,
        in_flight: usize,
        prepared: usize,
    }

    // SAFETY: the raw pointers of the vectors are to memory of `slots`, which moves with the ring; a ring bound to a
    // thread returns EEXIST in other threads.
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
        // Newest features first: no SQ array (6.6), single issuer with deferred task work (6.1),
        // then no special features.
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

    /// Maximum number of entries of a ring (`IORING_MAX_ENTRIES`).
    const MOST_ENTRIES: u32 = 32_768;

    /// `RWF_NOWAIT`.
    const NOWAIT: i32 = 8;

    impl Ring {
        /// Creates a ring with one entry per slot, on these files. Unless shared, only the creating
        /// thread can use it; others get an error.
        ///
        /// # Errors
        /// ENOSYS or EPERM if the kernel does not support or permit rings, ENOMEM at the
        /// locked-memory limit.
        pub fn new(slots: Slots, files: Vec<OwnedFd>, options: RingOptions) -> Result<Ring, Errno> {
            // The kernel thread returns entries in batches: their I/Os may be complete and the next
            // ones prepared before that.
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
            // SQPOLL and IOPOLL need more per call than entries and completions.
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
                // SAFETY: the vectors describe memory of `self.slots`, which is freed only after the ring.
                unsafe { self.ring.submitter().register_buffers(&self.vectors) }
                    .map_err(|e| errno(&e))?;
            }
            Ok(())
        }

        /// Returns the buffer of a slot that is not in flight.
        #[inline]
        pub fn buffer(&mut self, slot: u32, len: usize) -> &mut [u8] {
            self.slots.get_mut(slot as usize, len)
        }

        /// Returns the buffer of a slot that is not in flight, after [`Slots::move_on`].
        #[inline]
        pub fn next_buffer(&mut self, slot: u32, len: usize) -> MovedBuffer<'_> {
            self.slots.move_on(slot as usize, len)
        }

        /// Returns all buffers, to fill them before the first I/O.
        pub fn buffers(&mut self) -> &mut [u8] {
            self.slots.all_mut()
        }

        /// Returns its files.
        pub fn files(&self) -> &[OwnedFd] {
            &self.files
        }

        /// Replaces and closes a file. Nothing may be prepared or in flight on it.
        ///
        /// # Errors
        /// The error of registering the new file, or of closing the old one.
        ///
        /// # Panics
        /// If the file does not exist, or I/Os are in flight: a bug of the caller.
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

        /// Prepares an I/O of the first `len` bytes of a slot on a file, for the next `submit`.
        ///
        /// # Panics
        /// If the slot or file does not exist, or the ring is full: a bug of the caller.
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
                unused: 0,
                unused_too: 0,
            }
        }

        /// Prepares an I/O that differs from the common case.
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

        /// Prepares no-ops in these slots, to measure the ring itself.
        ///
        /// # Panics
        /// If the slot does not exist, or the ring is full: a bug of the caller.
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
                // SAFETY: the entry refers to no memory.
                let pushed = unsafe { queue.push(&words.entry()) };
                assert!(pushed.is_ok(), "the ring has an entry for each slot");
            }
            self.prepared += queue.len() - before;
        }

        // The entry is written word by word. Building it elsewhere first, and passing a reference
        // to a call, would stall on store forwarding.
        #[inline(always)]
        fn push(&mut self, words: SqeWords) {
            // SAFETY: buffer, vector and file of the entry belong to `self` and outlive the I/O, because dropping waits
            // for it.
            while unsafe { self.ring.submission().push(&words.entry()) }.is_err() {
                self.wait_for_entry();
            }
            self.prepared += 1;
        }

        /// Waits until the kernel thread returns an entry.
        #[cold]
        #[inline(never)]
        fn wait_for_entry(&mut self) {
            assert!(self.options.sq_poll, "the ring has an entry for each slot");
            // The thread may sleep; kernels before 5.10 cannot wait for it, so the call is
            // repeated.
            let _ = self.ring.submit();
            let _ = self.ring.submitter().squeue_wait();
            std::thread::yield_now();
        }

        /// Submits prepared I/Os and waits for at least `wait_for` completions. Returns the number
        /// submitted.
        ///
        /// # Errors
        /// EINTR if interrupted by a signal, EAGAIN or EBUSY if the kernel has no resources now.
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
                // It has no space before completions are reaped.
                self.fetch()?;
            }
            answer.map(|answer| self.count_taken(answer))
        }

        /// Makes the kernel post deferred completions.
        #[cold]
        fn fetch(&mut self) -> Result<(), Errno> {
            const GETEVENTS: u32 = 1;
            // SAFETY: without an argument the call takes numbers only, and submits nothing.
            let answer = unsafe { self.ring.submitter().enter::<()>(0, 0, GETEVENTS, None) };
            answer.map(drop).map_err(|e| errno(&e))
        }

        /// Whether [`Ring::submit_for`] is supported.
        fn can_wait_for_a_time(&self) -> bool {
            let polls = self.options.io_poll && !self.options.sq_poll;
            !polls && self.ring.params().is_feature_ext_arg()
        }

        /// Like [`Ring::submit`] with a timeout. `None` if the kernel does not support it: before
        /// 5.11, and with IOPOLL.
        ///
        /// # Errors
        /// See [`Ring::submit`]; a timeout is not an error.
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
                    // Returned only if nothing was submitted; SQPOLL submits independently.
                    Err(error) if errno(&error) == Errno::TIME => {
                        Ok(self.count_taken(self.prepared))
                    }
                    Err(error) => Err(errno(&error)),
                },
            )
        }

        #[inline]
        fn count_taken(&mut self, answer: usize) -> usize {
            // With SQPOLL the result does not contain the number submitted.
            let taken = if self.options.sq_poll {
                self.prepared
            } else {
                answer.min(self.prepared)
            };
            self.prepared -= taken;
            self.in_flight += taken;
            taken
        }

        /// Closes its files. Nothing may be in flight, and no I/O may follow.
        ///
        /// # Errors
        /// The first error; all files are closed in any case.
        pub fn close_files(&mut self) -> Result<(), Errno> {
            if self.options.fixed_files {
                // Unregister first, or the ring keeps them open; errors show when it is dropped.
                let _ = self.ring.submitter().unregister_files();
            }
            self.files.drain(..).try_for_each(crate::file::close)
        }

        /// Passes up to `max` completions to `done` without waiting. Returns their number.
        #[inline(always)]
        pub fn reap(&mut self, max: usize, mut done: impl FnMut(Completion)) -> usize {
            let Ring {
                ring,
                slots,
                in_flight,
                ..
            } = self;
            let mut reaped = Reaped {
                count: 0,
                in_flight,
            };
            for entry in ring.completion().take(max) {
                slots.give_back(entry.user_data() as usize);
                reaped.count += 1;
                done(Completion {
                    slot: entry.user_data() as u32,
                    result: outcome(i64::from(entry.result())),
                });
            }
            reaped.count
        }

        /// Returns its options.
        pub fn options(&self) -> RingOptions {
            self.options
        }

        /// Number of submitted I/Os whose completions have not been reaped.
        pub fn in_flight(&self) -> usize {
            self.in_flight
        }
    }

    impl Drop for Ring {
        fn drop(&mut self) {
            // Buffers belong to the kernel until each I/O is complete. Prepared I/Os are submitted
            // too.
            let mut left = self.in_flight + self.prepared;
            while left > 0 {
                let answer = self.ring.submit_and_wait(1).map_err(|e| errno(&e));
                left -= self.ring.completion().count().min(left);
                if answer.is_err_and(|e| !matches!(e, Errno::INTR | Errno::AGAIN | Errno::BUSY)) {
                    break;
                }
            }
            if left > 0 {
                // Closing the ring does not wait for I/Os that a device is working on.
                self.slots.leak();
                std::mem::forget(std::mem::take(&mut self.vectors));
            }
        }
    }

    /// Completions reaped so far. Dropping it counts them, also if the caller's function panics: otherwise dropping the
    /// ring would wait for them forever.
    struct Reaped<'a> {
        count: usize,
        in_flight: &'a mut usize,
    }

    impl Drop for Reaped<'_> {
        #[inline(always)]
        fn drop(&mut self) {
            *self.in_flight -= self.count;
        }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests;
