//! Binary records → events.

use super::format::{EventFormat, Place};
use super::options::DiskNumber;
use super::table::{EVENTS, EventShape};
use crate::event::{BlockOp, EventKind, RequestFlags, SectorRange, ThreadName, TraceEvent};
use std::collections::HashSet;

/// Most fields that any event needs.
const MOST_FIELDS: usize = 7;
/// Marks numbers of events that are not recorded.
const NO_LAYOUT: u16 = u16::MAX;

/// Decodes the records of the events that are recorded.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    layouts: Vec<EventLayout>,
    /// Index into `layouts` by the kernel's number of the event.
    by_id: Vec<u16>,
    filesystem: Option<FilesystemPlace>,
    /// Threads that queued bios on the disk.
    bio_threads: HashSet<u32>,
}

/// Where the file system under test lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilesystemPlace {
    /// Number of its disk or partition.
    pub(super) number: DiskNumber,
    /// Number of the whole disk.
    pub(super) disk: DiskNumber,
    /// First sector on the disk.
    pub(super) start: u64,
}

/// How the records of one event are decoded.
#[derive(Debug)]
struct EventLayout {
    /// Index into [`EVENTS`].
    event: u16,
    shape: EventShape,
    places: [Place; MOST_FIELDS],
    received: u64,
}

impl Decoder {
    /// Creates a decoder without events.
    pub(super) fn new(filesystem: Option<FilesystemPlace>) -> Decoder {
        Decoder {
            filesystem,
            ..Decoder::default()
        }
    }

    /// Adds an event of [`EVENTS`]. Returns `false` if the kernel's format lacks a field that is needed.
    pub(super) fn add(&mut self, event: usize, format: &EventFormat) -> bool {
        let shape = EVENTS[event].shape;
        let mut places = [Place::default(); MOST_FIELDS];
        for (number, name) in shape.fields().iter().enumerate() {
            match format.place(name) {
                Some(place) => places[number] = place,
                None if number < shape.required() => return false,
                None => {}
            }
        }
        let id = usize::from(format.id);
        if self.by_id.len() <= id {
            self.by_id.resize(id + 1, NO_LAYOUT);
        }
        self.by_id[id] = self.layouts.len() as u16;
        self.layouts.push(EventLayout {
            event: event as u16,
            shape,
            places,
            received: 0,
        });
        true
    }

    /// Returns how many records of each event were received, in the order in which the events were added.
    pub(super) fn received(&self) -> impl Iterator<Item = u64> {
        self.layouts.iter().map(|layout| layout.received)
    }

    /// Returns the number of an event in the order in which they were added.
    pub(super) fn index_of(&self, record: &[u8]) -> Option<usize> {
        let id = usize::from(u16::from_ne_bytes(record.get(..2)?.try_into().ok()?));
        let layout = *self.by_id.get(id)?;
        (layout != NO_LAYOUT).then(|| usize::from(layout))
    }

    /// Decodes a record. Returns `None` for events that do not concern the disk, or are not recorded.
    pub(super) fn decode(
        &mut self,
        record: &[u8],
        time: u64,
        cpu: u32,
        tid: u32,
    ) -> Option<TraceEvent> {
        let index = self.index_of(record)?;
        let layout = &mut self.layouts[index];
        layout.received += 1;
        let fields = Fields {
            record,
            places: &layout.places,
        };
        let kind = match layout.shape {
            EventShape::OfThread if !self.bio_threads.contains(&tid) => return None,
            EventShape::OfThread | EventShape::Other => EventKind::Other {
                event: layout.event,
            },
            EventShape::BioQueue => {
                self.bio_threads.insert(tid);
                EventKind::BioQueue {
                    range: fields.range(),
                    flags: fields.flags(),
                    comm: fields.thread_name(3),
                }
            }
            EventShape::F2fsBio => fields.f2fs_bio(self.filesystem)?,
            shape => fields.event(shape),
        };
        Some(TraceEvent {
            time,
            cpu,
            tid,
            kind,
        })
    }
}

/// Fields of one record, by their position in [`EventShape::fields`].
struct Fields<'a> {
    record: &'a [u8],
    places: &'a [Place; MOST_FIELDS],
}

