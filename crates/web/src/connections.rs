//! Connections of clients: how many, and how long they may wait before a request.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tower_service::Service;

/// Maximum number of connections. Further ones wait until one ends; most systems permit 1,024 open files.
pub(crate) const MOST_CONNECTIONS: usize = 512;
/// Longest time from the start of a connection, or from the last response, until the head of a request is complete.
pub(crate) const LONGEST_HEAD: Duration = Duration::from_secs(10);
/// Longest time that a client may leave sent data without acknowledging it, or its receive window closed, in
/// milliseconds. Without a limit, clients that do not read would keep their responses in memory.
const LONGEST_UNREAD_MS: u32 = 30_000;
/// Maximum size of the head of a request, in bytes.
const LARGEST_HEAD: usize = 32 << 10;
/// Maximum number of lines of the head of a request.
const MOST_HEADERS: usize = 64;
/// Wait after an error of the system, such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Address of the client of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Serves connections without end.
pub(crate) async fn accept(listener: TcpListener, router: Router) {
    let free = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let silent = SilentConnections::default();
    loop {
        let Ok((stream, address)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        if free.available_permits() == 0 {
            silent.close_oldest();
        }
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else {
            return;
        };
        let router = router.clone();
        let silent = silent.add();
        tokio::spawn(async move {
            serve_one(stream, address, router, silent).await;
            drop(permit);
        });
    }
}

/// Serves the requests of a connection. Its errors concern the client only, which sees the end of the connection.
async fn serve_one(
    stream: TcpStream,
    address: SocketAddr,
    router: Router,
    silent: SilentConnection,
) {
    // Events are small and wanted at once; the delay of a failed option is harmless.
    let _ = stream.set_nodelay(true);
    // Ignored: Linux has the option since 2.6.37.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(&stream, LONGEST_UNREAD_MS);
    let closed = Arc::clone(&silent.closed);
    let silent = Mutex::new(Some(silent));
    let service = service_fn(move |mut request: Request<Incoming>| {
        locked(&silent).take();
        request.extensions_mut().insert(Peer(address));
        let mut router = router.clone();
        async move { router.call(request.map(Body::new)).await }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        _ = served => {}
        () = closed.notified() => {}
    }
}

/// Connections on which no request has arrived, oldest first. When all connections are in use, the oldest of them gives
/// way to the next client, so that clients that send nothing do not keep others out.
#[derive(Clone, Default)]
struct SilentConnections(Arc<Mutex<SilentQueue>>);

#[derive(Default)]
struct SilentQueue {
    next: u64,
    all: VecDeque<(u64, Arc<Notify>)>,
}

/// A connection until its first request.
struct SilentConnection {
    number: u64,
    closed: Arc<Notify>,
    queue: SilentConnections,
}

impl SilentConnections {
    fn add(&self) -> SilentConnection {
        let mut queue = locked(&self.0);
        let (number, closed) = (queue.next, Arc::new(Notify::new()));
        queue.next += 1;
        queue.all.push_back((number, Arc::clone(&closed)));
        SilentConnection {
            number,
            closed,
            queue: self.clone(),
        }
    }

    fn close_oldest(&self) {
        if let Some((_, closed)) = locked(&self.0).all.pop_front() {
            closed.notify_one();
        }
    }
}

impl Drop for SilentConnection {
    fn drop(&mut self) {
        let mut queue = locked(&self.queue.0);
        queue.all.retain(|(number, _)| *number != self.number);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
