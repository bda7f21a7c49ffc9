//! Connections to the server of a fleet: TLS with its own authority, and an NKEY.

use crate::names;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Interval of pings, by which a lost connection is noticed; long, so that an idle agent does next to nothing.
const PING: Duration = Duration::from_secs(60);

/// Maximum time to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// Longest pause between attempts to connect again.
const RETRY: Duration = Duration::from_secs(15);

/// What a client needs to connect.
pub(crate) struct ServerAccess<'a> {
    /// Host name or address, with port.
    pub(crate) server: &'a str,
    /// Seed of the NKEY.
    pub(crate) seed: &'a str,
    /// Certificate of the authority.
    pub(crate) authority: PathBuf,
    /// Name of the client: the host, or the operator.
    pub(crate) name: &'a str,
}

/// Why there is no connection to the server.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConnectError {
    message: String,
}

impl ServerAccess<'_> {
    fn options(&self) -> ConnectOptions {
        ConnectOptions::with_nkey(self.seed.trim().to_owned())
            .name(format!("hakaru {}", self.name))
            .add_root_certificates(self.authority.clone())
            .require_tls(true)
            .custom_inbox_prefix(names::inbox(self.name))
            .ping_interval(PING)
            .connection_timeout(CONNECT)
            .max_reconnects(None)
            .reconnect_delay_callback(|attempts| {
                // The first attempts follow each other quickly: a restarted server is back within a second.
                let doubled =
                    Duration::from_millis(100) * 2u32.saturating_pow(attempts.min(10) as u32);
                doubled.min(RETRY)
            })
    }

    fn address(&self) -> String {
        format!("tls://{}", self.server)
    }

    /// Connects, and reports events of the connection, such as its loss, to `events`.
    ///
    /// # Errors
    /// [`ConnectError`] with the cure.
    pub(crate) async fn connect(
        &self,
        events: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Client, ConnectError> {
        if let Err(source) = std::fs::metadata(&self.authority) {
            return Err(ConnectError {
                message: no_file(&self.authority, &source),
            });
        }
        let connected = self
            .options()
            .event_callback(move |event| {
                events(event);
                std::future::ready(())
            })
            .connect(self.address())
            .await;
        connected.map_err(|error| ConnectError {
            message: message(self.server, &error),
        })
    }
}

fn no_file(path: &Path, source: &std::io::Error) -> String {
    both!("cannot read {}: {source}", "{}を読み込めません: {source}"; path.display())
}

/// Describes an error, and its cure.
fn message(server: &str, error: &async_nats::ConnectError) -> String {
    let mut causes = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        causes.push(cause.to_string());
        source = cause.source();
    }
    let all = causes.join(": ");
    let is = |part: &str| all.to_ascii_lowercase().contains(part);
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => both!(
            "the server {server} does not know this key; help: run `hakaru fleet enroll` for this host again, and \
             `hakaru fleet up`",
            "サーバ{server}にこの鍵は登録されていません; help: このホストをhakaru fleet enrollで登録し直し、hakaru fleet upを実行してください"
        ),
        ConnectErrorKind::Dns => both!(
            "cannot find the address of {server}; help: check the name, or use an IP address with `hakaru fleet init --address`",
            "{server}のアドレスが見つかりません; help: 名前を確認するか、hakaru fleet init --addressでIPアドレスを指定してください"
        ),
        ConnectErrorKind::TimedOut => both!(
            "no answer from {server}; help: check that the port is open in the firewall, and that the server runs (`hakaru fleet up`)",
            "{server}から応答がありません; help: ファイアウォールのポートと、サーバの動作（hakaru fleet up）を確認してください"
        ),
        _ if is("refused") => both!(
            "nothing listens at {server}; help: start the server with `hakaru fleet up`",
            "{server}で待ち受けているサーバがありません; help: hakaru fleet upで起動してください"
        ),
        _ if is("unreachable") => both!(
            "no route to {server}; help: check the network, and that both are in it",
            "{server}への経路がありません; help: ネットワークと、両方のホストがそこに接続されていることを確認してください"
        ),
        _ if is("not valid for name") || is("notvalidforname") => both!(
            "the certificate of {server} is for other names; help: name it with `hakaru fleet init --address {server}`",
            "{server}の証明書は別の名前のものです; help: hakaru fleet init --address {server}で指定してください"
        ),
        ConnectErrorKind::Tls => both!(
            "{server} is not the server of this fleet: {all}; help: run `hakaru fleet enroll` for this host again",
            "{server}はこのフリートのサーバではありません: {all}; help: このホストをhakaru fleet enrollで登録し直してください"
        ),
        _ if is("unknownissuer") || is("invalid peer certificate") => both!(
            "{server} is not the server of this fleet: {all}; help: run `hakaru fleet enroll` for this host again",
            "{server}はこのフリートのサーバではありません: {all}; help: このホストをhakaru fleet enrollで登録し直してください"
        ),
        _ => both!(
            "cannot connect to {server}: {all}",
            "{server}に接続できません: {all}"
        ),
    }
}
