//! Recording through the rings of `perf_event_open`.

use super::decode::Decoder;
use super::error::{Privileges, TraceError};
use super::ftrace::common_pid;
use super::queue::EventQueue;
use super::source::{Counts, EventSelection};
use hakaru_sys::perf::{EventCounter, SampleRing, Tracepoint};
use hakaru_sys::thread::online;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

/// Sizes of the ring of one CPU that are tried. At 100,000 events a second, 4 MiB last for 0.4 s, in which a busy
/// machine gets around to emptying it. 512 KiB is what any user may lock (`perf_event_mlock_kb`).
const RING_SIZES: [usize; 6] = [4 << 20, 2 << 20, 1 << 20, 512 << 10, 128 << 10, 32 << 10];
const UNPRIVILEGED_RING: usize = 512 << 10;
/// Most memory for the rings of all CPUs together, unless that leaves less than 1 MiB for each.
const RING_MEMORY: usize = 16 << 20;

/// `PERF_RECORD_LOST`
const RECORD_LOST: u32 = 2;
/// `PERF_RECORD_SAMPLE`
const RECORD_SAMPLE: u32 = 9;
/// Bytes of `perf_event_header`.
const HEADER: usize = 8;

/// Tracepoints and rings of all CPUs.
#[derive(Debug)]
pub(super) struct PerfSource {
    cpus: Vec<CpuRing>,
    ring: usize,
    /// Events that the kernel reported as lost in the rings.
    lost_records: u64,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct CpuRing {
    cpu: u32,
    ring: SampleRing,
    /// In the order of the selected events; the first owns the ring.
    tracepoints: Vec<Tracepoint>,
}

impl PerfSource {
    /// Opens all events on all online CPUs, disabled. `ring` is the size that was asked for.
    pub(super) fn open(
        events: &[EventSelection],
        ring: Option<usize>,
    ) -> Result<PerfSource, TraceError> {
        // An offline CPU has no ring.
        let online = online();
        super::files::allow(online.len() * (events.len() + 1))?;
        let sizes = match ring {
            Some(size) => vec![size],
            None => ring_sizes(online.len(), Privileges::of_process().may_lock_memory()),
        };
        let mut refused = 0;
        for size in sizes {
            match open_rings(events, &online, size) {
                Err(TraceError::RingMemory { bytes, .. }) => refused = bytes,
                rings => {
                    let mut cpus = rings?;
                    for cpu in &mut cpus {
                        cpu.add(&events[1..], size)?;
                    }
                    return Ok(PerfSource {
                        ring: cpus.first().map_or(size, |cpu| cpu.ring.len()),
                        cpus,
                        lost_records: 0,
                        buffer: Vec::new(),
                    });
                }
            }
        }
        Err(TraceError::RingMemory {
            bytes: refused,
            limit: getrlimit(Resource::Memlock).current,
        })
    }

    /// Size of the ring of one CPU.
    pub(super) fn ring(&self) -> usize {
        self.ring
    }

    /// Enables or disables the chosen events.
    ///
    /// Switching takes milliseconds. So that no request is seen to begin without its end, events begin with the last one
    /// in the life of a request on all CPUs, and end with the first one.
    pub(super) fn enable(&self, on: bool, chosen: &[bool]) -> Result<(), TraceError> {
        let events = self.cpus.first().map_or(0, |cpu| cpu.tracepoints.len());
        for at in 0..events {
            let event = if on { events - 1 - at } else { at };
            if chosen.get(event) == Some(&false) {
                continue;
            }
            let of_cpus = self
                .cpus
                .iter()
                .filter_map(|cpu| cpu.tracepoints.get(event));
            for tracepoint in of_cpus {
                let switched = if on {
                    tracepoint.enable()
                } else {
                    tracepoint.disable()
                };
                switched.map_err(|errno| TraceError::Failed {
                    operation: "switching an event",
                    errno,
                })?;
            }
        }
        Ok(())
    }

