//! A simulated block layer whose truth is known, to compare the matcher with.

use super::*;
use hakaru_model::rng::Rng;
use proptest::prelude::*;

/// Largest request in sectors: longer bios are split.
const MAX_SECTORS: u32 = 48;

/// A block layer with a queue, merges, splits, requeues and a device that completes in any order and in parts.
struct BlockLayer {
    rng: Rng,
    time: u64,
    events: Vec<TraceEvent>,
    /// Pieces of bios that wait, in any order.
    waiting: Vec<BioPiece>,
    /// Requests on the device, and the sectors that have completed.
    device: Vec<(TracedRequest, u32)>,
    truth: Vec<TracedRequest>,
    tell_splits: bool,
    /// Whether requests complete in parts. With a lost completion, a part looks like the end of a shorter request.
    parts: bool,
}

impl BlockLayer {
    fn new(seed: u64) -> BlockLayer {
        let mut rng = Rng::new(seed);
        BlockLayer {
            tell_splits: rng.below(2) == 0,
            parts: true,
            rng,
            time: 0,
            events: Vec::new(),
            waiting: Vec::new(),
            device: Vec::new(),
            truth: Vec::new(),
        }
    }

    fn event(&mut self, tid: u32, kind: EventKind) -> u64 {
        self.time += 1 + self.rng.below(1000);
        self.events.push(TraceEvent {
            time: self.time,
            cpu: 0,
            tid,
            kind,
        });
        self.time
    }

    fn issued(&mut self, range: SectorRange, flags: RequestFlags) -> u64 {
        let comm = ThreadName::default();
        self.event(0, EventKind::RequestIssue { range, flags, comm })
    }

    fn is_free(&self, op: BlockOp, range: SectorRange) -> bool {
        let apart = |other: SectorRange| other.end() <= range.start || range.end() <= other.start;
        let waits = self.waiting.iter().filter(|bio| bio.flags.op == op);
        let served = self.device.iter().filter(|it| it.0.flags.op == op);
        waits.map(|bio| bio.range).all(apart) && served.map(|it| it.0.range).all(apart)
    }

    fn queue_bio(&mut self) {
        let op = [BlockOp::Read, BlockOp::Write, BlockOp::Discard][self.rng.below(3) as usize];
        let range = SectorRange {
            start: 8 * self.rng.below(64),
            sectors: 8 * (1 + self.rng.below(10)) as u32,
        };
        if !self.is_free(op, range) {
            return;
        }
        let flags = RequestFlags {
            op,
            preflush: false,
            fua: false,
            sync: self.rng.below(2) == 0,
            meta: false,
            ahead: false,
        };
        let tid = 100 + self.rng.below(16) as u32;
        let comm = ThreadName::default();
        let kind = EventKind::BioQueue { range, flags, comm };
        let queued = self.event(tid, kind);
        self.waiting.push(BioPiece {
            range,
            flags,
            tid,
            comm,
            queued,
            page_type: None,
            part: false,
        });
    }

    /// Issues a request that begins with a waiting bio, or in the middle of one that was split.
    fn issue(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let first = self.rng.below(self.waiting.len() as u64) as usize;
        let mut bio = self.waiting.swap_remove(first);
        if bio.range.sectors > MAX_SECTORS {
            let rest = bio.range.start + u64::from(MAX_SECTORS);
            let sector = bio.range.start;
            if self.tell_splits {
                self.event(bio.tid, EventKind::Split { sector, rest });
            }
            let (head, tail) = cut(bio, rest);
            bio = head;
            self.waiting.push(tail);
            if self.rng.below(3) == 0 {
                self.waiting.push(bio);
                bio = tail;
                self.waiting.retain(|it| *it != tail);
            }
        }
        let mut bios = vec![bio];
        self.merge(&mut bios);
        let start = bios[0].range.start;
        let sectors = bios.iter().map(|bio| bio.range.sectors).sum();
        let range = SectorRange { start, sectors };
        let flags = bio.flags;
        let issued = self.issued(range, flags);
        let request = TracedRequest {
            range,
            flags,
            queued: bios.iter().map(|bio| bio.queued).min().unwrap(),
            bios,
            issued,
            completed: None,
            requeues: 0,
            error: 0,
            command: None,
        };
        self.device.push((request, 0));
    }

