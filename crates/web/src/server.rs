//! The server: one thread for the network, and a few workers that read the database and render pages.

use crate::access::{Guesses, guard};
use crate::connections;
use crate::context::{AppState, ServeOptions, WebState};
use crate::live::LiveHub;
use crate::pages;
use crate::token::TokenFile;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// Number of threads that read the database and render pages. Each has a connection with a cache and memory that the
/// allocator keeps for it; a second one answers while the first waits for a device.
const WORKERS: usize = 2;
/// Time after which an idle worker ends, and closes its connection to the database.
const IDLE: Duration = Duration::from_secs(10);
/// Maximum size of the body of a request, in bytes. The largest form has a few lines.
const LARGEST_BODY: usize = 64 << 10;

/// The server has begun to listen.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// The address with the port that is in use.
    pub address: SocketAddr,
}

fn router(state: &AppState) -> Router {
    Router::new()
        .merge(pages::routes())
        .merge(crate::live::routes())
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(state), guard))
        .with_state(Arc::clone(state))
}

/// Serves until SIGINT or SIGTERM; calls `started` as soon as clients can connect.
///
/// # Errors
/// If the address cannot be used, or the system refuses threads or signals.
pub fn serve(
    options: ServeOptions,
    token: TokenFile,
    host: String,
    started: impl FnOnce(Started) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(WORKERS)
        .thread_keep_alive(IDLE)
        .build()?;
    let listen = options.listen;
    let state = Arc::new(WebState {
        live: LiveHub::begin(&options),
        options,
        token,
        guesses: Guesses::default(),
        cache: Mutex::default(),
        building: Mutex::default(),
        host,
    });
    runtime.block_on(async {
        let (mut interrupt, mut terminate) = (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        );
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|error| cannot_listen(listen, error))?;
        started(Started {
            address: listener.local_addr()?,
        })?;
        tokio::select! {
            () = connections::accept(listener, router(&state)) => {}
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        Ok(())
    })
}

fn cannot_listen(listen: SocketAddr, error: std::io::Error) -> anyhow::Error {
    let what = both!(
        "cannot listen on {listen}; help: choose another address with --listen, such as 127.0.0.1:0 for a free port",
        "{listen}で待ち受けられません; help: --listenで別のアドレスを指定してください（例: 127.0.0.1:0は空きポート）"
    );
    anyhow::Error::new(error).context(what)
}
