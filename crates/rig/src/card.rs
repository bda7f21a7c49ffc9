//! A simulated card that stores data and takes real time for commands.
//!
//! The [`SimCard`] of the engine determines the cost of commands and the faults of the card; this module adds the data,
//! the wall clock, and the ledger of costs. The server handles the transport of requests.
//!
//! QEMU splits every command into consecutive requests of 512 bytes, so commands are recognized by their addresses: a
//! request that continues where the last one ended belongs to the same command. A sequential stream is therefore one
//! long command here and pays its overhead and seek once, whereas the engine's `sim` charges the overhead for every
//! block. For device models with zero overhead the two agree.

mod card_ledger;
mod command_log;
mod digest;

pub use card_ledger::{CardCommand, CardLedger, CommandTotals, Wait};

use command_log::CommandLog;
use hakaru_engine::sim::card::{Effect, Service, SimCard};
use hakaru_model::device_model::DeviceModel;
use hakaru_model::job::Op;
use hakaru_model::units::{Bytes, Nanos};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum gap between requests that counts as cost of the emulator instead of idle time of the card.
const ABSORBED: Nanos = Nanos::from_millis(3);

/// Maximum gap inside of a command: a request after a longer one is another command, and the card was idle.
const LATE: Nanos = Nanos::from_millis(50);

/// Error of a failed command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The address has an injected fault.
    #[error("the card fails at this place")]
    Fault,
    /// The range ends past the announced capacity.
    #[error("the range ends past the card")]
    OutOfRange,
    /// The backing file cannot be accessed, for example because the host is out of space.
    #[error("cannot use the backing file of the card: {0}")]
    Host(io::ErrorKind),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        Refused::Host(error.kind())
    }
}

/// A running card, shared by the server and the test that observes it.
#[derive(Debug)]
pub struct SimulatedCard {
    announced: Bytes,
    lies_about_flush: Option<Bytes>,
    absorbed: Nanos,
    /// Whether gaps between commands are absorbed, too.
    absorbs_between: bool,
    has_traced_commands: bool,
    file: File,
    /// Tells where commands begin; without it, a request that continues the last one belongs to the same command.
    commands: Mutex<Option<CommandLog>>,
    born: Instant,
    forward: AtomicU64,
    state: Mutex<CardState>,
}

#[derive(Debug)]
struct CardState {
    sim: SimCard,
    ledger: CardLedger,
    /// Previous data under the writes that a power cut would lose, oldest first; as long as the card's list of these
    /// writes.
    under: VecDeque<Vec<u8>>,
    volatile_bytes: u64,
    /// Whether the clock is advanced instead of waiting.
    hurries: bool,
}