    /// Moves all events from the rings to the queue.
    pub(super) fn drain(&mut self, decoder: &mut Decoder, queue: &mut EventQueue) {
        for cpu in &mut self.cpus {
            self.buffer.clear();
            cpu.ring.drain(&mut self.buffer);
            self.lost_records += decode_records(&self.buffer, decoder, queue);
        }
    }

    /// Reads the counters since the start.
    pub(super) fn counts(&self, events: usize) -> Counts {
        let mut counts = Counts {
            events: vec![EventCounter::default(); events],
            ..Counts::default()
        };
        let mut reported = Some(0);
        for cpu in &self.cpus {
            for (sum, tracepoint) in counts.events.iter_mut().zip(&cpu.tracepoints) {
                // Only a CPU that was taken offline cannot be read any more.
                let Ok(counter) = tracepoint.counter() else {
                    continue;
                };
                sum.count += counter.count;
                reported = reported.zip(counter.lost).map(|(sum, lost)| sum + lost);
                sum.lost = counter.lost.map(|lost| lost + sum.lost.unwrap_or(0));
            }
        }
        // A loss at the very end is in the counters only; before Linux 6.0 they do not contain it.
        counts.lost_elsewhere = self.lost_records.saturating_sub(reported.unwrap_or(0));
        counts
    }

    /// Returns descriptors that become readable when a ring is partly filled.
    pub(super) fn poll_files(&self) -> Result<Vec<OwnedFd>, TraceError> {
        self.cpus
            .iter()
            .filter_map(|cpu| cpu.tracepoints.first())
            .map(|owner| rustix::io::fcntl_dupfd_cloexec(owner, 3))
            .collect::<Result<_, _>>()
            .map_err(open_error)
    }
}

impl CpuRing {
    fn add(&mut self, events: &[EventSelection], size: usize) -> Result<(), TraceError> {
        for event in events {
            let tracepoint = open(event, self.cpu, size).map_err(open_error)?;
            tracepoint
                .write_to_ring_of(&self.tracepoints[0])
                .map_err(|errno| TraceError::Failed {
                    operation: "joining the ring of a CPU",
                    errno,
                })?;
            self.tracepoints.push(tracepoint);
        }
        Ok(())
    }
}

/// Returns the sizes of the ring of one CPU to try, largest first.
fn ring_sizes(cpus: usize, privileged: bool) -> Vec<usize> {
    let most = match privileged {
        true => (RING_MEMORY / cpus.max(1)).max(1 << 20),
        false => UNPRIVILEGED_RING,
    };
    RING_SIZES
        .into_iter()
        .filter(|&size| size <= most)
        .collect()
}

/// Opens the first event of each CPU and maps its ring, before the others make a retry expensive.
fn open_rings(
    events: &[EventSelection],
    online: &[u32],
    size: usize,
) -> Result<Vec<CpuRing>, TraceError> {
    let mut cpus = Vec::new();
    let Some(first) = events.first() else {
        return Ok(cpus);
    };
    for &cpu in online {
        let owner = match open(first, cpu, size) {
            // It went offline since the list was read.
            Err(Errno::NODEV) => continue,
            owner => owner.map_err(open_error)?,
        };
        let ring = SampleRing::map(&owner, size).map_err(|errno| match errno {
            Errno::PERM | Errno::NOMEM | Errno::AGAIN => TraceError::RingMemory {
                bytes: size as u64,
                limit: None,
            },
            errno => TraceError::Failed {
                operation: "mapping the ring of a CPU",
                errno,
            },
        })?;
        cpus.push(CpuRing {
            cpu,
            ring,
            tracepoints: vec![owner],
        });
    }
    Ok(cpus)
}

fn open(event: &EventSelection, cpu: u32, ring: usize) -> Result<Tracepoint, Errno> {
    let tracepoint = Tracepoint::sampling(u64::from(event.id), cpu, (ring / 4) as u32)?;
    if !event.filter.is_empty() {
        tracepoint.set_filter(&event.filter)?;
    }
    Ok(tracepoint)
}

pub(super) fn open_error(errno: Errno) -> TraceError {
    match errno {
        Errno::PERM | Errno::ACCESS => Privileges::of_process().refusal(false),
        Errno::NOSYS => TraceError::NoPerfEvents,
        Errno::MFILE | Errno::NFILE => super::files::exhausted(),
        errno => TraceError::Failed {
            operation: "opening an event",
            errno,
        },
    }
}

/// Moves the events of records to the queue. Returns how many the kernel lost in between.
fn decode_records(records: &[u8], decoder: &mut Decoder, queue: &mut EventQueue) -> u64 {
    let mut lost = 0;
    for (kind, record) in Records(records) {
        match kind {
            RECORD_SAMPLE => {
                if let Some(sample) = Sample::parse(record) {
                    decode(&sample, decoder, queue);
                }
            }
            RECORD_LOST => lost += word(record, 8).unwrap_or(0),
            _ => {}
        }
    }
    lost
}

fn decode(sample: &Sample<'_>, decoder: &mut Decoder, queue: &mut EventQueue) {
    let Some(index) = decoder.index_of(sample.raw) else {
        return;
    };
    let tid = match sample.tid {
        0 => foreign_thread(common_pid(sample.raw)),
        tid => tid,
    };
    if let Some(event) = decoder.decode(sample.raw, sample.time, sample.cpu, tid) {
        queue.push(index, event);
    }
}

/// Returns an ID for a thread outside of the PID namespace of this process, for which samples have no ID: its global one,
/// which is not mistaken for one of the namespace. The idle thread stays 0.
fn foreign_thread(global: u32) -> u32 {
    match global {
        0 => 0,
        global => global | 1 << 31,
    }
}

/// Records of a ring: each begins with its kind (4 bytes), flags (2) and length (2).
struct Records<'a>(&'a [u8]);