impl Fields<'_> {
    /// Decodes the events that need nothing but their record.
    fn event(&self, shape: EventShape) -> EventKind {
        match shape {
            EventShape::BackMerge | EventShape::FrontMerge => EventKind::BioMerge {
                range: self.range(),
                front: shape == EventShape::FrontMerge,
            },
            EventShape::RequestInsert => EventKind::RequestInsert {
                range: self.range(),
                flags: self.flags(),
            },
            EventShape::RequestIssue => EventKind::RequestIssue {
                range: self.range(),
                flags: self.flags(),
                comm: self.thread_name(3),
            },
            EventShape::RequestRequeue => EventKind::RequestRequeue {
                range: self.range(),
                flags: self.flags(),
            },
            EventShape::BioComplete => EventKind::BioComplete {
                range: self.range(),
                flags: self.flags(),
                error: self.number(3) as i32,
            },
            EventShape::RequestComplete => EventKind::RequestComplete {
                range: self.range(),
                flags: self.flags(),
                error: self.number(3) as i32,
            },
            EventShape::Split => EventKind::Split {
                sector: self.number(0),
                rest: self.number(1),
            },
            EventShape::MmcStart => EventKind::MmcStart {
                opcode: self.number(0) as u32,
                sector: self.number(1) as u32,
                blocks: self.number(2) as u32,
                block_size: self.number(3) as u32,
                id: self.number(4),
            },
            EventShape::MmcDone => EventKind::MmcDone {
                opcode: self.number(0) as u32,
                id: self.number(1),
                bytes: self.number(2) as u32,
                retries: self.number(3) as u32,
                error: (4..MOST_FIELDS)
                    .map(|field| self.number(field) as i32)
                    .find(|&error| error != 0)
                    .unwrap_or(0),
            },
            EventShape::CommitStart => EventKind::JournalCommitStart,
            EventShape::CommitEnd => EventKind::JournalCommitEnd,
            EventShape::SyncEnter => EventKind::SyncEnter,
            EventShape::SyncExit => EventKind::SyncExit,
            EventShape::BioQueue
            | EventShape::F2fsBio
            | EventShape::OfThread
            | EventShape::Other => {
                unreachable!("decoded by the caller")
            }
        }
    }

    /// The file system counts sectors from the start of its partition, and may lie on several devices. The kernel gives
    /// the whole disk as the target, even for a partition.
    fn f2fs_bio(&self, filesystem: Option<FilesystemPlace>) -> Option<EventKind> {
        let place = filesystem?;
        let known = [place.disk, place.number].map(|number| u64::from(number.kernel()));
        let target = self.places[3].number(self.record);
        if target.is_some_and(|target| !known.contains(&target)) {
            return None;
        }
        Some(EventKind::F2fsBio {
            sector: self.number(0).saturating_add(place.start),
            size: self.number(1) as u32,
            page_type: self.number(2) as u32,
        })
    }

    /// Returns a number; 0 if the kernel's event has no such field.
    fn number(&self, field: usize) -> u64 {
        self.places[field].number(self.record).unwrap_or(0)
    }

    fn range(&self) -> SectorRange {
        SectorRange {
            start: self.number(0),
            sectors: self.number(1) as u32,
        }
    }

    fn flags(&self) -> RequestFlags {
        parse_flags(self.places[2].string(self.record))
    }

    fn thread_name(&self, field: usize) -> ThreadName {
        let mut name = ThreadName::default();
        // The last byte stays 0.
        for (to, from) in name.0[..15]
            .iter_mut()
            .zip(self.places[field].string(self.record))
        {
            *to = *from;
        }
        name
    }
}

/// Decodes the letters of `rwbs`: an `F` for a flush before the operation, the operation, then its flags.
pub(crate) fn parse_flags(letters: &[u8]) -> RequestFlags {
    let mut flags = RequestFlags {
        op: BlockOp::Other,
        preflush: false,
        fua: false,
        sync: false,
        meta: false,
        ahead: false,
    };
    let rest = match letters {
        // Followed by an operation, it is the flag; alone, it is the operation.
        [b'F', rest @ ..]
            if matches!(rest.first(), Some(b'R' | b'W' | b'D' | b'F' | b'N' | b'Z')) =>
        {
            flags.preflush = true;
            rest
        }
        all => all,
    };
    let rest = match rest {
        [b'R', rest @ ..] => {
            flags.op = BlockOp::Read;
            rest
        }
        // Zone append, then the operations on zones: their second and third letters are no flags.
        [b'Z', b'A', rest @ ..] | [b'W', rest @ ..] => {
            flags.op = BlockOp::Write;
            rest
        }
        [b'Z', b'R', b'A', rest @ ..] | [b'Z', _, rest @ ..] => rest,
        [b'D', b'E', rest @ ..] | [b'D', rest @ ..] => {
            flags.op = BlockOp::Discard;
            rest
        }
        [b'F', rest @ ..] => {
            flags.op = BlockOp::Flush;
            rest
        }
        [_, rest @ ..] => rest,
        [] => &[],
    };
    for letter in rest {
        match letter {
            b'F' => flags.fua = true,
            b'S' => flags.sync = true,
            b'M' => flags.meta = true,
            b'A' => flags.ahead = true,
            _ => {}
        }
    }
    flags
}

#[cfg(test)]
mod tests;