impl SimulatedCard {
    /// Creates a card backed by an unnamed temporary file.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn new(model: DeviceModel, seed: u64) -> io::Result<SimulatedCard> {
        SimulatedCard::on(tempfile::tempfile()?, model, seed)
    }

    /// Creates a card backed by a named file, and keeps existing content.
    ///
    /// # Errors
    /// If the file cannot be opened or extended to the capacity of the card.
    pub fn at(path: &Path, model: DeviceModel, seed: u64) -> io::Result<SimulatedCard> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        SimulatedCard::on(file, model, seed)
    }

    fn on(file: File, model: DeviceModel, seed: u64) -> io::Result<SimulatedCard> {
        // The file is sparse, so a large card takes no space.
        file.set_len(model.capacity.0)?;
        let lies_about_flush = model.lost_flush;
        let state = CardState {
            sim: SimCard::new(per_command(model.clone()), seed).joining_requests(),
            ledger: CardLedger::default(),
            under: VecDeque::new(),
            volatile_bytes: 0,
            hurries: false,
        };
        let announced = model.announced();
        let (born, forward, state) = (Instant::now(), AtomicU64::new(0), Mutex::new(state));
        Ok(SimulatedCard {
            announced,
            lies_about_flush,
            absorbed: ABSORBED,
            absorbs_between: true,
            has_traced_commands: false,
            file,
            commands: Mutex::new(None),
            born,
            forward,
            state,
        })
    }

    /// Sets the maximum gap to absorb; a host under load needs more than the default of 3 ms.
    pub fn absorbing(mut self, gap: Nanos) -> SimulatedCard {
        self.absorbed = gap;
        self
    }

    /// Counts each gap between two commands as idle time, so that the guest waits for a command as long as the ledger
    /// charges for it. Gaps inside of a command are absorbed up to this length.
    pub fn absorbing_inside(mut self, gap: Nanos) -> SimulatedCard {
        (self.absorbed, self.absorbs_between) = (gap, false);
        self
    }

    /// Takes the pipe to which QEMU writes its trace of commands. Gaps inside of a command are then absorbed up to 50 ms, and
    /// a command that continues the last one is another.
    pub(crate) fn follow_commands(&self, pipe: File) {
        *self.commands.lock().unwrap_or_else(PoisonError::into_inner) = Some(CommandLog::new(pipe));
    }

    /// Takes where commands begin from QEMU, if it is the only card of a PC guest.
    pub fn with_traced_commands(mut self) -> SimulatedCard {
        self.has_traced_commands = true;
        self
    }

    pub(crate) fn has_traced_commands(&self) -> bool {
        self.has_traced_commands
    }

    /// Announced capacity.
    pub fn announced(&self) -> Bytes {
        self.announced
    }

    /// Sets whether the clock is advanced instead of waiting, without ledger entries.
    ///
    /// Used to create file systems and files without waiting; the card's clock still advances.
    pub fn hurry(&self, hurries: bool) {
        self.lock().hurries = hurries;
    }

    /// The costs charged so far.
    pub fn ledger(&self) -> CardLedger {
        self.lock().ledger.clone()
    }

    /// Starts a new ledger and returns the previous one.
    pub fn take_ledger(&self) -> CardLedger {
        std::mem::take(&mut self.lock().ledger)
    }

    /// Reads data, and returns when a real card would have answered.
    ///
    /// # Errors
    /// For faults in the device model, and past the end.
    pub fn read(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Refused> {
        self.check(offset, buffer.len())?;
        let Service { done_at, effect } = self.charge(Op::Read, offset, buffer.len() as u64);
        self.load(offset, buffer)?;
        self.wait_until(done_at);
        if effect == Effect::Failed {
            Err(Refused::Fault)
        } else {
            Ok(())
        }
    }

    /// Writes data, and returns when a real card would have answered.
    ///
    /// # Errors
    /// For faults in the device model, and past the end.
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        self.check(offset, data.len())?;
        let Service { done_at, effect } = self.charge(Op::Write, offset, data.len() as u64);
        if effect == Effect::Done {
            self.remember(offset, data.len())?;
            self.save(offset, data)?;
        }
        self.wait_until(done_at);
        if effect == Effect::Failed {
            Err(Refused::Fault)
        } else {
            Ok(())
        }
    }

    /// Erases a range; it reads as zeros afterwards.
    ///
    /// # Errors
    /// Past the end.
    pub fn trim(&self, offset: u64, len: u64) -> Result<(), Refused> {
        self.check(offset, usize::try_from(len).unwrap_or(usize::MAX))?;
        let done_at = self.charge(Op::Trim, offset, len).done_at;
        let zeroes = vec![0; len.min(1 << 20) as usize];
        let mut at = 0;
        while at < len {
            let now = (len - at).min(zeroes.len() as u64);
            self.save(offset + at, &zeroes[..now as usize])?;
            at += now;
        }
        self.wait_until(done_at);
        Ok(())
    }

    /// Takes as long as a flush. A card that ignores flushes still has the same unsafe data afterwards.
    pub fn flush(&self) {
        let mut state = self.lock();
        let arrival = self.arrival(&state, false);
        let done_at = state.sim.flush(arrival).done_at;
        if state.hurries {
            return self.put_forward(done_at);
        }
        state.ledger.flushes += 1;
        state.ledger.flush_busy.0 += done_at.0 - arrival.0;
        drop(state);
        self.wait_until(done_at);
    }

    /// Simulates a power cut: data that a card with ignored flushes had not stored is lost.
    ///
    /// Returns the number of bytes lost.
    ///
    /// # Errors
    /// If the backing file cannot be written.
    pub fn power_cut(&self) -> Result<Bytes, Refused> {
        let mut state = self.lock();
        let lost = state.sim.power_cut();
        let under = std::mem::take(&mut state.under);
        state.volatile_bytes = 0;
        drop(state);
        // Newest first, so that the oldest content is restored where writes overlap.
        for ((offset, _), old) in lost.iter().zip(under.into_iter().rev()) {
            self.save(*offset, &old)?;
        }
        Ok(Bytes(lost.iter().map(|(_, len)| len).sum()))
    }

    /// Reads data without cost.
    ///
    /// # Errors
    /// Past the end, and if the backing file cannot be read.
    pub fn peek(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Refused> {
        self.check(offset, buffer.len())?;
        self.load(offset, buffer)
    }

    /// Writes data without cost.
    ///
    /// # Errors
    /// Past the end, and if the backing file cannot be written.
    pub fn poke(&self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        self.check(offset, data.len())?;
        self.save(offset, data)
    }

    /// Copies a host file onto the card without cost, skipping holes.
    ///
    /// # Errors
    /// If the file cannot be read, or extends past the end of the card.
    pub fn lay(&self, offset: u64, file: &Path) -> Result<(), Refused> {
        let file = File::open(file)?;
        let mut buffer = vec![0; 1 << 20];
        let mut at = 0;
        loop {
            let count = file.read_at(&mut buffer, at)?;
            if count == 0 {
                return Ok(());
            }
            if buffer[..count].iter().any(|&byte| byte != 0) {
                self.poke(offset + at, &buffer[..count])?;
            }
            at += count as u64;
        }
    }

    fn lock(&self) -> MutexGuard<'_, CardState> {
        // A panic in a server thread leaves the state consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, offset: u64, len: usize) -> Result<(), Refused> {
        let end = offset.checked_add(len as u64);
        if end.is_some_and(|end| end <= self.announced.0) {
            Ok(())
        } else {
            Err(Refused::OutOfRange)
        }
    }

    fn charge(&self, op: Op, offset: u64, len: u64) -> Service {
        let mut state = self.lock();
        let free_at = state.sim.free_at();
        let continues = state.ledger.is_continued_by(op, offset);
        let arrival = match self.is_inside() {
            Some(true) if self.now().0 <= free_at.0 + LATE.0 => self.now().min(free_at),
            Some(_) => self.now(),
            None => self.arrival(&state, continues),
        };
        if continues && arrival.0.saturating_sub(free_at.0) <= LATE.0 {
            state.sim.stays_busy_until(arrival);
        }
        let service = state.sim.serve(arrival, op, offset, len);
        if state.hurries {
            self.put_forward(service.done_at);
            return service;
        }
        let idle = Nanos(arrival.0.saturating_sub(free_at.0));
        let begun_at = arrival.max(free_at);
        let request = CardCommand {
            op,
            offset: Bytes(offset),
            len: Bytes(len),
            begun_at,
            busy: Nanos(service.done_at.0.saturating_sub(begun_at.0)),
            ended_at: service.done_at,
        };
        state.ledger.note(request, idle);
        service
    }

    /// Whether the current request belongs to the last command; `None` if only its address can tell.
    fn is_inside(&self) -> Option<bool> {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        commands.as_mut().map(|log| !log.has_begun())
    }

    /// The arrival time of the current request. Short gaps count as no idle time, because the emulator causes them.
    fn arrival(&self, state: &CardState, continues: bool) -> Nanos {
        let (now, free_at) = (self.now(), state.sim.free_at());
        let absorbs = continues || self.absorbs_between;
        if absorbs && now > free_at && now.0 - free_at.0 <= self.absorbed.0 {
            free_at
        } else {
            now
        }
    }

    /// Returns the card's clock: the time since its creation plus skipped time.
    fn now(&self) -> Nanos {
        Nanos(self.born.elapsed().as_nanos() as u64 + self.forward.load(Ordering::Relaxed))
    }

    fn put_forward(&self, to: Nanos) {
        self.forward
            .fetch_add(to.0.saturating_sub(self.now().0), Ordering::Relaxed);
    }

    fn wait_until(&self, moment: Nanos) {
        let now = self.now();
        if moment > now {
            std::thread::sleep(Duration::from_nanos(moment.0 - now.0));
        }
    }

    /// Keeps the previous data under a write that a power cut would lose, as long as the card keeps the write in its
    /// list.
    fn remember(&self, offset: u64, len: usize) -> Result<(), Refused> {
        let Some(limit) = self.lies_about_flush else {
            return Ok(());
        };
        let mut old = vec![0; len];
        self.load(offset, &mut old)?;
        let mut state = self.lock();
        state.under.push_back(old);
        state.volatile_bytes += len as u64;
        while state.volatile_bytes > limit.0 {
            let Some(gone) = state.under.pop_front() else {
                break;
            };
            state.volatile_bytes -= gone.len() as u64;
        }
        Ok(())
    }

    /// Reads the data, from the real location if addresses wrap.
    fn load(&self, offset: u64, buffer: &mut [u8]) -> Result<(), Refused> {
        let mut done = 0;
        for (at, len) in self.places(offset, buffer.len()) {
            let part = &mut buffer[done..done + len];
            self.file.read_exact_at(part, at)?;
            done += len;
        }
        Ok(())
    }

    /// Writes the data, to the real location if addresses wrap.
    fn save(&self, offset: u64, data: &[u8]) -> Result<(), Refused> {
        let mut done = 0;
        for (at, len) in self.places(offset, data.len()) {
            let part = &data[done..done + len];
            self.file.write_all_at(part, at)?;
            done += len;
        }
        Ok(())
    }

    /// Returns the file ranges of an address range: several if a fake card wraps.
    fn places(&self, offset: u64, len: usize) -> Vec<(u64, usize)> {
        let (place, capacity) = {
            let state = self.lock();
            (state.sim.place(offset), state.sim.model().capacity.0)
        };
        let (mut at, mut left, mut pieces) = (place, len, Vec::new());
        while left > 0 && capacity > 0 {
            let now = left.min(usize::try_from(capacity - at).unwrap_or(usize::MAX));
            pieces.push((at, now));
            left -= now;
            at = 0;
        }
        pieces
    }
}

