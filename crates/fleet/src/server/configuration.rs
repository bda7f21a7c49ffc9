//! The configuration of the server: addresses, certificates, and what each client may do.

use crate::directory::{EnrolledAgent, FleetDirectory, write};
use crate::names;
use anyhow::Result;

/// Maximum size of a message.
const MAX_PAYLOAD: u64 = 8 << 20;

/// Writes the configuration of the server, with the rights of each agent.
pub(crate) fn write_configuration(directory: &FleetDirectory) -> Result<()> {
    let text = configuration(directory, &directory.agents()?);
    write(&directory.file("nats.conf"), &text)
}

fn configuration(directory: &FleetDirectory, agents: &[EnrolledAgent]) -> String {
    let settings = directory.settings();
    let path = |name: &str| format!("{:?}", directory.file(name).display().to_string());
    let mut text = format!(
        "# Written by `hakaru fleet`; changes are overwritten.\n\
         server_name: \"hakaru-fleet\"\n\
         listen: {:?}\n\
         max_payload: {MAX_PAYLOAD}\n\
         pid_file: {}\n\
         log_file: {}\n\
         logfile_size_limit: 10485760\n\
         jetstream {{ store_dir: {} }}\n\
         tls {{ cert_file: {}, key_file: {}, timeout: 10 }}\n\
         authorization {{\n  timeout: 10\n  users: [\n",
        settings.listen,
        path("nats.pid"),
        path("nats.log"),
        path("jetstream"),
        path("server.pem"),
        path("server.key"),
    );
    let inbox = names::inbox(names::OPERATOR);
    text += &format!(
        "    {{ nkey: {}, permissions: {{\n      publish: [\"lab.>\", \"$JS.>\"]\n      \
         subscribe: [\"lab.>\", \"{inbox}.>\", \"$JS.EVENT.ADVISORY.>\"] }} }}\n",
        settings.operator
    );
    for agent in agents {
        text += &rights_of_agent(agent);
    }
    text + "  ]\n}\n"
}

/// What an agent may do: publish as its own host, read its own jobs and receipts, and answer.
fn rights_of_agent(agent: &EnrolledAgent) -> String {
    let name = &agent.name;
    let consumers = [
        (names::WORK, names::worker(name)),
        (names::RECEIPT, names::reader(name)),
    ];
    let mut publish = vec![
        names::result(name),
        names::host(name),
        names::log(name),
        names::progress(name),
        format!("$JS.API.DIRECT.GET.{}.{}", names::HOST, names::host(name)),
    ];
    for (stream, consumer) in consumers {
        publish.extend([
            format!("$JS.API.CONSUMER.INFO.{stream}.{consumer}"),
            format!("$JS.API.CONSUMER.MSG.NEXT.{stream}.{consumer}"),
            format!("$JS.ACK.{stream}.{consumer}.>"),
            // Servers from 2.12 on name a domain and an account first.
            format!("$JS.ACK.*.*.{stream}.{consumer}.>"),
        ]);
    }
    let subscribe = [
        format!("{}.>", names::inbox(name)),
        names::ASK.to_owned(),
        names::stop(name),
    ];
    let quoted = |subjects: &[String]| {
        let quoted: Vec<String> = subjects.iter().map(|s| format!("\"{s}\"")).collect();
        quoted.join(", ")
    };
    format!(
        "    {{ nkey: {}, permissions: {{\n      publish: [{}]\n      subscribe: [{}]\n      \
         allow_responses: {{ max: 1, expires: \"1m\" }} }} }}\n",
        agent.key,
        quoted(&publish),
        quoted(&subscribe)
    )
}
