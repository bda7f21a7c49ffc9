//! What changes while the page looks on: a benchmark, a campaign whose server is killed, a question, and disks.

use super::check::PageChecks;
use super::fixture;
use super::server::ServeProcess;
use crate::pages::browser::Browser;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum time to wait for a change of the page, even on a slow machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A campaign with a card that is not there, which asks for it, and one that is measured in a directory.
const CAMPAIGN: &str = r#"name = "live"
repeats = 3
[[card]]
label = "absent"
id = "0xNOBODY"
[[card]]
label = "here"
folder = "disk"
[[workload]]
name = "short"
rw = "randread"
bs = "4 KiB"
size = "1 MiB"
runtime = "3 s"
"#;

/// Waits until a page has loaded and an expression is true in it.
pub(super) fn until(browser: &mut Browser, what: &str, script: &str) -> Result<()> {
    let begun = Instant::now();
    let script = format!("document.readyState === 'complete' && Boolean({script})");
    loop {
        let shown = browser.evaluate(&script);
        match shown {
            Ok(value) if value == true => break,
            // A page that is left meanwhile has no answer.
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Ok(_) if begun.elapsed() > PATIENCE => {
                let shown = browser.evaluate("document.body.innerText.slice(0, 2000)")?;
                bail!("{what} did not come; the page shows:\n{shown}");
            }
            _ => std::thread::sleep(Duration::from_millis(200)),
        }
    }
    println!("seen: {what}");
    Ok(())
}

/// A measurement of the command line beside the server, killed if it has not ended.
struct Measurement(Child);

impl Measurement {
    fn start(program: &Path, home: &Path, line: &str) -> Result<Measurement> {
        let mut command = fixture::hakaru(program, home);
        command.env("HAKARU_DETACHED", "1");
        command.args(line.split_whitespace()).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child
            .map(Measurement)
            .with_context(|| format!("cannot start {line}"))
    }
}

impl Drop for Measurement {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Follows a benchmark: samples arrive while it measures, stop while the charts pause, and all are there afterwards.
pub(super) fn benchmark(
    browser: &mut Browser,
    server: &ServeProcess,
    checks: &mut PageChecks,
    home: &Path,
) -> Result<()> {
    browser.resize(360, false)?;
    browser.visit(&format!("{}/", server.url))?;
    let line = "fio --name=followed --rw=randrw --bs=4k --size=8m --time_based --runtime=25 --filename=disk/y \
                --ioengine=psync --hakaru-store --output=followed.txt";
    let measurement = Measurement::start(&server.program, home, line)?;
    until(
        browser,
        "charts of throughput, IOPS and latency",
        "document.querySelectorAll('[data-charts] svg[role=img]').length >= 3",
    )?;
    let path = "document.querySelector('[data-charts] svg path').getAttribute('d')";
    let drawn = browser.evaluate(path)?;
    let drawn = drawn.as_str().unwrap_or_default().to_owned();
    let begun = Instant::now();
    until(
        browser,
        "a new sample",
        &format!("{path} !== {}", serde_json::Value::from(drawn)),
    )?;
    println!("a sample after {} ms", begun.elapsed().as_millis());
    browser.evaluate("document.querySelector('[data-charts] button[aria-pressed]').click()")?;
    let paused = browser.evaluate(path)?;
    std::thread::sleep(Duration::from_secs(2));
    ensure!(
        browser.evaluate(path)? == paused,
        "charts change while they pause"
    );
    browser.evaluate("document.querySelector('[data-charts] button[aria-pressed]').click()")?;
    let resumed = format!("{path} !== {paused}");
    until(browser, "the samples of the pause", &resumed)?;
    for (width, dark) in [(360, false), (1280, true)] {
        browser.resize(width, dark)?;
        checks.check(browser, "live-benchmark", (width, dark), "en", Vec::new())?;
    }
    until(
        browser,
        "the end of the benchmark and its result",
        "document.querySelector('.live a[href^=\"/run/\"]')",
    )?;
    drop(measurement);
    Ok(())
}

/// Clicks the first visible control whose text begins with these words.
fn click(browser: &mut Browser, words: &str) -> Result<()> {
    let script = format!(
        "(() => {{
            const all = [...document.querySelectorAll('main a, main button')];
            const found = all.find((e) => e.checkVisibility() && e.innerText.trim().startsWith({}));
            if (found) found.click();
            return Boolean(found);
        }})()",
        serde_json::Value::from(words)
    );
    ensure!(
        browser.evaluate(&script)? == true,
        "the page has no control {words}"
    );
    println!("clicked: {words}");
    Ok(())
}