/// The device model as charged here: a command pays overhead and seek once, however many requests it consists of.
fn per_command(model: DeviceModel) -> DeviceModel {
    let mut model = model;
    model.read_seek.0 += std::mem::take(&mut model.read_overhead.0);
    model.write_seek.0 += std::mem::take(&mut model.write_overhead.0);
    model
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::device_model::{Fault, FaultKind};

    /// A card without costs, for tests of its content.
    fn free(change: impl FnOnce(&mut DeviceModel)) -> SimulatedCard {
        let mut model = DeviceModel::plain("t", Bytes(1 << 20));
        (model.read_rate, model.write_rate) = (0, 0);
        for cost in [
            &mut model.read_overhead,
            &mut model.write_overhead,
            &mut model.read_seek,
            &mut model.write_seek,
            &mut model.flush,
        ] {
            *cost = Nanos(0);
        }
        change(&mut model);
        SimulatedCard::new(model, 1).expect("a temporary file")
    }

    fn byte_at(card: &SimulatedCard, offset: u64) -> u8 {
        let mut sector = [0; 512];
        card.read(offset, &mut sector).expect("it reads");
        assert!(
            sector.iter().all(|&b| b == sector[0]),
            "a sector is written whole"
        );
        sector[0]
    }

    #[test]
    fn it_keeps_what_is_written() {
        let card = free(|_| {});
        card.write(512, &[7; 512]).expect("it writes");
        assert_eq!(
            (byte_at(&card, 0), byte_at(&card, 512), byte_at(&card, 1024)),
            (0, 7, 0)
        );
        card.trim(0, 1 << 20).expect("it erases");
        assert_eq!(byte_at(&card, 512), 0);
        assert_eq!(card.write(1 << 20, &[1; 512]), Err(Refused::OutOfRange));
        assert_eq!(card.read(u64::MAX, &mut [0; 512]), Err(Refused::OutOfRange));
    }

    #[test]
    fn a_counterfeit_begins_again() {
        let card = free(|p| p.claimed_capacity = Some(Bytes(4 << 20)));
        assert_eq!(card.announced(), Bytes(4 << 20));
        card.write((1 << 20) + 512, &[9; 512]).expect("it writes");
        assert_eq!(byte_at(&card, 512), 9);
        card.write((1 << 20) - 512, &[5; 1024])
            .expect("it writes across the border");
        assert_eq!((byte_at(&card, (1 << 20) - 512), byte_at(&card, 0)), (5, 5));
    }

    #[test]
    fn faults_drop_or_fail() {
        let card = free(|p| {
            p.faults = vec![
                Fault {
                    offset: Bytes(0),
                    len: Bytes(512),
                    kind: FaultKind::DropsWrites,
                },
                Fault {
                    offset: Bytes(512),
                    len: Bytes(512),
                    kind: FaultKind::WriteError,
                },
                Fault {
                    offset: Bytes(1024),
                    len: Bytes(512),
                    kind: FaultKind::ReadError,
                },
            ];
        });
        assert_eq!(card.write(0, &[1; 512]), Ok(()));
        assert_eq!(card.write(512, &[1; 512]), Err(Refused::Fault));
        assert_eq!(card.read(1024, &mut [0; 512]), Err(Refused::Fault));
        assert_eq!((byte_at(&card, 0), byte_at(&card, 512)), (0, 0));
    }

    #[test]
    fn a_lying_flush_loses_the_newest_writes() {
        let card = free(|p| p.lost_flush = Some(Bytes(1024)));
        for (place, byte) in [(0, 1), (512, 2), (0, 3), (0, 4)] {
            card.write(place, &[byte; 512]).expect("it writes");
        }
        card.flush();
        assert_eq!(card.power_cut(), Ok(Bytes(1024)));
        assert_eq!((byte_at(&card, 0), byte_at(&card, 512)), (1, 2));
        assert_eq!(card.power_cut(), Ok(Bytes(0)));
    }

    #[test]
    fn a_run_of_requests_is_one_command() {
        let card = free(|p| {
            p.write_rate = 1_000_000_000;
            p.write_overhead = Nanos(100_000);
            p.write_seek = Nanos(400_000);
        })
        .absorbing(Nanos::SECOND);
        for sector in 0..8 {
            card.write(sector * 512, &[1; 512]).expect("it writes");
        }
        card.write(1 << 19, &[1; 512]).expect("it writes");
        let ledger = card.ledger();
        let side = ledger.of(Op::Write);
        assert_eq!(
            (side.commands, side.bytes, side.busy),
            (2, Bytes(9 * 512), Nanos(2 * 500_000 + 9 * 512))
        );
        assert_eq!(
            ledger.commands[0],
            CardCommand {
                len: Bytes(4096),
                ..ledger.commands[0]
            }
        );
    }

    #[test]
    fn a_card_in_a_hurry_ages_but_does_not_wait() {
        let card = free(|p| p.write_seek = Nanos::from_secs(1000));
        let begun = Instant::now();
        card.hurry(true);
        for place in [0, 4096, 8192] {
            card.write(place, &[1; 512]).expect("it writes");
        }
        card.flush();
        card.hurry(false);
        assert_eq!(byte_at(&card, 4096), 1);
        assert!(
            begun.elapsed() < Duration::from_secs(1000) && card.now() >= Nanos::from_secs(3000)
        );
        assert_eq!(
            (
                card.ledger().of(Op::Write).commands,
                card.ledger().of(Op::Read).commands
            ),
            (0, 1)
        );
    }

    #[test]
    fn what_is_charged_is_waited_for_but_short_gaps_are_not() {
        let card = free(|p| p.read_seek = Nanos::from_millis(2)).absorbing(Nanos::SECOND);
        let begun = Instant::now();
        for i in 0..10 {
            byte_at(&card, (i % 2) * 4096);
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(begun.elapsed() >= Duration::from_millis(20));
        assert_eq!(card.ledger().busy(), Nanos::from_millis(20));
        assert!(card.ledger().idle < Nanos::SECOND);
    }

    #[test]
    fn every_command_lasts_as_long_as_it_is_charged_without_absorbed_gaps() {
        let model = |p: &mut DeviceModel| p.read_seek = Nanos::from_millis(2);
        let card = free(model).absorbing_inside(Nanos::SECOND);
        for place in [0, 4096, 4608] {
            let begun = Instant::now();
            byte_at(&card, place);
            let seeks = place != 4608;
            assert!(!seeks || begun.elapsed() >= Duration::from_millis(2));
            std::thread::sleep(Duration::from_millis(1));
        }
        let ledger = card.ledger();
        assert_eq!(ledger.of(Op::Read).commands, 2);
        // Only the gap before the second command.
        assert_eq!(ledger.waits.len(), 1);
        assert!(ledger.idle >= Nanos::from_millis(1));
    }
}
