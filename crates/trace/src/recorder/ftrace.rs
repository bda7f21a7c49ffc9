//! Recording through an ftrace instance of our own: where perf loses events, and where each event counts.

use super::cleaner::InstanceCleaner;
use super::decode::Decoder;
use super::error::TraceError;
use super::page::PageLayout;
use super::perf::open_error;
use super::queue::EventQueue;
use super::source::{Counts, EventSelection};
use super::table::EventSpec;
use super::tracefs::Tracefs;
use hakaru_sys::perf::{EventCounter, Tracepoint};
use hakaru_sys::thread::online;
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

/// Size of the buffer of one CPU.
const DEFAULT_BUFFER: usize = 2 << 20;

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventCounting {
    /// By perf counters of the events, which take as long as the recording.
    Perf,
    /// Only by what the buffers report as lost.
    Buffer,
}

/// An instance with a buffer for each CPU.
#[derive(Debug)]
pub(super) struct FtraceSource {
    page: PageLayout,
    cpus: Vec<CpuBuffer>,
    buffer: Vec<u8>,
    size: usize,
    counting: EventCounting,
    /// Dropped after the buffers: an instance that is in use cannot be removed.
    instance: Instance,
    /// Dropped last, so that it finds nothing left to remove.
    cleaner: Option<InstanceCleaner>,
}

#[derive(Debug)]
struct CpuBuffer {
    cpu: u32,
    pipe: OwnedFd,
    /// One for each selected event; none if the events are not counted, or the kernel does not allow perf events.
    counters: Vec<Tracepoint>,
}

/// An instance in tracefs, removed when dropped.
#[derive(Debug)]
struct Instance {
    tracefs: Tracefs,
    path: String,
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.write("tracing_on", "0");
        let _ = self.tracefs.remove_instance(&self.path);
    }
}

impl Instance {
    fn write(&self, file: &str, text: &str) -> Result<(), Errno> {
        self.tracefs.write(&format!("{}/{file}", self.path), text)
    }

    fn read(&self, file: &str) -> Result<String, Errno> {
        self.tracefs.read(&format!("{}/{file}", self.path))
    }
}

impl FtraceSource {
    /// Creates the instance with all events, disabled.
    pub(super) fn open(
        tracefs: Tracefs,
        events: &[EventSelection],
        size: Option<usize>,
        counting: EventCounting,
    ) -> Result<FtraceSource, TraceError> {
        let failed = |operation| {
            move |errno| match errno {
                Errno::PERM | Errno::ACCESS => open_error(errno),
                errno => TraceError::Failed { operation, errno },
            }
        };
        let page = tracefs
            .read("events/header_page")
            .ok()
            .and_then(|text| PageLayout::parse(&text))
            .ok_or(TraceError::NoTracefs)?;
        let online = online();
        super::files::allow(online.len() * (events.len() + 2))?;
        let path = tracefs
            .create_instance()
            .map_err(failed("creating an ftrace instance"))?;
        let cleaner = InstanceCleaner::start(path.trim_start_matches("instances/"));
        let instance = Instance { tracefs, path };
        let set = |file: &str, text: &str| {
            instance
                .write(file, text)
                .map_err(failed("setting up an ftrace instance"))
        };
        set("tracing_on", "0")?;
        set("trace_clock", "mono_raw")?;
        let size = size.unwrap_or(DEFAULT_BUFFER);
        set("buffer_size_kb", &(size / 1024).max(1).to_string())?;
        for event in events {
            let directory = format!("events/{}/{}", event.spec().system, event.spec().name);
            if !event.filter.is_empty() {
                let filter = event.filter.to_string_lossy();
                set(&format!("{directory}/filter"), &filter)?;
            }
            set(&format!("{directory}/enable"), "1")?;
        }
        let mut cpus = Vec::new();
        for cpu in online {
            let path = format!("{}/per_cpu/cpu{cpu}/trace_pipe_raw", instance.path);
            let flags = OFlags::RDONLY | OFlags::NONBLOCK;
            let pipe = match instance.tracefs.open(&path, flags) {
                // It went offline since the list was read.
                Err(Errno::NOENT | Errno::NODEV) => continue,
                pipe => pipe.map_err(failed("opening the buffer of a CPU"))?,
            };
            cpus.push(CpuBuffer {
                cpu,
                pipe,
                counters: match counting {
                    EventCounting::Perf => open_counters(events, cpu).unwrap_or_default(),
                    EventCounting::Buffer => Vec::new(),
                },
            });
        }
        Ok(FtraceSource {
            instance,
            cleaner,
            counting,
            buffer: vec![0; page.size],
            page,
            cpus,
            size,
        })
    }

    /// Returns the longest time in milliseconds between two calls of [`Self::drain`]. Few events leave the threads under
    /// test alone for longer.
    pub(super) fn longest_wait(&self) -> i64 {
        match self.counting {
            EventCounting::Perf => 20,
            EventCounting::Buffer => 100,
        }
    }

