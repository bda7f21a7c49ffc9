//! Which host measures which cards.

use super::HostState;
use super::dispatched::DispatchedJob;
use crate::message::{AnnouncedDevice, ErasePermission};
use hakaru_campaign::campaign::spec::{Campaign, Card, CardLocation};
use std::collections::{BTreeMap, BTreeSet};

/// A card that a campaign would erase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EraseQuestion {
    /// Label of the card in the campaign.
    pub card: String,
    /// Host that has it.
    pub host: String,
    /// ID that the card must have.
    pub id: String,
    /// Name of the device, if the host announced it.
    pub name: Option<String>,
    /// Its size in bytes, if known.
    pub size: Option<u64>,
}

/// The cards of one host that are measured in one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AssignedCards {
    pub(super) host: String,
    pub(super) cards: Vec<String>,
    pub(super) permissions: Vec<ErasePermission>,
}

/// Jobs to send, and cards that are not measured, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobAssignment {
    pub(super) jobs: Vec<AssignedCards>,
    pub(super) skipped: Vec<(String, String)>,
}

/// What decides which host measures a card.
pub(super) struct Assigner<'a> {
    pub(super) campaign: &'a Campaign,
    pub(super) hosts: &'a [HostState],
    /// Labels of cards with points that are not stored.
    pub(super) open: &'a BTreeSet<String>,
    /// Jobs that were sent before and have not ended.
    pub(super) outstanding: &'a [DispatchedJob],
    /// Decides whether a card may be erased.
    pub(super) permit: &'a mut dyn FnMut(&EraseQuestion) -> bool,
    /// End of the permissions, by the clock of the server.
    pub(super) until_unix_ms: i64,
}

impl Assigner<'_> {
    /// Assigns all open cards. Cards of one host form one job if cards take turns, and one job each otherwise.
    pub(super) fn assign(mut self) -> JobAssignment {
        let mut assignment = JobAssignment::default();
        let mut by_host: BTreeMap<String, AssignedCards> = BTreeMap::new();
        let campaign = self.campaign;
        for index in campaign.wanted_cards() {
            let card = &campaign.cards[index];
            if !self.open.contains(&card.label) || self.is_outstanding(&card.label) {
                continue;
            }
            match self.card(index, card) {
                Ok(one) if campaign.card_order.takes_turns() => {
                    let all = by_host.entry(one.host.clone()).or_default();
                    all.host = one.host;
                    all.cards.extend(one.cards);
                    all.permissions.extend(one.permissions);
                }
                Ok(one) => assignment.jobs.push(one),
                Err(why) => assignment.skipped.push((card.label.clone(), why)),
            }
        }
        assignment.jobs.extend(by_host.into_values());
        assignment
    }

    fn is_outstanding(&self, label: &str) -> bool {
        let mut jobs = self.outstanding.iter();
        jobs.any(|job| job.cards.iter().any(|card| card == label))
    }

    /// Assigns one card. The error is the reason why it is skipped.
    fn card(&mut self, index: usize, card: &Card) -> Result<AssignedCards, String> {
        let (host, device) = self.place(card)?;
        let mut permissions = Vec::new();
        if self.campaign.erases(index) {
            let announced = device.and_then(|device| device.ids.first());
            let Some(id) = card.id.as_ref().or(announced).cloned() else {
                return Err(both!(
                    "it would be erased, but its ID is not known: an agent erases a card only by its own ID; help: give it an id",
                    "消去が必要ですが、IDが分かりません（エージェントはカード自身のIDでのみ消去します）; help: idを指定してください"
                ));
            };
            let question = EraseQuestion {
                card: card.label.clone(),
                host: host.clone(),
                id: id.clone(),
                name: device.map(|device| device.name.clone()),
                size: device.map(|device| device.size).filter(|size| *size > 0),
            };
            if !(self.permit)(&question) {
                return Err(both!("no permission to erase it", "消去の許可がありません"));
            }
            permissions.push(ErasePermission {
                card: card.label.clone(),
                id,
                until_unix_ms: self.until_unix_ms,
            });
        }
        Ok(AssignedCards {
            host,
            cards: vec![card.label.clone()],
            permissions,
        })
    }

    /// Returns the host of a card, and the device if the host announced it.
    fn place(&self, card: &Card) -> Result<(String, Option<&AnnouncedDevice>), String> {
        let of_campaign =
            |host: &&HostState| self.campaign.hosts.iter().any(|of| of.name == host.name);
        if let Some(name) = &card.host {
            let Some(host) = self.hosts.iter().find(|host| host.name == *name) else {
                return Err(both!(
                    "the host {name} is not in the fleet; help: hakaru fleet enroll",
                    "ホスト{name}はフリートに登録されていません; help: hakaru fleet enroll"
                ));
            };
            return Ok((name.clone(), device_of(host, card)));
        }
        let found = self.hosts.iter().filter(of_campaign);
        let found: Vec<_> = found
            .filter_map(|host| Some((host, device_of(host, card)?)))
            .collect();
        match &found[..] {
            [(host, device)] => Ok((host.name.clone(), Some(device))),
            [] => Err(both!(
                "no host of the campaign announces a card with its ID; help: insert it, and check with `hakaru fleet devices`",
                "このIDのカードがキャンペーンのどのホストにもありません; help: カードを挿入し、hakaru fleet devicesで確認してください"
            )),
            several => {
                let names: Vec<&str> = several.iter().map(|(host, _)| host.name.as_str()).collect();
                let names = names.join(", ");
                Err(both!(
                    "{names} all announce a card with its ID, which is one card; help: name its host with host =",
                    "{names}が同じIDのカードを申告しています; help: host =でホストを指定してください"
                ))
            }
        }
    }
}

