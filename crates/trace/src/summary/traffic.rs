//! Sums by class and operation.

use super::kept::{Kept, KeptBio, KeptRequest, ThreadNames};
use crate::classify::{Classifier, OwnThreads, issuer_kind, issuer_name};
use hakaru_model::io_path::{ClassTraffic, CommandTraffic, IoClass, Issuer, IssuerKind, SizeCount};
use hakaru_model::job::Op;
use hakaru_model::record::{Latency, Samples};
use hakaru_model::units::{Bytes, Nanos};
use std::collections::{BTreeMap, HashMap};

/// Most issuers of one class that are stored.
const MAX_ISSUERS: usize = 8;

/// Sums of all requests so far.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    sums: BTreeMap<(IoClass, Option<Op>), Sums>,
}

/// Sums of one class and operation.
#[derive(Debug)]
struct Sums {
    requests: u64,
    sectors: u64,
    earlier_requests: u64,
    earlier_sectors: u64,
    runs: u64,
    /// First sector behind the last request.
    run_end: Option<u64>,
    bios: u64,
    merges: u64,
    splits: u64,
    requeues: u64,
    errors: u64,
    sizes: BTreeMap<u32, u64>,
    queue: Latency,
    device: Latency,
    commands: Option<CommandTraffic>,
    command_end: Option<u64>,
    /// Bios and sectors by thread.
    issuers: HashMap<(u32, u16), (u64, u64)>,
}

impl Default for Sums {
    fn default() -> Sums {
        Sums {
            requests: 0,
            sectors: 0,
            earlier_requests: 0,
            earlier_sectors: 0,
            runs: 0,
            run_end: None,
            bios: 0,
            merges: 0,
            splits: 0,
            requeues: 0,
            errors: 0,
            sizes: BTreeMap::new(),
            queue: Latency::with_histogram(),
            device: Latency::with_histogram(),
            commands: None,
            command_end: None,
            issuers: HashMap::new(),
        }
    }
}

impl Traffic {
    /// Threads of one class that are told apart; others count as the first of them.
    const MAX_THREADS: usize = 4096;

    /// Adds a request and returns the class of its first sector. Requests come in order of issue. An earlier one was
    /// queued before the window.
    pub(crate) fn add(
        &mut self,
        kept: &Kept,
        request: &KeptRequest,
        classifier: &Classifier<'_>,
        earlier: bool,
    ) -> IoClass {
        let op = request.op();
        let first = kept.first_class(request, classifier);
        let sums = self.sums(first, op);
        sums.count(request, kept.bios_of(request));
        sums.earlier_requests += u64::from(earlier);
        let mut shares: Vec<(IoClass, u64)> = Vec::with_capacity(1);
        kept.classes(request, classifier, |class, sectors| {
            match shares.iter_mut().find(|share| share.0 == class) {
                Some(share) => share.1 += sectors,
                None => shares.push((class, sectors)),
            }
        });
        let all: u64 = shares.iter().map(|share| share.1).sum();
        for (class, sectors) in shares {
            let share = |time: u64| match all {
                0 => time,
                _ => (u128::from(time) * u128::from(sectors) / u128::from(all)) as u64,
            };
            let sums = self.sums(class, op);
            sums.sectors += sectors;
            sums.earlier_sectors += u64::from(earlier) * sectors;
            sums.add_times(request, class == first, share);
        }
        for bio in kept.bios_of(request) {
            let class = match request.is_flush() {
                true => IoClass::Flush,
                false => classifier.first(bio.range, bio.hint),
            };
            self.sums(class, op).add_bio(bio);
        }
        first
    }

    fn sums(&mut self, class: IoClass, op: Option<Op>) -> &mut Sums {
        self.sums.entry((class, op)).or_default()
    }

    /// Returns the traffic by class, in the order of [`IoClass::ALL`] and of operations.
    pub(crate) fn finish(self, names: &ThreadNames, own: OwnThreads<'_>) -> Vec<ClassTraffic> {
        let traffic = self.sums.into_iter();
        traffic
            .map(|((class, op), sums)| sums.finish(class, op, names, own))
            .collect()
    }
}

