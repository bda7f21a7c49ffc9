//! `hakaru serve`: serves stored results, and what runs now, as web pages.

use super::print;
use crate::exit::Exit;
use crate::place;
use anyhow::Result;
use hakaru_device::Roots;
use hakaru_web::{ServeOptions, Token, TokenFile};
use qrcode::render::unicode::Dense1x2;
use qrcode::{EcLevel, QrCode};
use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;

const AFTER: &str = "The first start prints a token, which measuring from a page needs; beyond this host, reading needs \
it too. Only its digest is stored, beside the database; --new-token replaces it. Pages are not encrypted: beyond a network \
that you trust, use a proxy with TLS and --host (docs/SERVE.md has examples).

  hakaru serve                          on this host only
  hakaru serve --listen 0.0.0.0:7272    for a phone in the same network

Ctrl-C ends the server; measurements that were started from a page go on.";

/// Arguments of `hakaru serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct ServeArgs {
    /// Address and port to listen on; port 0 for a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7272")]
    listen: SocketAddr,
    /// Accept requests to this host name, which a proxy or other hosts use; repeatable
    #[arg(long = "host", value_name = "NAME", value_parser = host_name)]
    hosts: Vec<String>,
    /// Show results only: nothing can be started, stopped or answered
    #[arg(long)]
    read_only: bool,
    /// Replace the token, and print the new one
    #[arg(long)]
    new_token: bool,
}

/// Parses a host name as it appears in the `Host` field of a request, without a port.
fn host_name(name: &str) -> Result<String, String> {
    let is_valid = !name.is_empty()
        && name.len() <= 253
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    match is_valid {
        true => Ok(name.to_ascii_lowercase()),
        false => Err(both!(
            "not a host name; help: without http:// and port, such as pi.example.org",
            "ホスト名ではありません; help: http://とポート番号を除いて指定してください（例: pi.example.org）"
        )),
    }
}

/// Serves until Ctrl-C.
pub(crate) fn main(args: &ServeArgs, db: Option<&Path>) -> Result<Exit> {
    let database = std::path::absolute(place::database(db)?)?;
    // A damaged or foreign file is an error now, instead of on every page.
    drop(place::read_or_empty(Some(&database))?);
    let (file, token) = TokenFile::open(&TokenFile::path(&database), args.new_token)?;
    let options = ServeOptions {
        listen: args.listen,
        hosts: args.hosts.clone(),
        read_only: args.read_only,
        program: std::env::current_exe()?,
        database,
    };
    let host = hakaru_device::environment(&Roots::live(), "").hostname;
    let named = args.hosts.first().cloned();
    let needs_token = options.needs_token();
    hakaru_web::serve(options, file, host, |started| {
        let address = ServedAddress {
            listen: started.address,
            named,
        };
        print(&address.announcement(token.as_ref(), needs_token, std::io::stdout().is_terminal()))
    })?;
    Ok(Exit::Ok)
}

/// The address as people open it.
struct ServedAddress {
    listen: SocketAddr,
    /// Name given with `--host`; a proxy answers there.
    named: Option<String>,
}

impl ServedAddress {
    fn is_beyond_this_host(&self) -> bool {
        !self.listen.ip().is_loopback()
    }

    /// Address of the first page.
    fn url(&self) -> String {
        let address = match self.listen.ip().is_unspecified() {
            true => SocketAddr::new(
                own_address(self.listen.ip()).unwrap_or(self.listen.ip()),
                self.listen.port(),
            ),
            false => self.listen,
        };
        format!("http://{address}/")
    }

