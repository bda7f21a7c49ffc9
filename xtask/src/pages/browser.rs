//! A headless browser, controlled by the Chrome DevTools Protocol over a pair of named pipes.
//!
//! Source: <https://chromedevtools.github.io/devtools-protocol/>; messages over a pipe end with a zero byte.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Maximum time to wait for an answer, even on a slow machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Options against network access and prompts.
const QUIET: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
];

/// A running browser with one empty page.
pub(crate) struct Browser {
    child: Child,
    commands: File,
    messages: Receiver<Value>,
    session: String,
    next: u64,
    /// Errors of the page since it was loaded.
    complaints: Vec<String>,
}

/// Starts the browser with the pipes as file descriptors 3 and 4, as its protocol requires.
fn spawn(program: &Path, home: &Path, pipes: [&Path; 2]) -> Result<Child> {
    let script = "commands=$1; answers=$2; shift 2; exec \"$@\" 3<\"$commands\" 4>\"$answers\"";
    let profile = format!("--user-data-dir={}", home.join("profile").display());
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).args(pipes);
    command.arg(program).args(QUIET).arg(profile);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null());
    command
        .spawn()
        .with_context(|| format!("cannot start {}", program.display()))
}

impl Browser {
    /// Starts the browser; `home` is a directory for its profile and the pipes.
    pub(crate) fn start(program: &Path, home: &Path) -> Result<Browser> {
        let (commands, answers) = (home.join("commands"), home.join("answers"));
        for pipe in [&commands, &answers] {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, mode, 0)
                .with_context(|| format!("cannot make the pipe {}", pipe.display()))?;
        }
        let child = spawn(program, home, [&commands, &answers])?;
        let commands = File::options().write(true).open(&commands);
        let answers = File::open(&answers).context("cannot open the pipe for answers")?;
        let mut browser = Browser {
            child,
            commands: commands.context("cannot open the pipe for commands")?,
            messages: listen(answers),
            session: String::new(),
            next: 0,
            complaints: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))?;
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach)?;
        browser.session = attached["sessionId"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(browser)
    }

    /// Loads a file in a window of this width, in light or dark mode.
    pub(crate) fn show(&mut self, file: &Path, width: u32, dark: bool) -> Result<()> {
        self.resize(width, dark)?;
        self.visit(&format!(
            "file://{}",
            std::fs::canonicalize(file)?.display()
        ))
    }

    /// Sets the width of the window, and light or dark mode.
    pub(crate) fn resize(&mut self, width: u32, dark: bool) -> Result<()> {
        let size =
            json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        let media = json!({ "features": features });
        self.call("Emulation.setEmulatedMedia", media).map(drop)
    }

    /// Loads the page with this address.
    pub(crate) fn visit(&mut self, url: &str) -> Result<()> {
        self.complaints.clear();
        let answer = self.call("Page.navigate", json!({ "url": url }))?;
        if let Some(error) = answer["errorText"].as_str() {
            bail!("the browser cannot open {url}: {error}");
        }
        self.wait_for("Page.loadEventFired")
    }

    /// Sets the language that requests ask for, such as `ja`.
    pub(crate) fn speak(&mut self, language: &str) -> Result<()> {
        self.call("Network.enable", json!({}))?;
        let headers = json!({ "headers": { "Accept-Language": language } });
        self.call("Network.setExtraHTTPHeaders", headers).map(drop)
    }

    /// Presses the tabulator key.
    pub(crate) fn press_tab(&mut self) -> Result<()> {
        for kind in ["keyDown", "keyUp"] {
            let key =
                json!({ "type": kind, "key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9 });
            self.call("Input.dispatchKeyEvent", key)?;
        }
        Ok(())
    }

    /// Evaluates a script in the page and returns its value; a promise is awaited.
    pub(crate) fn evaluate(&mut self, script: &str) -> Result<Value> {
        let asked = json!({ "expression": script, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.call("Runtime.evaluate", asked)?;
        if !answer["exceptionDetails"].is_null() {
            bail!("the script failed: {}", answer["exceptionDetails"]);
        }
        Ok(answer["result"]["value"].take())
    }

    /// Screenshot of the whole page as PNG.
    pub(crate) fn picture(&mut self) -> Result<Vec<u8>> {
        let answer = self.call(
            "Page.captureScreenshot",
            json!({ "captureBeyondViewport": true }),
        )?;
        base64(answer["data"].as_str().unwrap_or_default()).context("the browser sent no picture")
    }

    /// Number of A4 pages of the printed page.
    pub(crate) fn printed_pages(&mut self) -> Result<usize> {
        let paper = json!({ "preferCSSPageSize": true, "paperWidth": 8.27, "paperHeight": 11.69 });
        let answer = self.call("Page.printToPDF", paper)?;
        let pdf = base64(answer["data"].as_str().unwrap_or_default())
            .context("the browser sent no PDF")?;
        // Each page is an object of this type; the list of pages has the type `Pages`.
        let page = b"/Type /Page";
        let ends = |bytes: &[u8]| bytes.get(page.len()) != Some(&b's');
        let found = pdf
            .windows(page.len() + 1)
            .filter(|bytes| bytes.starts_with(page) && ends(bytes));
        Ok(found.count())
    }

    /// Returns the errors of the page since it was loaded.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let failed = || format!("cannot ask the browser for {method}");
        self.commands
            .write_all(format!("{message}\0").as_bytes())
            .with_context(failed)?;
        loop {
            let mut message = self.message().with_context(failed)?;
            if message["id"] == id {
                if !message["error"].is_null() {
                    bail!("{method}: {}", message["error"]);
                }
                return Ok(message["result"].take());
            }
        }
    }

    fn wait_for(&mut self, event: &str) -> Result<()> {
        while self
            .message()
            .with_context(|| format!("{event} did not come"))?["method"]
            != event
        {}
        Ok(())
    }

    /// Returns the next message; errors in between are collected.
    fn message(&mut self) -> Result<Value> {
        let message = self
            .messages
            .recv_timeout(PATIENCE)
            .context("the browser does not answer")?;
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Log.entryAdded") => self.complaints.push(params["entry"]["text"].to_string()),
            Some("Runtime.consoleAPICalled") => self.complaints.push(params["args"].to_string()),
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(params["exceptionDetails"].to_string())
            }
            _ => {}
        }
        Ok(message)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The process is no longer needed, and may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Receives messages in a separate thread, so that waiting can time out.
fn listen(answers: File) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(answers);
        let mut bytes = Vec::new();
        while reader.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
            let message = serde_json::from_slice(bytes.strip_suffix(&[0]).unwrap_or(&bytes));
            if message.is_ok_and(|message| sender.send(message).is_err()) {
                return;
            }
            bytes.clear();
        }
    });
    receiver
}

/// Decodes base64 (RFC 4648, section 4). `None` for invalid characters or empty input.
fn base64(text: &str) -> Option<Vec<u8>> {
    let letter = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group
            .iter()
            .try_fold(0u32, |bits, &c| Some(bits << 6 | u32::from(letter(c)?)))?;
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, section 10.
        for (text, expected) in [
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9vYg==", "foob"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(base64(text).unwrap(), expected.as_bytes());
        }
        assert_eq!((base64(""), base64("Z*==")), (None, None));
    }
}
