//! A client of the server without a browser.

use anyhow::{Context, Result, bail, ensure};
use std::io::ErrorKind::{TimedOut, WouldBlock};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Maximum time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Interval at which a client of events looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(200);

/// A connection that is kept for several requests, as browsers do.
pub(super) struct HttpClient {
    host: String,
    stream: BufReader<TcpStream>,
}

impl HttpClient {
    /// Connects to an address such as `http://127.0.0.1:7272`.
    pub(super) fn connect(url: &str) -> Result<HttpClient> {
        let host = url.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&host).context("cannot connect to the server")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let stream = BufReader::new(stream);
        Ok(HttpClient { host, stream })
    }

    fn request(&mut self, path: &str) -> Result<()> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        Ok(self.stream.get_mut().write_all(request.as_bytes())?)
    }

    /// Reads the head of an answer; returns the status and the length of the body.
    fn head(&mut self) -> Result<(u16, Option<usize>)> {
        let (mut status, mut length, mut line) = (0, None, String::new());
        loop {
            line.clear();
            ensure!(self.stream.read_line(&mut line)? > 0, "the server closed");
            let text = line.trim_end().to_ascii_lowercase();
            if text.is_empty() {
                return Ok((status, length));
            }
            if let Some(rest) = text.strip_prefix("http/1.1 ") {
                status = rest.split(' ').next().unwrap_or_default().parse()?;
            }
            if let Some(value) = text.strip_prefix("content-length:") {
                length = Some(value.trim().parse()?);
            }
        }
    }

    /// Requests a page, and returns its status and body.
    pub(super) fn get(&mut self, path: &str) -> Result<(u16, String)> {
        self.request(path)?;
        let (status, length) = self.head()?;
        let mut body = vec![0; length.with_context(|| format!("{path} has no length"))?];
        self.stream.read_exact(&mut body)?;
        Ok((status, String::from_utf8_lossy(&body).into_owned()))
    }

    /// Requests events, and calls a function with the ID of each event of samples, until it is stopped.
    pub(super) fn follow(
        mut self,
        path: &str,
        stop: &AtomicBool,
        mut seen: impl FnMut(&str),
    ) -> Result<()> {
        self.request(path)?;
        let (status, _) = self.head()?;
        ensure!(status == 200, "{path}: status {status}");
        self.stream.get_ref().set_read_timeout(Some(LOOK))?;
        let mut line = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            match self.stream.read_until(b'\n', &mut line) {
                Ok(0) => bail!("{path} ended"),
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line);
                    if let Some(id) = text.strip_prefix("id: ") {
                        seen(id.trim());
                    }
                    line.clear();
                }
                // The rest of a line is read later.
                Err(error) if matches!(error.kind(), WouldBlock | TimedOut) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
