//! Tests with a byte-level client written from the protocol document, without the server's own code.

use super::Server;
use crate::card::SimulatedCard;
use hakaru_model::device_model::{DeviceModel, Fault, FaultKind};
use hakaru_model::units::{Bytes, Nanos};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

const GO: u32 = 7;

struct NbdFixture {
    card: Arc<SimulatedCard>,
    server: Server,
    _folder: tempfile::TempDir,
}

fn fixture(change: impl FnOnce(&mut DeviceModel)) -> NbdFixture {
    let mut model = DeviceModel::plain("t", Bytes(1 << 20));
    (model.read_rate, model.write_rate) = (0, 0);
    (model.read_overhead, model.write_overhead, model.flush) = (Nanos(0), Nanos(0), Nanos(0));
    (model.read_seek, model.write_seek) = (Nanos(0), Nanos(0));
    change(&mut model);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let card = Arc::new(SimulatedCard::new(model, 1).expect("a card"));
    let server = Server::start(Arc::clone(&card), &dir.path().join("s")).expect("a socket");
    NbdFixture {
        card,
        server,
        _folder: dir,
    }
}

struct Client(UnixStream);

impl Client {
    /// Connects, and receives the greeting.
    fn meet(fixture: &NbdFixture) -> Client {
        let stream = UnixStream::connect(fixture.server.socket()).expect("the server listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a socket has a timeout");
        let mut client = Client(stream);
        assert_eq!(client.take(18), b"NBDMAGICIHAVEOPT\0\x03");
        client.0.write_all(&3u32.to_be_bytes()).expect("it listens");
        client
    }

    /// Connects, and negotiates up to the transmission phase.
    fn at(fixture: &NbdFixture) -> Client {
        let mut client = Client::meet(fixture);
        client.option(GO, b"\0\0\0\0\0\0");
        let (kind, info) = client.answer(GO);
        assert_eq!((kind, info.len()), (3, 12));
        assert_eq!(client.answer(GO), (1, vec![]));
        client
    }

    fn take(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.read_exact(&mut bytes).expect("the server answers");
        bytes
    }

    fn take_u32(&mut self) -> u32 {
        u32::from_be_bytes(self.take(4).try_into().expect("four bytes"))
    }

    fn option(&mut self, option: u32, data: &[u8]) {
        let mut message = b"IHAVEOPT".to_vec();
        message.extend(option.to_be_bytes());
        message.extend((data.len() as u32).to_be_bytes());
        message.extend(data);
        self.0.write_all(&message).expect("it listens");
    }

    fn answer(&mut self, option: u32) -> (u32, Vec<u8>) {
        assert_eq!(self.take(8), 0x0003_e889_0455_65a9_u64.to_be_bytes());
        assert_eq!(self.take_u32(), option);
        let kind = self.take_u32();
        let len = self.take_u32();
        (kind, self.take(len as usize))
    }

    /// Sends a request, and returns the error code and, for successful reads, the data.
    fn ask(&mut self, kind: u16, offset: u64, len: u32, data: &[u8]) -> (u32, Vec<u8>) {
        let mut message = 0x2560_9513_u32.to_be_bytes().to_vec();
        message.extend(0u16.to_be_bytes());
        message.extend(kind.to_be_bytes());
        message.extend(*b"cookie!!");
        message.extend(offset.to_be_bytes());
        message.extend(len.to_be_bytes());
        message.extend(data);
        self.0.write_all(&message).expect("it listens");
        assert_eq!(self.take_u32(), 0x6744_6698);
        let error = self.take_u32();
        assert_eq!(self.take(8), b"cookie!!");
        let read = if kind == 0 && error == 0 {
            self.take(len as usize)
        } else {
            Vec::new()
        };
        (error, read)
    }

    fn read(&mut self, offset: u64, len: u32) -> (u32, Vec<u8>) {
        self.ask(0, offset, len, &[])
    }

    fn write(&mut self, offset: u64, data: &[u8]) -> u32 {
        self.ask(1, offset, data.len() as u32, data).0
    }
}

#[test]
fn the_export_is_as_big_as_the_card_says() {
    let fixture = fixture(|p| p.claimed_capacity = Some(Bytes(1 << 30)));
    let mut client = Client::meet(&fixture);
    client.option(6, b"\0\0\0\x04name\0\x01\0\x03");
    let (kind, info) = client.answer(6);
    assert_eq!((kind, &info[..10]), (3, &b"\0\0\0\0\0\0\x40\0\0\0"[..]));
    assert_eq!(client.answer(6), (1, vec![]));
    // The old handshake, where the only reply is the export.
    client.option(1, b"");
    assert_eq!(&client.take(10)[..8], (1u64 << 30).to_be_bytes());
    assert_eq!(client.read(1 << 29, 512).0, 0);
}

