//! The nginx configuration of docs/SERVE.md in front of `hakaru serve`.

use super::{HERE, Server};
use crate::support::{Home, text, wait_until};
use rustix::process::Signal;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const NAME: &str = "lab.example";

/// An nginx process that ends with the test.
struct Proxy {
    child: Child,
    address: SocketAddr,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Ignored: it may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    /// Starts nginx with the documented configuration, apart from addresses and the paths of the certificate.
    fn start(directory: &Path, server: SocketAddr) -> Proxy {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap();
        drop(free);
        let at = directory.display();
        let certificate = Command::new("openssl")
            .args([
                "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
            ])
            .args(["-subj", "/CN=lab.example", "-keyout", "key", "-out", "crt"])
            .current_dir(directory)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(
            certificate.status.success(),
            "{}",
            text(&certificate.stderr)
        );
        let document = include_str!("../../../../../docs/SERVE.md");
        let block = document.split("nginx:\n\n```\n").nth(1).unwrap();
        let mut block = block.split("```").next().unwrap().to_owned();
        for (documented, here) in [
            ("443", address.to_string()),
            ("/etc/ssl/lab.example.crt", format!("{at}/crt")),
            ("/etc/ssl/lab.example.key", format!("{at}/key")),
            ("127.0.0.1:7272", server.to_string()),
        ] {
            assert!(block.contains(documented), "{block}");
            block = block.replace(documented, &here);
        }
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary = temporary.map(|kind| format!("{kind}_temp_path {at}/{kind};\n"));
        let file = directory.join("nginx.conf");
        let configuration = format!(
            "daemon off;\nmaster_process off;\npid {at}/pid;\nerror_log {at}/error.log;\nevents {{}}\n\
             http {{\naccess_log off;\n{}{block}}}\n",
            temporary.concat()
        );
        std::fs::write(&file, configuration).unwrap();
        let errors = directory.join("error.log");
        let mut child = Command::new("nginx")
            .args(["-e", &errors.display().to_string(), "-c"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(|| {
            let ended = child.try_wait().unwrap();
            let said = std::fs::read_to_string(&errors).unwrap_or_default();
            assert!(ended.is_none(), "nginx: {said}");
            TcpStream::connect(address).is_ok()
        });
        Proxy { child, address }
    }

    /// Sends a request with TLS, for at most 10 s; returns head and body of the response.
    fn curl(&self, path: &str, arguments: &[&str]) -> String {
        let port = self.address.port();
        let answer = Command::new("curl")
            .args(["-skiN", "--max-time", "10", "--noproxy", "*", "--resolve"])
            .arg(format!("{NAME}:{port}:127.0.0.1"))
            .args(arguments)
            .arg(format!("https://{NAME}:{port}{path}"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        text(&answer.stdout)
    }
}

#[test]
fn the_documented_nginx_configuration_works() {
    for (program, version) in [("nginx", "-v"), ("openssl", "version"), ("curl", "-V")] {
        let mut command = Command::new(program);
        if command.arg(version).output().is_err() {
            eprintln!("skipped: {program} is not installed");
            return;
        }
    }
    let home = Home::new();
    let server = Server::start(&home, &[HERE, &["--host", NAME]].concat());
    let token = server.token.clone().unwrap();
    let proxy = Proxy::start(home.path(), server.address);
    let bearer = format!("Authorization: Bearer {token}");

    let status = |answer: &str| answer.split(' ').nth(1).unwrap_or_default().to_owned();
    assert_eq!(status(&proxy.curl("/", &[])), "303");
    assert_eq!(status(&proxy.curl("/api/v1/live", &[])), "401");
    let live = proxy.curl("/api/v1/live", &["-H", &bearer]);
    assert!(live.contains("\"running\":[]"), "{live}");

    let entered = proxy.curl(&format!("/enter?token={token}"), &[]);
    let session = entered
        .lines()
        .find(|line| line.to_lowercase().starts_with("set-cookie:"))
        .unwrap_or_else(|| panic!("{entered}"));
    assert!(
        session.contains("HttpOnly") && session.contains("Secure"),
        "{session}"
    );
    let cookie = session.split([' ', ';']).nth(1).unwrap();
    let home_page = proxy.curl("/", &["-b", cookie]);
    assert_eq!(status(&home_page), "200", "{home_page}");

    // An action is allowed to pages of the name that the browser sees, and to no others.
    let form = ["-b", cookie, "-d", "verb=campaign&campaign=x", "-H"];
    let from = |origin| proxy.curl("/start", &[&form[..], &[origin]].concat());
    let foreign = from("Origin: https://evil.example");
    assert_eq!(status(&foreign), "403", "{foreign}");
    let own = from("Origin: https://lab.example");
    assert_eq!(status(&own), "400", "it names no campaign: {own}");

    // Events arrive at once: the connection stays open, and curl is the one that ends it.
    let events = proxy.curl("/api/v1/events", &["-H", &bearer, "--max-time", "3"]);
    assert!(events.contains("retry:"), "{events}");
    drop(proxy);
    server.end(Signal::TERM);
}
