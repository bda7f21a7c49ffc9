//! Connections of clients: how many, and how long they may wait before a request.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower_service::Service;

/// Maximum number of connections. Further ones wait until one ends; most systems permit 1,024 open files.
pub(crate) const MOST_CONNECTIONS: usize = 512;
/// Longest time from the start of a connection, or from the last response, until the head of a request is complete.
pub(crate) const LONGEST_HEAD: Duration = Duration::from_secs(10);
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
    loop {
        let Ok(permit) = Arc::clone(&free).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, address)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    serve_one(stream, address, router).await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Serves the requests of a connection. Its errors concern the client only, which sees the end of the connection.
async fn serve_one(stream: TcpStream, address: SocketAddr, router: Router) {
    // Events are small and wanted at once; the delay of a failed option is harmless.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(address));
        let mut router = router.clone();
        async move { router.call(request.map(Body::new)).await }
    });
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(LONGEST_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