    /// Whether the instance is removed even after `kill -9`.
    pub(super) fn has_cleaner(&self) -> bool {
        self.cleaner.is_some()
    }

    /// Returns the path of the instance in tracefs.
    #[cfg(test)]
    pub(super) fn path(&self) -> &str {
        &self.instance.path
    }

    /// Size of the buffer of one CPU.
    pub(super) fn ring(&self) -> usize {
        self.size
    }

    /// Starts or stops recording. The counters run a little shorter than the recording, so that no event is counted as
    /// missing that came in between.
    pub(super) fn enable(&self, on: bool, chosen: &[bool]) -> Result<(), TraceError> {
        let record = |text| {
            self.instance
                .write("tracing_on", text)
                .map_err(|errno| TraceError::Failed {
                    operation: "switching an ftrace instance",
                    errno,
                })
        };
        if on {
            record("1")?;
        }
        let of_cpus = self
            .cpus
            .iter()
            .flat_map(|cpu| cpu.counters.iter().enumerate());
        let is_chosen = |(index, _): &(usize, _)| chosen.get(*index) != Some(&false);
        for (_, counter) in of_cpus.filter(is_chosen) {
            let switched = if on {
                counter.enable()
            } else {
                counter.disable()
            };
            switched.map_err(|errno| TraceError::Failed {
                operation: "switching an event",
                errno,
            })?;
        }
        if on { Ok(()) } else { record("0") }
    }

    /// Selects the events to record among those of the instance.
    pub(super) fn choose(
        &self,
        events: &[EventSelection],
        chosen: &[bool],
    ) -> Result<(), TraceError> {
        for (event, chosen) in events.iter().zip(chosen) {
            let EventSpec { system, name, .. } = event.spec();
            let text = if *chosen { "1" } else { "0" };
            self.instance
                .write(&format!("events/{system}/{name}/enable"), text)
                .map_err(|errno| TraceError::Failed {
                    operation: "selecting an event of an ftrace instance",
                    errno,
                })?;
        }
        Ok(())
    }

    /// Moves all events from the buffers to the queue.
    pub(super) fn drain(&mut self, decoder: &mut Decoder, queue: &mut EventQueue) {
        for cpu in &self.cpus {
            // More than a buffer holds can only be events that came meanwhile.
            for _ in 0..=self.size / self.page.size {
                let read = rustix::io::retry_on_intr(|| {
                    rustix::io::read(&cpu.pipe, self.buffer.as_mut_slice())
                });
                let len = match read {
                    Ok(len) if len > 0 => len,
                    _ => break,
                };
                self.page.for_each(&self.buffer[..len], |time, record| {
                    let Some(index) = decoder.index_of(record) else {
                        return;
                    };
                    let tid = common_pid(record);
                    if let Some(event) = decoder.decode(record, time, cpu.cpu, tid) {
                        queue.push(index, event);
                    }
                });
            }
        }
    }

    /// Reads the counters since the start.
    pub(super) fn counts(&self, events: usize) -> Counts {
        let mut counts = Counts {
            events: vec![EventCounter::default(); events],
            ..Counts::default()
        };
        for cpu in &self.cpus {
            for (sum, counter) in counts.events.iter_mut().zip(&cpu.counters) {
                sum.count += counter.counter().map_or(0, |counter| counter.count);
            }
            counts.uncounted |= cpu.counters.is_empty();
            let stats = format!("per_cpu/cpu{}/stats", cpu.cpu);
            let stats = self.instance.read(&stats).unwrap_or_default();
            counts.lost_elsewhere += lost_in(&stats);
        }
        counts
    }
}

fn open_counters(events: &[EventSelection], cpu: u32) -> Result<Vec<Tracepoint>, Errno> {
    events
        .iter()
        .map(|event| {
            let counter = Tracepoint::counting(u64::from(event.id), cpu)?;
            if !event.filter.is_empty() {
                counter.set_filter(&event.filter)?;
            }
            Ok(counter)
        })
        .collect()
}

/// Returns the thread of a record: `common_pid` is at the same place in all events.
pub(super) fn common_pid(record: &[u8]) -> u32 {
    record
        .get(4..8)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_ne_bytes)
}

/// Sums the events that a CPU's buffer lost: overwritten, or dropped while it was full or locked.
fn lost_in(stats: &str) -> u64 {
    stats
        .lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(key, _)| matches!(*key, "overrun" | "commit overrun" | "dropped events"))
        .filter_map(|(_, value)| value.trim().parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_the_losses_of_a_buffer() {
        let stats = "entries: 7\noverrun: 5\ncommit overrun: 1\nbytes: 300\noldest event ts: 3.1\n\
                     now ts: 4.2\ndropped events: 2\nread events: 90\n";
        assert_eq!(lost_in(stats), 8);
        assert_eq!(lost_in(""), 0);
    }
}
