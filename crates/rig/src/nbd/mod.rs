//! Serves a card over NBD on a Unix socket as a disk for QEMU.
//!
//! Requests of a client are served in order, as a card executes its commands. The card determines their cost; `wire`
//! implements the protocol.

mod wire;

use crate::card::{Refused, SimulatedCard};
use std::io::{self, BufReader, Read};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use wire::NbdRequest;

/// Maximum length of a request.
const REQUEST_MAX: u32 = 32 << 20;

/// A running server. Dropping it closes all connections and waits for the current request.
#[derive(Debug)]
pub(crate) struct Server {
    socket: PathBuf,
    shared: Arc<ServerShared>,
    listener: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct ServerShared {
    card: Arc<SimulatedCard>,
    ending: AtomicBool,
    /// All connections so far, with the threads that serve them.
    connections: Mutex<Vec<(UnixStream, JoinHandle<()>)>>,
}

impl Server {
    /// Serves a card on a new socket.
    ///
    /// # Errors
    /// If the socket cannot be created; a path over about 100 bytes is too long.
    pub(crate) fn start(card: Arc<SimulatedCard>, socket: &Path) -> io::Result<Server> {
        let listener = UnixListener::bind(socket)?;
        let shared = Arc::new(ServerShared {
            card,
            ending: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let for_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("nbd".to_owned())
            .spawn(move || accept(&listener, &for_thread))?;
        Ok(Server {
            socket: socket.to_owned(),
            shared,
            listener: Some(thread),
        })
    }

    /// Path of the socket.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::SeqCst);
        // This connection wakes the listener.
        let awake = UnixStream::connect(&self.socket).is_ok();
        if let Some(thread) = self.listener.take()
            && awake
        {
            // The thread should never panic; if it did, the connections must still be closed.
            let _ = thread.join();
        }
        for (stream, thread) in self.shared.lock().drain(..) {
            // The client may have closed it already.
            let _ = stream.shutdown(Shutdown::Both);
            let _ = thread.join();
        }
        // Another process may have removed the socket already.
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl ServerShared {
    fn lock(&self) -> MutexGuard<'_, Vec<(UnixStream, JoinHandle<()>)>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn accept(listener: &UnixListener, shared: &ServerShared) {
    for stream in listener.incoming() {
        if shared.ending.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { return };
        let card = Arc::clone(&shared.card);
        let Ok(handle) = stream.try_clone() else {
            continue;
        };
        let serving = std::thread::Builder::new()
            .name("nbd card".to_owned())
            .spawn(move || {
                // After a disconnect or an invalid request, only this connection is closed.
                let _ = serve(&stream, &card);
                // The server's own handle would keep it open.
                let _ = stream.shutdown(Shutdown::Both);
            });
        if let Ok(thread) = serving {
            shared.lock().push((handle, thread));
        }
    }
}

fn serve(stream: &UnixStream, card: &SimulatedCard) -> io::Result<()> {
    let mut stream = stream;
    if !wire::negotiate(&mut stream, card.announced().0)? {
        return Ok(());
    }
    let mut requests = BufReader::with_capacity(64 << 10, stream.try_clone()?);
    let mut data = Vec::new();
    loop {
        let request = NbdRequest::read_from(&mut requests)?;
        if request.kind == wire::CMD_DISCONNECT {
            return Ok(());
        }
        if request.len > REQUEST_MAX && request.kind != wire::CMD_TRIM {
            // Skipping its data would require trusting its length.
            return wire::reply(&mut stream, request.cookie, wire::EINVAL, &[]);
        }
        let carries = matches!(request.kind, wire::CMD_READ | wire::CMD_WRITE);
        data.resize(if carries { request.len as usize } else { 0 }, 0);
        if request.kind == wire::CMD_WRITE {
            requests.read_exact(&mut data)?;
        }
        let error = carry_out(card, &request, &mut data);
        let answer = if request.kind == wire::CMD_READ && error == 0 {
            data.as_slice()
        } else {
            &[]
        };
        wire::reply(&mut stream, request.cookie, error, answer)?;
    }
}

/// Executes a request on the card; returns the NBD error code, or 0.
fn carry_out(card: &SimulatedCard, request: &NbdRequest, data: &mut [u8]) -> u32 {
    let NbdRequest {
        flags,
        kind,
        offset,
        len,
        ..
    } = *request;
    let result = match kind {
        wire::CMD_READ => card.read(offset, data),
        wire::CMD_WRITE => card.write(offset, data),
        wire::CMD_TRIM => card.trim(offset, u64::from(len)),
        wire::CMD_FLUSH => {
            card.flush();
            Ok(())
        }
        _ => return wire::EINVAL,
    };
    if result.is_ok() && flags & wire::FLAG_FUA != 0 {
        card.flush();
    }
    match result {
        Ok(()) => 0,
        Err(Refused::OutOfRange) if kind == wire::CMD_WRITE => wire::ENOSPC,
        Err(Refused::OutOfRange) => wire::EINVAL,
        Err(Refused::Fault | Refused::Host(_)) => wire::EIO,
    }
}

#[cfg(test)]
mod tests;