    /// What the server prints as soon as it listens.
    fn announcement(&self, token: Option<&Token>, needs_token: bool, terminal: bool) -> String {
        let url = self.url();
        let mut lines = vec![both!("serving on {url}", "{url}で待ち受けています")];
        if let Some(name) = &self.named {
            lines.push(both!(
                "behind a proxy: https://{name}/",
                "プロキシ経由: https://{name}/"
            ));
        }
        let link = match token {
            Some(token) => {
                let link = format!("{url}enter?token={}", token.as_str());
                lines.push(both!(
                    "sign in with this link (printed once): {link}",
                    "このリンクでサインインしてください（表示は1回のみです）: {link}"
                ));
                link
            }
            None => {
                lines.push(match needs_token {
                    true => both!(
                        "the token was printed at the first start; `hakaru serve --new-token` prints another",
                        "トークンは最初の起動時に表示しました。hakaru serve --new-tokenで新しいトークンを表示できます"
                    ),
                    false => both!(
                        "measuring from a page needs the token printed at the first start; `hakaru serve --new-token` prints another",
                        "ページからの測定には、最初の起動時に表示したトークンが必要です。hakaru serve --new-tokenで新しいトークンを表示できます"
                    ),
                });
                url
            }
        };
        if self.is_beyond_this_host() {
            lines.push(both!(
                "note: pages are not encrypted; beyond a network that you trust, use a proxy with TLS (docs/SERVE.md)",
                "参考: 通信は暗号化されません。信頼できるネットワークの外では、TLSのプロキシを使ってください（docs/SERVE.md）"
            ));
            if terminal && let Some(code) = qr_code(&link) {
                lines.push(code);
            }
        }
        lines.join("\n") + "\n"
    }
}

/// Address of this host in its network, of the same family; `None` without a route. Nothing is sent: connecting a UDP
/// socket only selects the route.
pub(crate) fn own_address(unspecified: IpAddr) -> Option<IpAddr> {
    // Addresses for documentation (RFC 5737, RFC 3849), which no host has.
    let v4 = || route_to((Ipv4Addr::new(192, 0, 2, 1), 9).into());
    match unspecified {
        IpAddr::V4(_) => v4(),
        // A socket on the unspecified IPv6 address also accepts IPv4.
        IpAddr::V6(_) => {
            v4().or_else(|| route_to((Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), 9).into()))
        }
    }
}

fn route_to(other: SocketAddr) -> Option<IpAddr> {
    let any: IpAddr = match other {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(other).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// A QR code for a terminal, two modules a character, black on white whatever the colors of the terminal are.
fn qr_code(text: &str) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let drawn = code
        .render::<Dense1x2>()
        .dark_color(Dense1x2::Dark)
        .light_color(Dense1x2::Light)
        .build();
    let lines = drawn
        .lines()
        .map(|line| format!("\u{1b}[30;107m{line}\u{1b}[0m"));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_have_no_scheme_and_no_port() {
        assert_eq!(host_name("Pi.Example.org"), Ok("pi.example.org".to_owned()));
        for wrong in ["", "http://pi", "pi:7272", "a b", &"a".repeat(254)] {
            assert!(host_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_qr_code_has_margins_and_fits_a_terminal() {
        let token = "0".repeat(64);
        let code = qr_code(&format!("http://192.168.100.200:65535/enter?token={token}")).unwrap();
        let lines: Vec<&str> = code.lines().collect();
        let columns = hakaru_report::plain(lines[0]).chars().count();
        assert!(
            lines.len() <= 30 && columns <= 79,
            "{} × {columns}",
            lines.len()
        );
        assert!(
            lines.len() > 20 && lines[0].starts_with("\u{1b}[30;107m    "),
            "a white margin: {}",
            lines[0]
        );
    }

    #[test]
    fn a_link_has_an_address_that_others_can_reach() {
        let of = |listen: &str| ServedAddress {
            listen: listen.parse().unwrap(),
            named: None,
        };
        assert_eq!(of("127.0.0.1:80").url(), "http://127.0.0.1:80/");
        assert_eq!(of("[::1]:7272").url(), "http://[::1]:7272/");
        // Without a network, the unspecified address is all that is known.
        if route_to((Ipv4Addr::new(192, 0, 2, 1), 9).into()).is_some() {
            assert!(!of("0.0.0.0:7272").url().contains("0.0.0.0"));
        }
        let text = of("0.0.0.0:7272").announcement(None, true, false);
        assert!(
            text.contains("not encrypted") && !text.contains('\u{1b}'),
            "{text}"
        );
        let local = of("127.0.0.1:7272").announcement(None, false, true);
        assert!(
            !local.contains("not encrypted") && !local.contains('█'),
            "{local}"
        );
    }
}
