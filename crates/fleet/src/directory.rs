//! The operator's directory of a fleet: settings, keys, certificates, and the agents that may connect.

use crate::certificates::ServerCertificates;
use crate::connection::ServerAccess;
use crate::enroll::AgentConfig;
use crate::keys::{self, NewKey};
use crate::signed::Signer;
use crate::{names, server};
use anyhow::{Context as _, Result, bail};
use hakaru_campaign::campaign::resolve::is_plain_name;
use serde::{Deserialize, Serialize};
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::net::IpAddr;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Default port of NATS.
pub const PORT: u16 = 4222;

/// Default time without a sign of life after which a job is given to its host again, in seconds.
pub const LEASE: u32 = 60;

/// Settings of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FleetSettings {
    /// Address at which agents reach the server, with port.
    pub address: String,
    /// Address and port at which the server listens.
    pub listen: String,
    /// Public key of the operator.
    pub operator: String,
    /// Time without a sign of life after which a job is given to its host again.
    pub lease_seconds: u32,
}

/// How a fleet is created.
#[derive(Clone, Debug)]
pub struct NewFleet {
    /// Names and addresses of the server, without port; agents use the first one.
    pub addresses: Vec<String>,
    /// Port of the server.
    pub port: u16,
    /// Lease of jobs in seconds.
    pub lease_seconds: u32,
}

/// An agent that may connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolledAgent {
    /// Name of its host in the fleet.
    #[serde(skip)]
    pub name: String,
    /// Its public key.
    pub key: String,
}

/// The operator's directory of a fleet.
#[derive(Clone, Debug)]
pub struct FleetDirectory {
    path: PathBuf,
    settings: FleetSettings,
}

impl FleetDirectory {
    /// Creates keys, certificates and the configuration of the server in a new directory.
    ///
    /// # Errors
    /// If there is a fleet already, or a file cannot be written.
    pub fn create(path: &Path, new: &NewFleet) -> Result<FleetDirectory> {
        if path.join("fleet.toml").exists() {
            let path = path.display();
            bail!(both!(
                "{path} has a fleet already; help: name another directory, or remove this one and enroll all hosts again",
                "{path}にはすでにフリートがあります; help: 別のディレクトリを指定するか、これを削除して全ホストを登録し直してください"
            ));
        }
        if let Some(address) = new.addresses.iter().find(|address| !is_address(address)) {
            let address = hakaru_report::plain(address);
            bail!(both!(
                "{address} is no name or address of a host; help: give letters, digits, hyphens and dots, or an IP address, without port",
                "{address}はホストの名前またはアドレスではありません; help: 英数字、ハイフン、ドットの名前か、IPアドレスをポートなしで指定してください"
            ));
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path.join("agents"))
            .with_context(|| cannot_write(path))?;
        let Some(first) = new.addresses.first() else {
            bail!(both!("a fleet needs an address", "アドレスが必要です"));
        };
        let mut names = new.addresses.clone();
        for own in ["localhost", "127.0.0.1"] {
            if !names.iter().any(|name| name == own) {
                names.push(own.to_owned());
            }
        }
        let certificates = ServerCertificates::generate(&names)?;
        let operator = NewKey::generate()?;
        write_secret(&path.join("operator.key"), &operator.seed)?;
        write(&path.join("ca.pem"), &certificates.authority)?;
        write(&path.join("server.pem"), &certificates.certificate)?;
        write_secret(&path.join("server.key"), &certificates.key)?;
        let settings = FleetSettings {
            address: with_port(first, new.port),
            listen: format!("{}:{}", listening(first), new.port),
            operator: operator.public,
            lease_seconds: new.lease_seconds.max(1),
        };
        write(&path.join("fleet.toml"), &toml::to_string(&settings)?)?;
        let directory = FleetDirectory {
            path: std::path::absolute(path)?,
            settings,
        };
        server::write_configuration(&directory)?;
        Ok(directory)
    }

    /// Opens the directory of a fleet.
    ///
    /// # Errors
    /// If there is no fleet in it, or its settings cannot be read.
    pub fn open(path: &Path) -> Result<FleetDirectory> {
        let file = path.join("fleet.toml");
        if !file.exists() {
            let path = path.display();
            return Err(hakaru_results::not_there(both!(
                "there is no fleet in {path}; help: create one with `hakaru fleet init`, or name its directory with --fleet",
                "{path}にフリートがありません; help: hakaru fleet initで作るか、--fleetでディレクトリを指定してください"
            )));
        }
        let text = read(&file)?;
        let settings = toml::from_str(&text).with_context(|| cannot_use(&file))?;
        Ok(FleetDirectory {
            path: std::path::absolute(path)?,
            settings,
        })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &FleetSettings {
        &self.settings
    }

    /// Returns the path of a file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the agents that may connect, by name.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn agents(&self) -> Result<Vec<EnrolledAgent>> {
        let folder = self.path.join("agents");
        let mut agents = Vec::new();
        for entry in std::fs::read_dir(&folder).with_context(|| cannot_use(&folder))? {
            let path = entry?.path();
            let name = path.file_stem().and_then(|name| name.to_str());
            let is_agent = path.extension().is_some_and(|end| end == "toml");
            let Some(name) = name.filter(|name| is_agent && is_host_name(name)) else {
                continue;
            };
            let agent: EnrolledAgent =
                toml::from_str(&read(&path)?).with_context(|| cannot_use(&path))?;
            if keys::is_public(&agent.key) {
                agents.push(EnrolledAgent {
                    name: name.to_owned(),
                    ..agent
                });
            }
        }
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(agents)
    }

