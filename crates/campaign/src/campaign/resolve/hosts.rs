//! Resolves the hosts of a fleet, and checks which of them can measure each card.

use super::super::file::{CampaignFile, CardEntry, FileError, HostEntry};
use super::super::spec::{Card, FleetHost};
use super::entries::unique;
use super::is_plain_name;
use hakaru_report::both;
use toml::Spanned;

/// Maximum number of cards that a host measures at the same time; more is assumed to be a typing error.
const MOST_PARALLEL: u32 = 64;

/// Returns the hosts of the file.
pub(super) fn hosts(file: &CampaignFile) -> Result<Vec<FleetHost>, FileError> {
    let names = file.host.iter();
    let names = names.map(|host| (host.name.get_ref().as_str(), Some(host.name.span())));
    unique(names, |name| {
        both!(
            "duplicate host \"{name}\"",
            "ホスト「{name}」が重複しています"
        )
    })?;
    let hosts = file.host.iter().map(host).collect::<Result<Vec<_>, _>>()?;
    if let Some(recheck) = file
        .recheck
        .as_ref()
        .filter(|recheck| *recheck.get_ref() && !hosts.is_empty())
    {
        let message = both!(
            "recheck = true detects the drift of one host, but this campaign names hosts; help: use \
             order = \"interleaved\" or \"shuffled\", which spreads drift over all points",
            "recheck = trueは1台のホストのドリフトを調べますが、このキャンペーンにはhostがあります; help: order = \"interleaved\"か\
             \"shuffled\"を使うと、ドリフトが全測定点に分散します"
        );
        return Err(FileError::at(recheck, message));
    }
    file.card
        .iter()
        .try_for_each(|card| has_place(card, &hosts))?;
    if let (Some(first), true) = (file.host.first(), file.card.is_empty()) {
        let message = both!(
            "a campaign with hosts needs cards; help: add [[card]] with a host, or with the id of the card",
            "hostのあるキャンペーンにはカードが必要です; help: hostかidを指定した[[card]]を追加してください"
        );
        return Err(FileError::at(&first.name, message));
    }
    Ok(hosts)
}

fn host(entry: &HostEntry) -> Result<FleetHost, FileError> {
    let name = entry.name.get_ref();
    if !is_plain_name(name) || name.contains('.') {
        return Err(FileError::at(
            &entry.name,
            both!(
                "a host name is 1 to 60 letters, digits, `-` or `_`",
                "hostの名前は英字、数字、-、_の1〜60文字です"
            ),
        ));
    }
    let parallel = entry
        .parallel
        .as_ref()
        .map_or(1, |parallel| *parallel.get_ref());
    match entry
        .parallel
        .as_ref()
        .filter(|_| !(1..=MOST_PARALLEL).contains(&parallel))
    {
        Some(place) => Err(FileError::at(
            place,
            both!(
                "parallel = {parallel}: expected 1 to {MOST_PARALLEL}",
                "parallel = {parallel}: 1〜{MOST_PARALLEL}を指定してください"
            ),
        )),
        None => Ok(FleetHost {
            name: name.clone(),
            parallel,
        }),
    }
}

/// Checks that the host of a card is one of the file, and that a card without a host can be found by its ID.
fn has_place(card: &CardEntry, hosts: &[FleetHost]) -> Result<(), FileError> {
    match &card.host {
        Some(named) if hosts.iter().any(|host| host.name == *named.get_ref()) => Ok(()),
        Some(named) => {
            let name = named.get_ref();
            let known: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
            let message = match known.is_empty() {
                true => both!(
                    "host = \"{name}\": the campaign has no hosts; help: add [[host]] with name = \"{name}\"",
                    "host = \"{name}\": キャンペーンにホストがありません; help: name = \"{name}\"の[[host]]を追加してください"
                ),
                false => both!(
                    "unknown host \"{name}\": expected one of {}",
                    "ホスト「{name}」はありません（{}）";
                    known.join(", ")
                ),
            };
            Err(FileError::at(named, message))
        }
        None if hosts.is_empty() || can_be_found(card) => Ok(()),
        None => {
            let label = card.label.as_ref();
            let message = both!(
                "the card `{}` could be on any host; help: give it a host, or its id if it is in a reader",
                "カード「{}」のホストが分かりません; help: hostを指定するか、リーダーのカードにはidを指定してください";
                label.map_or("", |label| label.get_ref().as_str())
            );
            Err(FileError {
                message,
                span: label.map(Spanned::span),
            })
        }
    }
}

