//! `hakaru fleet init`, `up` and `down`.

use crate::cmd::print;
use crate::cmd::serve::own_address;
use crate::exit::{Exit, usage};
use anyhow::Result;
use hakaru_device::Roots;
use hakaru_fleet::directory::{FleetDirectory, LEASE, NewFleet, PORT};
use hakaru_fleet::server::{self, ServerStart};
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// Arguments of `hakaru fleet init`.
#[derive(Debug, clap::Args)]
pub(super) struct FleetInitArgs {
    /// Name or address of this host in the network, which agents connect to; repeatable [default: the address of this host]
    #[arg(long, value_name = "ADDRESS")]
    address: Vec<String>,
    /// Port of the server
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// Give a job to its host again after this many seconds without a sign of life
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE, value_parser = clap::value_parser!(u32).range(2..=3600))]
    lease: u32,
}

/// Creates the fleet.
pub(super) fn init(path: &Path, args: &FleetInitArgs) -> Result<Exit> {
    let mut addresses = args.address.clone();
    if addresses.is_empty() {
        let Some(own) = own_address(IpAddr::V4(Ipv4Addr::UNSPECIFIED)) else {
            return Err(usage(both!(
                "this host has no address in a network; help: name it with --address",
                "このホストのネットワークアドレスが分かりません; help: --addressで指定してください"
            )));
        };
        addresses.push(own.to_string());
    }
    let hostname = hakaru_device::environment(&Roots::live(), "").hostname;
    addresses.push(hostname);
    let new = NewFleet {
        addresses,
        port: args.port,
        lease_seconds: args.lease,
    };
    let fleet = FleetDirectory::create(path, &new)?;
    let (path, address) = (path.display(), &fleet.settings().address);
    print(&both!(
        "created the fleet in {path}; hosts reach its server at {address}\nNext: hakaru fleet up\n",
        "{path}にフリートを作成しました。サーバのアドレスは{address}です\n次: hakaru fleet up\n"
    ))?;
    Ok(Exit::Ok)
}

/// Starts the server.
pub(super) fn up(fleet: &FleetDirectory) -> Result<Exit> {
    let start = server::up(fleet)?;
    let address = &fleet.settings().address;
    print(&match start {
        ServerStart::Started => both!(
            "started nats-server at {address}\nNext: hakaru fleet enroll USER@HOST\n",
            "nats-serverを{address}で起動しました\n次: hakaru fleet enroll USER@HOST\n"
        ),
        ServerStart::Running => both!(
            "nats-server runs at {address}\n",
            "nats-serverは{address}で動作しています\n"
        ),
    })?;
    Ok(Exit::Ok)
}

/// Stops the server.
pub(super) fn down(fleet: &FleetDirectory) -> Result<Exit> {
    print(&match server::down(fleet) {
        true => both!(
            "stopped nats-server; jobs and results are kept\n",
            "nats-serverを停止しました（ジョブと結果は保持されます）\n"
        ),
        false => both!(
            "nats-server does not run\n",
            "nats-serverは動作していません\n"
        ),
    })?;
    Ok(Exit::Ok)
}