/// Goes two ways of a new user with a phone, from the first page on: to a card that holds less than it claims, and to
/// which of two cards is better. Only what the pages show is followed.
pub(super) fn newcomer(
    browser: &mut Browser,
    server: &ServeProcess,
    checks: &mut PageChecks,
) -> Result<()> {
    browser.resize(360, false)?;
    browser.visit(&format!("{}/", server.url))?;
    click(browser, "Is my card genuine?")?;
    until(
        browser,
        "how to verify a card, and a card with defects",
        "location.search === '?kind=verifications' && document.querySelector('main').innerText.includes('Measure this') && document.querySelector('main .mark.no')",
    )?;
    checks.check(browser, "newcomer-genuine", (360, false), "en", Vec::new())?;
    browser.evaluate(
        "document.querySelector('main .mark.no').closest('tr, li').querySelector('a').click()",
    )?;
    until(
        browser,
        "that the card holds less than it claims",
        "location.pathname.startsWith('/verification/') && document.querySelector('main').innerText.includes('False capacity')",
    )?;
    checks.check(browser, "newcomer-fake", (360, false), "en", Vec::new())?;
    browser.visit(&format!("{}/", server.url))?;
    click(browser, "Which of two is better?")?;
    until(
        browser,
        "the choice of two sets",
        "location.pathname === '/compare' && document.querySelector('main form button')",
    )?;
    checks.check(browser, "newcomer-choice", (360, false), "en", Vec::new())?;
    browser.evaluate(
        "(() => {
            for (const [side, label] of [['a', 'even'], ['b', 'sprinter']]) {
                const select = document.querySelector(`select[name=\"${side}.card\"]`);
                select.value = [...select.options].find((o) => o.text.includes(label)).value;
            }
            document.querySelector('main form button').click();
        })()",
    )?;
    until(
        browser,
        "which of two is better",
        "location.search && document.querySelector('main').innerText.includes('even')",
    )?;
    checks.check(browser, "newcomer-better", (360, false), "en", Vec::new())
}

/// Begins a campaign on simulated cards on the page, and follows it until its results are shown.
pub(super) fn new_campaign(
    browser: &mut Browser,
    server: &ServeProcess,
    checks: &mut PageChecks,
) -> Result<()> {
    browser.resize(360, false)?;
    browser.visit(&format!("{}/campaigns", server.url))?;
    browser.evaluate("document.querySelector('a[href=\"/campaigns/new\"]').click()")?;
    until(
        browser,
        "the form of a new campaign",
        "document.querySelector('form[action=\"/campaigns/new\"]')",
    )?;
    browser.evaluate(
        "document.querySelector('[name=name]').value = 'from the page';
         document.querySelectorAll('[name=simulated]').forEach((box) => box.click());
         document.querySelector('form[action=\"/campaigns/new\"] button').click()",
    )?;
    until(
        browser,
        "the page of the new campaign",
        "location.pathname === '/campaign/from-the-page' && document.querySelector('.live')",
    )?;
    // Simulated cards take no time: it may have ended before the page was shown.
    until(
        browser,
        "the end of the new campaign",
        "!document.querySelector('.live article') || document.querySelector('.live article [role=status] strong')",
    )?;
    browser.visit(&format!("{}/campaign/from-the-page", server.url))?;
    let cards = "['simulated-even', 'simulated-cached']
        .every((card) => document.querySelector('main').innerText.includes(card))";
    until(browser, "the results of both cards", cards)?;
    for (width, dark) in [(360, false), (1280, false)] {
        browser.resize(width, dark)?;
        checks.check(browser, "new-campaign", (width, dark), "en", Vec::new())?;
    }
    Ok(())
}

/// Follows a campaign from start to end: its server is killed, the next one shows the question, and the page answers it.
pub(super) fn campaign(
    browser: &mut Browser,
    server: ServeProcess,
    checks: &mut PageChecks,
    home: &Path,
) -> Result<()> {
    std::fs::write(home.join("live.toml"), CAMPAIGN)?;
    browser.resize(360, false)?;
    browser.visit(&format!("{}/", server.url))?;
    let measurement = Measurement::start(&server.program, home, "campaign run live.toml --quiet")?;
    until(
        browser,
        "the question for the card",
        "document.querySelector('.live .ask')?.innerText.includes('absent')",
    )?;
    checks.check(browser, "live-question", (360, false), "en", Vec::new())?;
    let server = server.killed_and_restarted()?;
    // The killed connection is an error of the network, which the browser reports.
    browser.complaints();
    browser.evaluate("window.notReloaded = true")?;
    until(
        browser,
        "the question again from the next server",
        "document.querySelector('.live .ask form') && window.notReloaded",
    )?;
    browser.evaluate("[...document.querySelectorAll('.live .ask button')].find((b) => b.innerText.includes('Skip')).click()")?;
    until(
        browser,
        "the card that is measured",
        "!document.querySelector('.live .ask') && document.querySelector('.live .cells')",
    )?;
    browser.visit(&format!("{}/", server.url))?;
    disks(browser, home)?;
    until(
        browser,
        "the end of the campaign",
        "document.querySelector('.live article [role=status] strong')",
    )?;
    browser.visit(&format!("{}/campaigns", server.url))?;
    until(
        browser,
        "the campaign in the list",
        "document.querySelector('main').innerText.includes('live')",
    )?;
    drop(measurement);
    Ok(())
}

/// A disk appears and leaves while the page looks on. Without root, this is skipped.
fn disks(browser: &mut Browser, home: &Path) -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: disks that appear and leave, which need root");
        return Ok(());
    }
    let image = home.join("disk.img");
    std::fs::File::create(&image)?.set_len(64 << 20)?;
    let device = workspace::output(Command::new("losetup").args(["-f", "--show"]).arg(&image))?;
    let device = device.trim();
    let name = device.trim_start_matches("/dev/");
    let listed = format!("document.querySelector('[data-disks]').innerText.includes('{name}')");
    let seen = until(browser, "the disk that appeared", &listed);
    workspace::run(Command::new("losetup").args(["-d", device]))?;
    seen?;
    until(browser, "the disk that left", &format!("!{listed}"))
}