    /// Gives a host a key, which replaces an earlier one, and returns what its agent needs.
    ///
    /// # Errors
    /// If the name cannot be used, or a file cannot be written.
    pub fn enroll(&self, name: &str) -> Result<AgentConfig> {
        if !is_host_name(name) {
            bail!(both!(
                "`{name}` is not a name of a host in a fleet; help: use 1 to 60 letters, digits, `-` or `_` with --name, \
                 but not `operator`",
                "「{name}」はフリートのホスト名に使えません; help: --nameで英字、数字、-、_の1〜60文字を指定してください（operatorは使えません）"
            ));
        }
        let key = NewKey::generate()?;
        let agent = EnrolledAgent {
            name: name.to_owned(),
            key: key.public,
        };
        let file = self.path.join("agents").join(format!("{name}.toml"));
        write(&file, &toml::to_string(&agent)?)?;
        server::write_configuration(self)?;
        Ok(AgentConfig {
            name: name.to_owned(),
            server: self.settings.address.clone(),
            operator: self.settings.operator.clone(),
            lease_seconds: self.settings.lease_seconds,
            seed: key.seed,
            authority: read(&self.path.join("ca.pem"))?,
        })
    }

    /// Returns the operator's seed.
    pub(crate) fn seed(&self) -> Result<String> {
        read(&self.path.join("operator.key"))
    }

    /// Returns what signs the operator's messages.
    pub(crate) fn signer(&self) -> Result<Signer> {
        Signer::new(&self.seed()?)
    }

    /// Returns what the operator needs to connect.
    pub(crate) fn access<'a>(&'a self, seed: &'a str) -> ServerAccess<'a> {
        ServerAccess {
            server: &self.settings.address,
            seed,
            authority: self.path.join("ca.pem"),
            name: names::OPERATOR,
        }
    }
}

/// Whether a text can be the name of a host: a part of subjects, file names and commands.
pub fn is_host_name(name: &str) -> bool {
    is_plain_name(name) && !name.contains('.') && name != names::OPERATOR
}

/// Address at which the server listens: on this host only if agents reach it there only.
fn listening(first: &str) -> &'static str {
    match first {
        "127.0.0.1" | "localhost" => "127.0.0.1",
        _ => "0.0.0.0",
    }
}

fn with_port(host: &str, port: u16) -> String {
    match host.parse::<std::net::Ipv6Addr>() {
        Ok(address) => format!("[{address}]:{port}"),
        Err(_) => format!("{host}:{port}"),
    }
}

fn cannot_write(path: &Path) -> String {
    both!("cannot write {}", "{}に書き込めません"; path.display())
}

fn cannot_use(path: &Path) -> String {
    both!("cannot read {}", "{}を読み込めません"; path.display())
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| cannot_use(path))
}

/// Writes a file; if the program is killed, the file is either the old or the new one.
pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    replace(path, text, 0o644)
}

/// Writes a file that only its owner may read.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<()> {
    replace(path, text, 0o600)
}

fn replace(path: &Path, text: &str, mode: u32) -> Result<()> {
    let mut temporary = path.to_owned();
    temporary.as_mut_os_string().push(".new");
    let written = || -> std::io::Result<()> {
        let _ = std::fs::remove_file(&temporary);
        let mut file = File::options()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    written().with_context(|| cannot_write(path))
}

/// Whether a text is an IP address, or a host name that certificates can contain.
///
/// Source: RFC 1123, section 2.1; the underscore is in use all the same.
fn is_address(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.chars().all(is_allowed);
    let name = text.strip_suffix('.').unwrap_or(text);
    text.parse::<IpAddr>().is_ok() || (name.len() <= 253 && name.split('.').all(is_label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn keys_are_secret_and_names_cannot_leave_the_directory() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lab");
        let new = NewFleet {
            addresses: vec!["192.0.2.1".into()],
            port: PORT,
            lease_seconds: LEASE,
        };
        for wrong in [
            "測る.local",
            "pi 1",
            "pi:4222",
            "",
            "a..b",
            "tls://pi",
            "\n",
        ] {
            let wrong = NewFleet {
                addresses: vec!["pi.local".into(), wrong.into()],
                ..new.clone()
            };
            let error = FleetDirectory::create(&path, &wrong).err().unwrap();
            assert!(error.to_string().contains("no name or address"), "{error}");
            assert!(!path.exists());
        }
        assert!(
            ["pi-1", "pi_1.local.", "::1", "10.0.0.1"]
                .iter()
                .all(|name| is_address(name))
        );
        let fleet = FleetDirectory::create(&path, &new).unwrap();
        assert!(FleetDirectory::create(&path, &new).is_err());
        let mode = |name: &str| {
            std::fs::metadata(path.join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!(
            (mode("operator.key"), mode("server.key"), mode("")),
            (0o600, 0o600, 0o700)
        );
        for wrong in ["../x", "", "a.b", "operator", "a b", "a/b", "*", ">"] {
            assert!(fleet.enroll(wrong).is_err(), "{wrong}");
        }
        let config = fleet.enroll("pi-1").unwrap();
        let again = fleet.enroll("pi-1").unwrap();
        assert_ne!(config.seed, again.seed, "an earlier key is replaced");
        let opened = FleetDirectory::open(&path).unwrap();
        assert_eq!(opened.agents().unwrap().len(), 1);
        let text = read(&path.join("nats.conf")).unwrap();
        assert!(text.contains(&opened.agents().unwrap()[0].key));
        let earlier = Signer::new(&config.seed).unwrap();
        assert!(!text.contains(earlier.public()), "{text}");
    }
}