    /// Merges adjacent waiting bios to the back and to the front.
    fn merge(&mut self, bios: &mut Vec<BioPiece>) {
        while self.rng.below(4) > 0 {
            let op = bios[0].flags.op;
            let (start, end) = (bios[0].range.start, bios[bios.len() - 1].range.end());
            let sectors: u32 = bios.iter().map(|bio| bio.range.sectors).sum();
            let fits = |bio: &BioPiece| {
                let adjacent = bio.range.start == end || bio.range.end() == start;
                bio.flags.op == op && adjacent && sectors + bio.range.sectors <= MAX_SECTORS
            };
            let Some(index) = self.waiting.iter().position(fits) else {
                return;
            };
            let bio = self.waiting.swap_remove(index);
            let back = bio.range.start == end;
            bios.insert(if back { bios.len() } else { 0 }, bio);
        }
    }

    fn complete(&mut self) {
        if self.device.is_empty() {
            return;
        }
        let index = self.rng.below(self.device.len() as u64) as usize;
        let (request, done) = &mut self.device[index];
        let left = request.range.sectors - *done;
        let start = request.range.start + u64::from(*done);
        let (range, flags) = (request.range, request.flags);
        if self.rng.below(10) == 0 && *done == 0 {
            // The driver returns it; it is issued again, before anybody merges with it.
            self.event(0, EventKind::RequestRequeue { range, flags });
            let issued = self.issued(range, flags);
            let (request, _) = &mut self.device[index];
            request.requeues += 1;
            request.issued = issued;
            return;
        }
        let part = self.parts && self.rng.below(8) == 0 && left > 8;
        let sectors = if part { 8 } else { left };
        *done += sectors;
        let range = SectorRange { start, sectors };
        let kind = EventKind::RequestComplete {
            range,
            flags,
            error: 0,
        };
        let time = self.event(0, kind);
        if !part {
            let (mut request, _) = self.device.swap_remove(index);
            request.completed = Some(time);
            self.truth.push(request);
        }
    }

    fn run(&mut self, steps: u32) {
        for _ in 0..steps {
            match self.rng.below(5) {
                0 | 1 => self.queue_bio(),
                2 | 3 => self.issue(),
                _ => self.complete(),
            }
        }
        while !self.waiting.is_empty() || !self.device.is_empty() {
            self.issue();
            self.complete();
        }
    }
}

fn cut(bio: BioPiece, at: u64) -> (BioPiece, BioPiece) {
    let head = (at - bio.range.start) as u32;
    let part = |start, sectors| BioPiece {
        range: SectorRange { start, sectors },
        part: true,
        ..bio
    };
    (
        part(bio.range.start, head),
        part(at, bio.range.sectors - head),
    )
}

proptest! {
    #[test]
    fn restores_the_requests_of_a_simulated_block_layer(seed: u64, steps in 1_u32..600) {
        let mut layer = BlockLayer::new(seed);
        layer.run(steps);
        let mut matcher = RequestMatcher::new(MatchOptions::default());
        let mut found = Vec::new();
        for event in &layer.events {
            matcher.push(event);
            found.extend(matcher.take());
        }
        prop_assert_eq!(matcher.counts(), MatchCounts::default());
        prop_assert_eq!(matcher.in_flight().count(), 0);
        prop_assert_eq!(matcher.pending().count(), 0);
        prop_assert_eq!(found, layer.truth);
    }

    #[test]
    fn counts_every_lost_completion(seed: u64, drop in 0_u64..20) {
        let mut layer = BlockLayer::new(seed);
        layer.parts = false;
        layer.run(300);
        let mut matcher = RequestMatcher::new(MatchOptions::default());
        let last = layer.time;
        let mut lost = 0;
        for (number, event) in layer.events.iter().enumerate() {
            let whole = matches!(&event.kind, EventKind::RequestComplete { range, .. }
                if layer.truth.iter().any(|it| it.completed == Some(event.time) && it.range == *range));
            if whole && number as u64 % 20 == drop {
                lost += 1;
                continue;
            }
            matcher.push(event);
        }
        matcher.settle(last + 1_000_000_000_000);
        prop_assert_eq!(matcher.counts().unseen_completions, lost);
        prop_assert_eq!(matcher.counts().unseen_issues, 0);
        let mut found = matcher.take();
        found.sort_by_key(|it| it.issued);
        layer.truth.sort_by_key(|it| it.issued);
        prop_assert_eq!(found.len(), layer.truth.len());
        // Two requests of one range at a time cannot be told apart: the completion of one may be taken for the other's.
        let is_of_range = |time, it: &TracedRequest| {
            layer.truth.iter().any(|other| {
                other.completed == Some(time)
                    && (other.range, other.flags.op) == (it.range, it.flags.op)
            })
        };
        for (found, truth) in found.iter().zip(&layer.truth) {
            prop_assert_eq!(&found.bios, &truth.bios);
            prop_assert!(found.completed.is_none_or(|time| is_of_range(time, truth)));
        }
    }
}