/// Returns the announced device that is a card: by its ID, or at its node.
fn device_of<'h>(host: &'h HostState, card: &Card) -> Option<&'h AnnouncedDevice> {
    let devices = &host.hello.as_ref()?.devices;
    match (&card.id, &card.location) {
        (Some(id), _) => devices.iter().find(|device| {
            let mut ids = device.ids.iter();
            ids.any(|known| known.eq_ignore_ascii_case(id))
        }),
        (None, CardLocation::Reader { node: Some(node) }) => devices
            .iter()
            .find(|device| node.as_os_str() == device.node.as_str()),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::HostHello;
    use hakaru_campaign::campaign::resolve::{ResolveContext, campaign};

    /// A campaign that erases one card, found by its ID.
    fn erasing() -> Campaign {
        let text = "name = \"x\"\n[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n[[card]]\nlabel = \"c\"\nid = \"0x12\"\n\
            [[layer]]\nfs = \"raw\"\n[[workload]]\nsuite = [\"seq-write\"]\npace = \"quick\"\n";
        let around = ResolveContext {
            read_file: &|_| Err("no files here".to_owned()),
            fio: &|_, _| Err("no fio here".to_owned()),
        };
        campaign(text, &around).unwrap()
    }

    fn host(name: &str, ids: &[&str]) -> HostState {
        let device = |id: &&str| AnnouncedDevice {
            node: "/dev/sda".to_owned(),
            ids: vec![(*id).to_owned()],
            ..AnnouncedDevice::default()
        };
        HostState {
            name: name.to_owned(),
            present: true,
            hello: Some(HostHello {
                devices: ids.iter().map(device).collect(),
                ..HostHello::default()
            }),
        }
    }

    fn assign(hosts: &[HostState]) -> (JobAssignment, Vec<EraseQuestion>) {
        let mut asked = Vec::new();
        let mut permit = |question: &EraseQuestion| {
            asked.push(question.clone());
            true
        };
        let assigner = Assigner {
            campaign: &erasing(),
            hosts,
            open: &BTreeSet::from(["c".to_owned()]),
            outstanding: &[],
            permit: &mut permit,
            until_unix_ms: 1,
        };
        (assigner.assign(), asked)
    }

    #[test]
    fn a_card_is_measured_where_it_is() {
        let (found, asked) = assign(&[host("a", &["0x99"]), host("b", &["0X12"])]);
        assert_eq!(found.skipped, []);
        assert_eq!((found.jobs.len(), found.jobs[0].host.as_str()), (1, "b"));
        // The permission is for the ID of the campaign, whatever the host announces.
        assert_eq!(found.jobs[0].permissions[0].id, "0x12");
        assert_eq!((asked.len(), asked[0].id.as_str()), (1, "0x12"));
    }

    /// A host that lies gets no job: two hosts cannot have one card.
    #[test]
    fn a_card_that_two_hosts_announce_is_measured_by_none() {
        let (found, asked) = assign(&[host("a", &["0x12"]), host("b", &["0x12"])]);
        assert_eq!((found.jobs.len(), asked.len()), (0, 0));
        assert!(found.skipped[0].1.contains("a, b"), "{:?}", found.skipped);
    }

    #[test]
    fn hosts_outside_the_campaign_get_no_job() {
        let (found, asked) = assign(&[host("stranger", &["0x12"])]);
        assert_eq!(
            (found.jobs.len(), asked.len(), found.skipped.len()),
            (0, 0, 1)
        );
    }
}
