//! Minimal I/O loops: the upper bound of what the machine reaches when a program does nothing but I/O.
//!
//! Offsets are computed before the clock starts. Each loop prints one line of JSON: I/Os, elapsed time, and the user
//! and kernel CPU time of the thread that issued them. Usage: `hakaru-bare LOOP [FILE] [SECONDS]`.

#![forbid(unsafe_code)]

use hakaru_model::histogram::Histogram;
use hakaru_model::rng::Rng;
use hakaru_model::stream::Permutation;
use hakaru_model::units::Nanos;
use hakaru_sys::aio::AioQueue;
use hakaru_sys::buffer::{AlignedBuffer, Slots};
use hakaru_sys::clock;
use hakaru_sys::ring::{Ring, RingOptions};
use hakaru_sys::thread::usage;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use std::error::Error;
use std::hint::black_box;

/// Number of I/Os between two checks of the clock.
const CHUNK: u64 = 1024;
/// Number of precomputed offsets, enough for each block of 1 GiB; a loop cycles through them.
const OFFSETS: usize = 1 << 18;
const DEPTH: usize = 32;
/// Number of blocks of 4 KiB until the content of writes repeats, as in the engine: 132 KiB.
const FRESH: u64 = 33;

type Outcome = Result<u64, Box<dyn Error>>;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().map_or("", String::as_str);
    let file = words.get(1).map_or("", String::as_str);
    let seconds: f64 = words.get(2).map_or(Ok(1.0), |text| text.parse())?;
    let span = (seconds * 1e9) as u64;
    let mut meter = Meter::new(span);
    let ios = match name {
        "empty" => meter.run(|_| Ok(()))?,
        "clock1" => meter.run(|_| {
            black_box(clock::monotonic_raw());
            Ok(())
        })?,
        "clock2" => meter.run(|_| {
            black_box((clock::monotonic_raw(), clock::monotonic_raw()));
            Ok(())
        })?,
        "counter1" => meter.run(|_| {
            black_box(clock::counter());
            Ok(())
        })?,
        "counter2" => meter.run(|_| {
            black_box((clock::counter(), clock::counter()));
            Ok(())
        })?,
        "recorded" => recorded(&mut meter)?,
        "pread" | "pread-direct" => pread(&mut meter, file, name.ends_with("direct"), 4096, true)?,
        "pwrite" | "pwrite-direct" => pwrite(&mut meter, file, name.ends_with("direct"), 4096, 1)?,
        "pwrite-fresh" | "pwrite-fresh-direct" => {
            pwrite(&mut meter, file, name.ends_with("direct"), 4096, FRESH)?
        }
        "pread-1m" => pread(&mut meter, file, false, 1 << 20, false)?,
        "pwrite-1m" => pwrite(&mut meter, file, false, 1 << 20, 1)?,
        "uring-nop" => nop(&mut meter)?,
        _ if name.starts_with("uring-") => uring(&mut meter, file, &name["uring-".len()..])?,
        "libaio" | "libaio-direct" => libaio(&mut meter, file, name.ends_with("direct"))?,
        _ => return Err(format!("unknown loop `{name}`").into()),
    };
    meter.print(ios);
    Ok(())
}

/// Measures wall and CPU time of a loop from its first I/O to its last.
struct Meter {
    span: u64,
    begun: u64,
    ended: u64,
    before: hakaru_sys::thread::Usage,
    after: hakaru_sys::thread::Usage,
}

impl Meter {
    fn new(span: u64) -> Meter {
        Meter {
            span,
            begun: 0,
            ended: 0,
            before: usage(),
            after: usage(),
        }
    }

    /// Calls `io` with 0, 1, 2, … until the time limit is reached.
    #[inline]
    fn run(&mut self, mut io: impl FnMut(u64) -> Result<(), Box<dyn Error>>) -> Outcome {
        self.begin();
        let mut count = 0;
        while !self.over() {
            for i in count..count + CHUNK {
                io(black_box(i))?;
            }
            count += CHUNK;
        }
        self.end();
        Ok(count)
    }

    fn begin(&mut self) {
        self.before = usage();
        self.begun = clock::monotonic_raw();
    }

    fn over(&self) -> bool {
        clock::monotonic_raw() - self.begun >= self.span
    }

    fn end(&mut self) {
        self.ended = clock::monotonic_raw();
        self.after = usage();
    }

    fn print(&self, ios: u64) {
        println!(
            "{{\"ios\":{ios},\"elapsed_ns\":{},\"user_ns\":{},\"system_ns\":{}}}",
            self.ended - self.begun,
            self.after.user_ns - self.before.user_ns,
            self.after.system_ns - self.before.system_ns
        );
    }
}

fn open(file: &str, direct: bool, write: bool) -> Result<(OwnedFd, u64), Box<dyn Error>> {
    let mut flags = OFlags::CLOEXEC | if write { OFlags::RDWR } else { OFlags::RDONLY };
    if direct {
        flags |= OFlags::DIRECT;
    }
    let fd = rustix::fs::open(file, flags, Mode::empty()).map_err(|e| format!("{file}: {e}"))?;
    let size = rustix::fs::seek(&fd, rustix::fs::SeekFrom::End(0))?;
    Ok((fd, size))
}

/// Offsets in issue order: a random permutation of the blocks, or sequential.
fn offsets(size: u64, block: u64, random: bool) -> Vec<u64> {
    let blocks = (size / block).max(1);
    let mut permutation = Permutation::new(blocks, Rng::new(1));
    (0..OFFSETS as u64).map(|i| if random { permutation.draw() } else { i % blocks } * block).collect()
}