impl Sums {
    /// Counts a request whose first sector is of this class.
    fn count(&mut self, request: &KeptRequest, bios: &[KeptBio]) {
        self.requests += 1;
        self.requeues += u64::from(request.requeues);
        self.errors += u64::from(request.failed);
        self.merges += (bios.len() as u64).saturating_sub(1);
        if !request.is_flush() {
            self.splits += u64::from(bios.iter().any(|bio| bio.part));
            *self.sizes.entry(request.range.sectors).or_default() += 1;
            self.runs += u64::from(self.run_end != Some(request.range.start));
            self.run_end = Some(request.range.end());
        }
        let Some(command) = request.command else {
            return;
        };
        let commands = self.commands.get_or_insert_default();
        commands.commands += 1;
        commands.runs += u64::from(self.command_end != Some(request.range.start));
        self.command_end = Some(request.range.end());
        commands.retries += u64::from(command.retries);
        commands.errors += u64::from(command.failed);
    }

    /// Adds the class's share of the request's times. The request counts for the class of its first sector.
    fn add_times(&mut self, request: &KeptRequest, is_first: bool, share: impl Fn(u64) -> u64) {
        let add = |latency: &mut Latency, time: u64| {
            let time = share(time);
            if is_first {
                latency.record(Nanos(time));
            } else {
                let Samples { sum, .. } = &mut latency.stat;
                *sum += u128::from(time);
            }
        };
        add(
            &mut self.queue,
            request.issued.saturating_sub(request.queued),
        );
        let Some(completed) = request.completed else {
            return;
        };
        add(&mut self.device, completed.saturating_sub(request.issued));
        if request.command.is_some() {
            let (start, done) = request.served;
            let commands = self.commands.get_or_insert_default();
            commands.busy.0 += share(done - start);
        }
    }

    fn add_bio(&mut self, bio: &KeptBio) {
        let copied = bio.range.sectors == 0 && bio.part;
        self.bios += u64::from(!copied);
        let mut key = (bio.tid, bio.name);
        if self.issuers.len() >= Traffic::MAX_THREADS && !self.issuers.contains_key(&key) {
            key = self.issuers.keys().min().copied().unwrap_or(key);
        }
        let (bios, sectors) = self.issuers.entry(key).or_default();
        *bios += 1;
        *sectors += u64::from(bio.range.sectors);
    }

    fn finish(
        self,
        class: IoClass,
        op: Option<Op>,
        names: &ThreadNames,
        own: OwnThreads<'_>,
    ) -> ClassTraffic {
        let sizes = op.into_iter().flat_map(|op| {
            self.sizes.iter().map(move |(&sectors, &count)| SizeCount {
                op,
                size: Bytes(u64::from(sectors) * 512),
                count,
            })
        });
        ClassTraffic {
            class,
            op,
            requests: self.requests,
            bytes: Bytes(self.sectors * 512),
            earlier_requests: self.earlier_requests,
            earlier_bytes: Bytes(self.earlier_sectors * 512),
            runs: self.runs,
            bios: self.bios,
            merges: self.merges,
            splits: self.splits,
            requeues: self.requeues,
            errors: self.errors,
            sizes: sizes.collect(),
            queue: self.queue,
            device: self.device,
            commands: self.commands,
            issuers: issuers(&self.issuers, names, own),
        }
    }
}

/// Joins threads of one kind and name, most bytes first.
fn issuers(
    threads: &HashMap<(u32, u16), (u64, u64)>,
    names: &ThreadNames,
    own: OwnThreads<'_>,
) -> Vec<Issuer> {
    let mut joined: BTreeMap<(IssuerKind, String), (u64, u64)> = BTreeMap::new();
    for (&(tid, name), &(bios, sectors)) in threads {
        let name = names.name(name);
        let key = (issuer_kind(tid, name, own), issuer_name(name));
        let sum = joined.entry(key).or_default();
        sum.0 += bios;
        sum.1 += sectors;
    }
    let mut issuers: Vec<Issuer> = joined
        .into_iter()
        .map(|((kind, name), (bios, sectors))| Issuer {
            kind,
            name,
            bios,
            bytes: Bytes(sectors * 512),
        })
        .collect();
    issuers.sort_by_key(|issuer| std::cmp::Reverse((issuer.bytes, issuer.bios)));
    issuers.truncate(MAX_ISSUERS);
    issuers
}