impl<'a> Iterator for Records<'a> {
    type Item = (u32, &'a [u8]);

    fn next(&mut self) -> Option<(u32, &'a [u8])> {
        let kind = half(self.0, 0)?;
        let len = u16::from_ne_bytes(self.0.get(6..HEADER)?.try_into().ok()?);
        let len = usize::from(len);
        let record = self.0.get(HEADER..len)?;
        self.0 = &self.0[len..];
        Some((kind, record))
    }
}

/// A sample with the fields that [`Tracepoint::sampling`] asks for.
struct Sample<'a> {
    tid: u32,
    time: u64,
    cpu: u32,
    raw: &'a [u8],
}

impl<'a> Sample<'a> {
    fn parse(record: &'a [u8]) -> Option<Sample<'a>> {
        let len = half(record, 24)? as usize;
        Some(Sample {
            tid: half(record, 4)?,
            time: word(record, 8)?,
            cpu: half(record, 16)?,
            raw: record.get(28..28usize.checked_add(len)?)?,
        })
    }
}

fn half(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::fixtures::Kernel;

    fn record(kind: u32, content: &[u8]) -> Vec<u8> {
        let mut record = kind.to_ne_bytes().to_vec();
        record.extend(0u16.to_ne_bytes());
        record.extend(((HEADER + content.len()) as u16).to_ne_bytes());
        record.extend(content);
        record
    }

    /// Content of a sample of thread 1235.
    fn sample(time: u64, cpu: u32, raw: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        content.extend(1234u32.to_ne_bytes());
        content.extend(1235u32.to_ne_bytes());
        content.extend(time.to_ne_bytes());
        content.extend(cpu.to_ne_bytes());
        content.extend(0u32.to_ne_bytes());
        content.extend((raw.len() as u32).to_ne_bytes());
        content.extend(raw);
        content
    }

    /// A second with 200,000 requests on two processors, in batches of 100 ms as the reader takes them.
    #[test]
    fn follows_200_000_requests_a_second_in_bounded_memory() {
        const REQUESTS: u64 = 200_000;
        let kernel = Kernel::named("6.18");
        let mut decoder = kernel.decoder();
        let names = ["block_bio_queue", "block_rq_issue", "block_rq_complete"];
        let raw = names.map(|name| kernel.record(name).0);
        let mut queue = EventQueue::default();
        let (mut taken, mut last, mut most) = (0, 0, 0);
        let mut ring = Vec::new();
        let begin = std::time::Instant::now();
        let mut spent = std::time::Duration::ZERO;
        for batch in 0..10 {
            ring.clear();
            for request in 0..REQUESTS / 10 {
                let time = batch * 100_000_000 + request * 5_000;
                for (step, raw) in raw.iter().enumerate() {
                    let cpu = (request % 2) as u32;
                    let content = sample(time + step as u64 * 1_000, cpu, raw);
                    ring.extend(record(RECORD_SAMPLE, &content));
                }
            }
            let decoding = std::time::Instant::now();
            assert_eq!(decode_records(&ring, &mut decoder, &mut queue), 0);
            queue.complete_until((batch + 1) * 100_000_000 - 1);
            let events = queue.take();
            spent += decoding.elapsed();
            most = most.max(events.capacity());
            taken += events.len() as u64;
            assert!(events.is_sorted_by_key(|event| event.time));
            assert!(events.first().is_some_and(|event| event.time >= last));
            last = events.last().map_or(last, |event| event.time);
        }
        assert_eq!(taken, 3 * REQUESTS);
        assert_eq!(queue.dropped_in_total(), 0);
        assert_eq!(decoder.received().sum::<u64>(), 3 * REQUESTS);
        // A batch has 60,000 events: what was taken does not stay.
        assert!(most <= 1 << 17, "{most}");
        println!(
            "{taken} events of 1 s decoded in {spent:?}, with their making in {:?}",
            begin.elapsed()
        );
    }

    #[test]
    fn walks_samples_and_losses() {
        let content = sample(77_000_000_000, 3, &[7; 12]);
        let mut ring = record(RECORD_SAMPLE, &content);
        let mut lost = 5u64.to_ne_bytes().to_vec();
        lost.extend(9u64.to_ne_bytes());
        ring.extend(record(RECORD_LOST, &lost));
        // Cut off, as no complete ring is.
        ring.extend(&record(RECORD_SAMPLE, &content)[..20]);

        let records: Vec<_> = Records(&ring).collect();
        assert_eq!(records.len(), 2);
        let sample = Sample::parse(records[0].1).unwrap();
        assert_eq!(
            (sample.tid, sample.time, sample.cpu, sample.raw),
            (1235, 77_000_000_000, 3, &[7; 12][..])
        );
        assert_eq!(records[1].0, RECORD_LOST);
        assert_eq!(word(records[1].1, 8), Some(9));
        // A length of 0 would never end.
        assert_eq!(Records(&[9, 0, 0, 0, 0, 0, 0, 0, 0]).count(), 0);
    }

    #[test]
    fn threads_outside_of_the_namespace_have_ids_of_their_own() {
        assert_eq!(foreign_thread(0), 0);
        // Larger than any ID in a namespace (2^22).
        assert!(foreign_thread(7) > 1 << 22);
        assert_ne!(foreign_thread(7), foreign_thread(8));
    }

    #[test]
    fn rings_share_a_limited_memory() {
        let first = |cpus, privileged| ring_sizes(cpus, privileged)[0];
        assert_eq!(first(1, true), 4 << 20);
        assert_eq!(first(4, true), 4 << 20);
        assert_eq!(first(8, true), 2 << 20);
        assert_eq!(first(128, true), 1 << 20);
        assert_eq!(first(4, false), 512 << 10);
    }
}
