//! Requests in compact form.

use crate::classify::{Classifier, ContentHint};
use crate::event::{BlockOp, RequestFlags, SectorRange, ThreadName};
use crate::request::TracedRequest;
use hakaru_model::io_path::IoClass;
use hakaru_model::job::Op;
use std::collections::HashMap;

/// A request without its bios, which are in [`Kept::bios`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptRequest {
    pub(crate) range: SectorRange,
    pub(crate) flags: RequestFlags,
    pub(crate) queued: u64,
    pub(crate) issued: u64,
    /// `None` if the completion was not seen.
    pub(crate) completed: Option<u64>,
    /// Time on the device: of the command on the bus, if it is known. Empty if the completion was not seen.
    pub(crate) served: (u64, u64),
    first_bio: u32,
    bios: u32,
    pub(crate) requeues: u16,
    pub(crate) failed: bool,
    pub(crate) command: Option<KeptCommand>,
}

/// CommandOutcome of a command on the bus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptCommand {
    pub(crate) retries: u16,
    pub(crate) failed: bool,
}

/// A bio in compact form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptBio {
    pub(crate) range: SectorRange,
    pub(crate) queued: u64,
    pub(crate) tid: u32,
    /// Index of the thread's name.
    pub(crate) name: u16,
    pub(crate) hint: ContentHint,
    pub(crate) flush: bool,
    pub(crate) part: bool,
}

/// Requests and their bios.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) requests: Vec<KeptRequest>,
    bios: Vec<KeptBio>,
}

/// Names of threads.
#[derive(Debug, Default)]
pub(crate) struct ThreadNames {
    names: Vec<ThreadName>,
    index: HashMap<ThreadName, u16>,
}

impl ThreadNames {
    fn index_of(&mut self, name: ThreadName) -> u16 {
        if let Some(&index) = self.index.get(&name) {
            return index;
        }
        let Ok(index) = u16::try_from(self.names.len()) else {
            return u16::MAX;
        };
        self.names.push(name);
        self.index.insert(name, index);
        index
    }

    pub(crate) fn name(&self, index: u16) -> ThreadName {
        let name = self.names.get(usize::from(index));
        name.copied().unwrap_or_default()
    }
}

impl Kept {
    /// Adds a request.
    pub(crate) fn push(&mut self, request: &TracedRequest, names: &mut ThreadNames) {
        let first_bio = u32::try_from(self.bios.len()).unwrap_or(u32::MAX);
        for bio in &request.bios {
            self.bios.push(KeptBio {
                range: bio.range,
                queued: bio.queued,
                tid: bio.tid,
                name: names.index_of(bio.comm),
                hint: ContentHint {
                    page_type: bio.page_type.and_then(|it| u8::try_from(it).ok()),
                    meta: bio.flags.meta,
                },
                flush: bio.flags.preflush || bio.flags.fua,
                part: bio.part,
            });
        }
        let end = request.completed.unwrap_or(request.issued);
        let command = request.command;
        let served = match (command, request.completed) {
            (Some(command), Some(_)) => {
                let start = command.start.max(request.issued);
                (start, command.done.clamp(start, end.max(start)))
            }
            _ => (request.issued, end),
        };
        self.requests.push(KeptRequest {
            range: request.range,
            flags: request.flags,
            queued: request.queued,
            issued: request.issued,
            completed: request.completed,
            served,
            first_bio,
            bios: request.bios.len() as u32,
            requeues: request.requeues,
            failed: request.error != 0,
            command: command.map(|command| KeptCommand {
                retries: u16::try_from(command.retries).unwrap_or(u16::MAX),
                failed: command.failed,
            }),
        });
    }

    /// Returns the number of requests and bios, whichever is larger.
    pub(crate) fn len(&self) -> usize {
        self.requests.len().max(self.bios.len())
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
        self.bios.clear();
    }

    /// Returns the bios of a request.
    pub(crate) fn bios_of(&self, request: &KeptRequest) -> &[KeptBio] {
        let first = request.first_bio as usize;
        self.bios
            .get(first..first + request.bios as usize)
            .unwrap_or_default()
    }

    /// Calls `found` with class and sectors of each piece of a request, in the order of its bios.
    pub(crate) fn classes(
        &self,
        request: &KeptRequest,
        classifier: &Classifier<'_>,
        mut found: impl FnMut(IoClass, u64),
    ) {
        if request.is_flush() {
            return found(IoClass::Flush, 0);
        }
        let bios = self.bios_of(request);
        let covered: u64 = bios.iter().map(|bio| u64::from(bio.range.sectors)).sum();
        if covered != u64::from(request.range.sectors) {
            let hint = ContentHint {
                page_type: bios.first().and_then(|bio| bio.hint.page_type),
                meta: request.flags.meta,
            };
            return classifier.classes(request.range, hint, found);
        }
        for bio in bios {
            classifier.classes(bio.range, bio.hint, &mut found);
        }
    }

    /// Returns the class of the first sector of a request.
    pub(crate) fn first_class(
        &self,
        request: &KeptRequest,
        classifier: &Classifier<'_>,
    ) -> IoClass {
        if request.is_flush() {
            return IoClass::Flush;
        }
        match self.bios_of(request).first() {
            Some(bio) if bio.range.start == request.range.start => {
                classifier.first(bio.range, bio.hint)
            }
            _ => {
                let hint = ContentHint {
                    page_type: None,
                    meta: request.flags.meta,
                };
                classifier.first(request.range, hint)
            }
        }
    }
}

impl KeptRequest {
    pub(crate) fn is_flush(&self) -> bool {
        self.range.sectors == 0
    }

    /// Returns the operation; `None` for flushes. What is neither read nor discard counts as a write, as in the disk's
    /// counters: `write zeroes`, for example.
    pub(crate) fn op(&self) -> Option<Op> {
        match self.flags.op {
            _ if self.is_flush() => None,
            BlockOp::Read => Some(Op::Read),
            BlockOp::Discard => Some(Op::Trim),
            BlockOp::Write | BlockOp::Flush | BlockOp::Other => Some(Op::Write),
        }
    }
}