#[test]
fn options_are_listed_refused_and_ended() {
    let fixture = fixture(|_| {});
    let mut client = Client::meet(&fixture);
    client.option(8, b"");
    assert_eq!(
        client.answer(8).0,
        0x8000_0001,
        "structured replies are not spoken"
    );
    client.option(GO, b"\0\0\0\x09name");
    assert_eq!(client.answer(GO).0, 0x8000_0003, "a name that is cut off");
    client.option(3, b"");
    assert_eq!((client.answer(3).0, client.answer(3).0), (2, 1));
    client.option(2, b"");
    assert_eq!(client.answer(2).0, 1);
    assert_eq!(client.0.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn bytes_come_back_also_after_a_new_connection() {
    let fixture = fixture(|_| {});
    let mut client = Client::at(&fixture);
    assert_eq!(client.write(4096, &[7; 1024]), 0);
    assert_eq!(client.ask(3, 0, 0, &[]).0, 0);
    assert_eq!(client.read(4608, 1024), (0, [[7; 512], [0; 512]].concat()));
    drop(client);
    let mut client = Client::at(&fixture);
    assert_eq!(client.read(4096, 512), (0, vec![7; 512]));
    assert_eq!(client.ask(4, 4096, 512, &[]).0, 0);
    assert_eq!(client.read(4096, 512), (0, vec![0; 512]));
}

#[test]
fn errors_travel_and_the_connection_stays() {
    let fixture = fixture(|p| {
        p.faults = vec![Fault {
            offset: Bytes(0),
            len: Bytes(512),
            kind: FaultKind::ReadError,
        }];
    });
    let mut client = Client::at(&fixture);
    assert_eq!(client.read(0, 512).0, 5);
    assert_eq!(client.read(1 << 20, 512).0, 22);
    assert_eq!(client.write((1 << 20) - 256, &[1; 512]), 28);
    assert_eq!(client.ask(99, 0, 0, &[]).0, 22);
    assert_eq!(client.read(512, 512).0, 0);
}

#[test]
fn nonsense_ends_the_connection_only() {
    let fixture = fixture(|_| {});
    let mut client = Client::at(&fixture);
    client.0.write_all(&[0xff; 28]).expect("it listens");
    assert_eq!(client.0.read(&mut [0]).expect("the end"), 0);
    let mut client = Client::at(&fixture);
    assert_eq!(client.read(0, 33 << 20).0, 22, "too long to be true");
    assert_eq!(Client::at(&fixture).read(0, 512).0, 0);
}

#[test]
fn commands_are_recognized_by_their_addresses() {
    let fixture = fixture(|p| {
        p.write_seek = Nanos(1_000_000);
        p.write_rate = 512_000_000;
    });
    let mut client = Client::at(&fixture);
    for sector in [0, 1, 2, 3, 100, 101, 50] {
        assert_eq!(client.write(sector * 512, &[1; 512]), 0);
    }
    let ledger = fixture.card.ledger();
    let commands: Vec<_> = ledger
        .commands
        .iter()
        .map(|c| (c.offset.0 / 512, c.len.0 / 512, c.busy.0))
        .collect();
    assert_eq!(
        commands,
        [(0, 4, 1_004_000), (100, 2, 1_002_000), (50, 1, 1_001_000)]
    );
}

#[test]
fn dropping_the_server_cuts_its_clients_off() {
    let NbdFixture {
        card,
        server,
        _folder,
    } = fixture(|p| p.lost_flush = Some(Bytes(512)));
    let path = server.socket().to_owned();
    let fixture = NbdFixture {
        card,
        server,
        _folder,
    };
    let mut client = Client::at(&fixture);
    assert_eq!(
        (client.write(0, &[1; 512]), client.write(512, &[2; 512])),
        (0, 0)
    );
    let NbdFixture {
        card,
        server,
        _folder,
    } = fixture;
    drop(server);
    assert!(!path.exists());
    assert_eq!(client.0.read(&mut [0]).expect("the end"), 0);
    assert_eq!(card.power_cut(), Ok(Bytes(512)));
    let mut two = [0; 1024];
    card.peek(0, &mut two).expect("it is there");
    assert_eq!((two[0], two[512]), (1, 0));
}