/// Whether the hosts can tell which of them has a card.
fn can_be_found(card: &CardEntry) -> bool {
    let id = card.id.as_ref().map(|id| id.get_ref().trim());
    let named = id.is_some_and(|id| !id.is_empty() && id != "ask");
    named && card.folder.is_none() && card.simulate.is_none()
}

/// Makes the host the variant of cards that several hosts measure.
pub(super) fn distinguish_by_host(cards: &mut [Card]) {
    let shared: Vec<bool> = cards
        .iter()
        .map(|card| {
            let others = cards.iter().filter(|other| other.host != card.host);
            let mut same = others.filter(|other| card.id.is_some() && other.id == card.id);
            card.variant.is_none() && same.next().is_some()
        })
        .collect();
    for (card, _) in cards.iter_mut().zip(shared).filter(|(_, shared)| *shared) {
        card.variant.clone_from(&card.host);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::parse;

    fn file(entries: &str) -> String {
        format!(
            "name = \"x\"\n{entries}\n[[layer]]\nfs = \"raw\"\n[[workload]]\nsuite = [\"seq-read\"]\npace = \"quick\"\n"
        )
    }

    fn message(entries: &str) -> String {
        parse(&file(entries)).unwrap_err().message
    }

    const HOSTS: &str = "[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\nparallel = 2\n";

    #[test]
    fn one_card_on_two_hosts_has_the_hosts_as_variants() {
        let card =
            |host: &str| format!("[[card]]\nlabel = \"{host}\"\nid = \"0x1\"\nhost = \"{host}\"\n");
        let campaign = parse(&file(&format!("{HOSTS}{}{}", card("a"), card("b")))).unwrap();
        let variants: Vec<_> = campaign
            .cards
            .iter()
            .map(|card| card.variant.as_deref())
            .collect();
        assert_eq!(variants, [Some("a"), Some("b")]);
        let parallel: Vec<u32> = campaign.hosts.iter().map(|host| host.parallel).collect();
        assert_eq!(parallel, [1, 2]);
        let alone = parse(&file(&format!("{HOSTS}{}", card("a")))).unwrap();
        assert_eq!(alone.cards[0].variant, None);
    }

    #[test]
    fn a_card_has_a_host_or_can_be_found() {
        let found = format!("{HOSTS}[[card]]\nid = \"0x1\"\n");
        assert_eq!(parse(&file(&found)).unwrap().cards[0].host, None);
        let anywhere = format!("{HOSTS}[[card]]\nlabel = \"y\"\nfolder = \"/tmp\"\n");
        assert!(message(&anywhere).contains("give it a host"));
        let unknown = format!("{HOSTS}[[card]]\nid = \"0x1\"\nhost = \"c\"\n");
        assert!(message(&unknown).contains("expected one of a, b"));
        assert!(message("[[card]]\nid = \"0x1\"\nhost = \"c\"\n").contains("add [[host]]"));
        assert!(message(HOSTS).contains("needs cards"));
        let twice = "[[host]]\nname = \"a\"\n[[host]]\nname = \"a\"\n[[card]]\nid = \"0x1\"\n";
        assert!(message(twice).contains("duplicate host"));
        for name in ["a.b", "", "a b", "a/b", "*"] {
            let odd = format!("[[host]]\nname = \"{name}\"\n[[card]]\nid = \"0x1\"\n");
            assert!(message(&odd).contains("a host name is"), "{name}");
        }
        let recheck = format!("recheck = true\n{HOSTS}[[card]]\nid = \"0x1\"\n");
        assert!(message(&recheck).contains("drift"));
    }
}
