//! What an agent needs to connect, and how it gets to its host.

use crate::connection::ServerAccess;
use crate::directory::{is_host_name, read, write, write_secret};
use crate::keys;
use crate::signed::Signer;
use anyhow::{Context as _, Result, bail};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Directory of an agent that is a service.
pub const DIRECTORY: &str = "/var/lib/hakaru-agent";

/// Maximum size of a decoded token; certificates have about 1 kB.
const MOST: usize = 64 << 10;

/// Unit of the service.
///
/// Source: systemd.service(5). A measurement that was stopped by a restart of the host continues from what is stored.
pub const UNIT: &str = include_str!("hakaru-agent.service");

/// What an agent needs to connect; its key is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Name of the host in the fleet.
    pub name: String,
    /// Address of the server, with port.
    pub server: String,
    /// Public key of the operator, whose jobs are carried out.
    pub operator: String,
    /// Time without a sign of life after which a job is delivered again.
    pub lease_seconds: u32,
    /// Seed of the agent's key.
    pub seed: String,
    /// Certificate of the authority of the fleet.
    pub authority: String,
}

impl AgentConfig {
    /// Returns all of it as one word that can be pasted into a terminal. It is as secret as the key.
    ///
    /// # Errors
    /// If it cannot be written as TOML.
    pub fn token(&self) -> Result<String> {
        let text = toml::to_string(self)?;
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 10);
        Ok(URL_SAFE_NO_PAD.encode(packed))
    }

    /// Reads a token.
    ///
    /// # Errors
    /// If it is not one.
    pub fn from_token(token: &str) -> Result<AgentConfig> {
        let read = || -> Option<AgentConfig> {
            let packed = URL_SAFE_NO_PAD.decode(token.trim()).ok()?;
            let text =
                miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(&packed, MOST).ok()?;
            let config: AgentConfig = toml::from_str(std::str::from_utf8(&text).ok()?).ok()?;
            config.is_sound().then_some(config)
        };
        read().with_context(|| {
            both!(
                "this is not a token of `hakaru fleet enroll`; help: copy the whole line that it printed",
                "hakaru fleet enrollのトークンではありません; help: 表示された行をすべてコピーしてください"
            )
        })
    }

    fn is_sound(&self) -> bool {
        is_host_name(&self.name)
            && keys::is_public(&self.operator)
            && Signer::new(&self.seed).is_ok()
            && self.lease_seconds > 0
    }

    /// Writes it to the directory of an agent.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, directory: &Path) -> Result<()> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .with_context(
                || both!("cannot create {}", "{}を作成できません"; directory.display()),
            )?;
        write(&directory.join("ca.pem"), &self.authority)?;
        write_secret(&directory.join("agent.toml"), &toml::to_string(self)?)
    }

    /// Reads it from the directory of an agent.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn read(directory: &Path) -> Result<AgentConfig> {
        let file = directory.join("agent.toml");
        let shown = file.display();
        if !file.exists() {
            return Err(hakaru_results::not_there(both!(
                "this host is in no fleet: there is no {shown}; help: run the line that `hakaru fleet enroll` prints",
                "このホストはフリートに登録されていません（{shown}がありません）; help: hakaru fleet enrollが表示する行を実行してください"
            )));
        }
        let config: AgentConfig = toml::from_str(&read(&file)?)
            .with_context(|| both!("{shown} cannot be used", "{shown}を使用できません"))?;
        if !config.is_sound() {
            bail!(both!(
                "{shown} is damaged; help: enroll this host again",
                "{shown}が壊れています; help: このホストを登録し直してください"
            ));
        }
        Ok(config)
    }

    /// Returns what the agent needs to connect.
    pub(crate) fn access(&self, directory: &Path) -> ServerAccess<'_> {
        ServerAccess {
            server: &self.server,
            seed: &self.seed,
            authority: PathBuf::from(directory).join("ca.pem"),
            name: &self.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::NewKey;

    #[test]
    fn a_token_holds_all_an_agent_needs() {
        let operator = NewKey::generate().unwrap();
        let config = AgentConfig {
            name: "pi-3".into(),
            server: "192.0.2.1:4222".into(),
            operator: operator.public,
            lease_seconds: 60,
            seed: NewKey::generate().unwrap().seed,
            authority: "-----BEGIN CERTIFICATE-----\n".into(),
        };
        let token = config.token().unwrap();
        assert!(
            token
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        );
        assert_eq!(
            AgentConfig::from_token(&format!(" {token}\n")).unwrap(),
            config
        );
        assert!(AgentConfig::from_token(&token[1..]).is_err());
        assert!(AgentConfig::from_token(&token[..token.len() - 4]).is_err());
        let outside = AgentConfig {
            name: "../x".into(),
            ..config.clone()
        };
        assert!(AgentConfig::from_token(&outside.token().unwrap()).is_err());
        let folder = tempfile::tempdir().unwrap();
        config.write(folder.path()).unwrap();
        assert_eq!(AgentConfig::read(folder.path()).unwrap(), config);
    }
}
