//! Names of subjects, streams and consumers.

/// Jobs, one subject for each host.
pub(crate) const WORK: &str = "LAB_WORK";
/// Results and ends of jobs.
pub(crate) const RESULT: &str = "LAB_RESULT";
/// IDs of results that the operator has stored.
pub(crate) const RECEIPT: &str = "LAB_RECEIPT";
/// The last announcement of each host.
pub(crate) const HOST: &str = "LAB_HOST";
/// Log lines of the agents.
pub(crate) const LOG: &str = "LAB_LOG";
/// Consumer with which the operator reads results.
pub(crate) const OPERATOR: &str = "operator";
/// Asks all agents for an announcement.
pub(crate) const ASK: &str = "lab.ask";

pub(crate) fn work(host: &str) -> String {
    format!("lab.work.{host}")
}

pub(crate) fn result(host: &str) -> String {
    format!("lab.result.{host}")
}

pub(crate) fn receipt(host: &str) -> String {
    format!("lab.receipt.{host}")
}

pub(crate) fn host(host: &str) -> String {
    format!("lab.host.{host}")
}

pub(crate) fn log(host: &str) -> String {
    format!("lab.log.{host}")
}

pub(crate) fn progress(host: &str) -> String {
    format!("lab.progress.{host}")
}

pub(crate) fn stop(host: &str) -> String {
    format!("lab.stop.{host}")
}

/// Name of the consumer of a host's jobs.
pub(crate) fn worker(host: &str) -> String {
    format!("work-{host}")
}

/// Name of the consumer of a host's receipts.
pub(crate) fn reader(host: &str) -> String {
    format!("receipt-{host}")
}

/// Prefix of the subjects at which a client receives replies, so that no agent can read those of another.
pub(crate) fn inbox(client: &str) -> String {
    format!("_INBOX_{client}")
}

/// Returns the host of a subject such as `lab.result.<host>`.
pub(crate) fn host_of(subject: &str) -> &str {
    subject.rsplit('.').next().unwrap_or_default()
}