fn pread(meter: &mut Meter, file: &str, direct: bool, block: u64, random: bool) -> Outcome {
    let (fd, size) = open(file, direct, false)?;
    let offsets = offsets(size, block, random);
    let mut buffer = AlignedBuffer::new(block as usize)?;
    meter.run(|i| {
        let moved = rustix::io::pread(&fd, buffer.as_mut_slice(), offsets[i as usize % OFFSETS])?;
        if moved == 0 {
            Err("read past the end".into())
        } else {
            Ok(())
        }
    })
}

/// Writes `contents` different blocks in turn: 4 KiB blocks at random offsets, larger ones sequentially.
fn pwrite(meter: &mut Meter, file: &str, direct: bool, block: u64, contents: u64) -> Outcome {
    let (fd, size) = open(file, direct, true)?;
    let offsets = offsets(size, block, block == 4096);
    let mut buffer = AlignedBuffer::new((block * contents) as usize)?;
    let mut rng = Rng::new(2);
    buffer
        .as_mut_slice()
        .chunks_exact_mut(8)
        .for_each(|w| w.copy_from_slice(&rng.next_u64().to_le_bytes()));
    let mut next = 0;
    meter.run(|i| {
        let content = &buffer.as_slice()[next..next + block as usize];
        next += block as usize;
        if next == buffer.as_slice().len() {
            next = 0;
        }
        rustix::io::pwrite(&fd, content, offsets[i as usize % OFFSETS])?;
        Ok(())
    })
}

/// Measures the bookkeeping of a result without any I/O: two timestamps, a histogram, and each block once.
fn recorded(meter: &mut Meter) -> Outcome {
    let mut histogram = Histogram::new();
    let mut permutation = Permutation::new(1 << 18, Rng::new(1));
    let count = meter.run(|_| {
        let start = clock::counter();
        black_box(permutation.draw());
        histogram.record(Nanos(clock::counter() - start));
        Ok(())
    })?;
    black_box(histogram.count());
    Ok(count)
}

/// `variant` is the depth, with `-single` if each call submits one I/O, and `-direct` for direct I/O.
///
/// Submits into free slots and reaps what has completed, and blocks for one completion only if there is none, as the
/// engine does.
fn uring(meter: &mut Meter, file: &str, variant: &str) -> Outcome {
    let mut words = variant.split('-');
    let depth: usize = words.next().unwrap_or_default().parse()?;
    let (mut single, mut direct) = (false, false);
    for word in words {
        match word {
            "single" => single = true,
            "direct" => direct = true,
            _ => return Err(format!("unknown loop `uring-{variant}`").into()),
        }
    }
    let (fd, size) = open(file, direct, false)?;
    let offsets = offsets(size, 4096, true);
    let options = RingOptions {
        fixed_buffers: !single,
        fixed_files: !single,
        ..RingOptions::default()
    };
    let mut ring = Ring::new(Slots::new(depth, 4096)?, vec![fd], options)?;
    let mut free: Vec<u32> = (0..depth as u32).collect();
    let (mut issued, mut count) = (0usize, 0u64);
    meter.begin();
    while !meter.over() {
        for _ in 0..CHUNK as usize / depth {
            for slot in free.drain(..) {
                ring.prepare(slot, 0, false, offsets[issued % OFFSETS], 4096);
                issued += 1;
                if single {
                    ring.submit(0)?;
                }
            }
            if !single {
                ring.submit(0)?;
            }
            let mut done = ring.reap(depth, |done| free.push(done.slot));
            while done == 0 {
                ring.submit(1)?;
                done = ring.reap(depth, |done| free.push(done.slot));
            }
            count += done as u64;
        }
    }
    meter.end();
    Ok(count)
}

/// A no-op completes during the call that submits it, so the loop never waits.
fn nop(meter: &mut Meter) -> Outcome {
    let mut ring = Ring::new(Slots::new(DEPTH, 8)?, Vec::new(), RingOptions::default())?;
    let mut free: [u32; DEPTH] = std::array::from_fn(|slot| slot as u32);
    let (mut idle, mut count) = (DEPTH, 0);
    meter.begin();
    while !meter.over() {
        for _ in 0..CHUNK as usize / DEPTH {
            ring.prepare_nops(free[..idle].iter().copied());
            ring.submit(0)?;
            let mut places = free.iter_mut();
            idle = ring.reap(DEPTH, |done| {
                if let Some(place) = places.next() {
                    *place = done.slot;
                }
            });
            count += idle as u64;
        }
    }
    meter.end();
    Ok(count)
}

fn libaio(meter: &mut Meter, file: &str, direct: bool) -> Outcome {
    let (fd, size) = open(file, direct, false)?;
    let offsets = offsets(size, 4096, true);
    let mut queue = AioQueue::new(Slots::new(DEPTH, 4096)?)?;
    let mut free: Vec<u32> = (0..DEPTH as u32).collect();
    let (mut issued, mut count) = (0usize, 0u64);
    meter.begin();
    while !meter.over() {
        for _ in 0..CHUNK as usize / DEPTH {
            for slot in free.drain(..) {
                queue.prepare(slot, &fd, false, offsets[issued % OFFSETS], 4096);
                issued += 1;
            }
            queue.submit(usize::MAX)?;
            count += queue.reap(1, DEPTH, None, |done| free.push(done.slot))? as u64;
        }
    }
    meter.end();
    Ok(count)
}
