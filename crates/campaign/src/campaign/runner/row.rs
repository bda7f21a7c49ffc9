//! The queue of cards: selects the next card, asks the operator for it, and skips cards that fail too often.

use super::super::card_finder::{CardSearch, FoundCard};
use super::super::operator::OperatorReply;
use super::super::outcome::{CampaignError, CampaignOutcome};
use super::super::spec::{Card, CardLocation};
use super::{CardOutcome, Runner};
use hakaru_model::facts::Identity;
use hakaru_report::both;
use std::time::{Duration, Instant};

/// Time to wait for a disconnected card: after a loose contact or a reset of the reader it is back within seconds.
const RETURN: Duration = Duration::from_secs(10);

/// Interval of searches during the wait.
const LOOK: Duration = Duration::from_millis(500);

/// The next step.
pub(super) enum NextCard {
    /// Measure the card at this index of the queue; it is present.
    Card(usize, FoundCard),
    /// Skip the card at this index of the queue.
    Without(usize),
    Stop,
}

impl Runner<'_> {
    pub(super) fn all_cards(&mut self) -> Result<CampaignOutcome, CampaignError> {
        let mut end = self.cards_of(self.campaign.wanted_cards().collect())?;
        let recheck = self.campaign.rechecked();
        if let (None, Some((first, _)), true) = (&end, recheck, self.all_are_done()?) {
            self.rechecking = true;
            end = self.cards_of(vec![first])?;
        }
        Ok(end.unwrap_or_else(|| self.end()))
    }

    /// Whether all cards are measured, so that time has passed since the first one.
    fn all_are_done(&mut self) -> Result<bool, CampaignError> {
        let campaign = self.campaign;
        for card in campaign.wanted_cards() {
            if !self.is_done(card)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the outcome of a campaign whose cards are all done or skipped.
    pub(super) fn end(&self) -> CampaignOutcome {
        if self.failures.is_empty() && self.skipped.is_empty() {
            CampaignOutcome::Complete
        } else {
            CampaignOutcome::Incomplete
        }
    }

    /// Measures these cards one after another; returns `None` when no card is left.
    fn cards_of(
        &mut self,
        mut waiting: Vec<usize>,
    ) -> Result<Option<CampaignOutcome>, CampaignError> {
        while !waiting.is_empty() {
            if self.is_stopped() {
                return Ok(Some(CampaignOutcome::Stopped));
            }
            let (place, found) = match self.next_card(&waiting)? {
                NextCard::Card(place, found) => (place, found),
                NextCard::Without(place) => {
                    waiting.remove(place);
                    continue;
                }
                NextCard::Stop => return Ok(Some(CampaignOutcome::Stopped)),
            };
            let card = waiting[place];
            match self.card(card, found)? {
                // The card stays first in the queue and is requested again.
                CardOutcome::Gone if !self.is_given_up(card) => {
                    waiting[..=place].rotate_right(1);
                    self.await_return(card);
                }
                CardOutcome::Done | CardOutcome::Gone => _ = waiting.remove(place),
                CardOutcome::Ends(end) => return Ok(Some(end)),
            }
        }
        Ok(None)
    }

    /// Counts a disconnect; returns whether the card has too many of them without a stored run in between.
    pub(super) fn is_given_up(&mut self, card: usize) -> bool {
        self.cards[card].disconnects += 1;
        let times = self.cards[card].disconnects;
        let given_up = times >= self.most_failures();
        if given_up {
            let why = both!(
                "stopped: it was disconnected {times} times with no run stored in between",
                "測定を保存できないまま{times}回取り外されたため終了しました"
            );
            self.skip(card, why);
        }
        given_up
    }

    /// Waits for a disconnected card before the operator is asked for it or it is skipped.
    pub(super) fn await_return(&self, card: usize) {
        let card = &self.campaign.cards[card];
        let until = Instant::now() + RETURN;
        let waits =
            || self.finder().recognises(card) && !self.is_stopped() && Instant::now() < until;
        while waits() && !matches!(self.finder().look(card), CardSearch::Found(_)) {
            std::thread::sleep(LOOK);
        }
    }

    /// Returns the first card that is present; if there is none, asks for the first one.
    fn next_card(&mut self, waiting: &[usize]) -> Result<NextCard, CampaignError> {
        let mut first_why = None;
        for (place, &card) in waiting.iter().enumerate() {
            if self.is_done(card)? {
                return Ok(NextCard::Without(place));
            }
            match self.finder().look(&self.campaign.cards[card]) {
                CardSearch::Found(found) => return Ok(NextCard::Card(place, found)),
                CardSearch::NotThere(why) => {
                    first_why.get_or_insert((place, why));
                }
            }
        }
        let Some((place, why)) = first_why else {
            return Ok(NextCard::Stop);
        };
        Ok(self.ask(place, &self.campaign.cards[waiting[place]], why))
    }

    /// Whether all points of a card are stored, as far as known without the card.
    pub(super) fn is_done(&mut self, card: usize) -> Result<bool, CampaignError> {
        let label = &self.campaign.cards[card].label;
        let Some(key) = self.journal.key_of(label).map(str::to_owned) else {
            return Ok(false);
        };
        Ok(self.open_points(card, &key)?.is_empty())
    }

    /// Returns the reason if a different card is mounted at a directory that was measured under this label.
    pub(super) fn exchanged_below(
        &self,
        card: usize,
        key: &str,
    ) -> Result<Option<String>, CampaignError> {
        let Card {
            label,
            location: CardLocation::Folder(folder),
            ..
        } = &self.campaign.cards[card]
        else {
            return Ok(None);
        };
        let Some(before) = self.a_run_of(key)?.map(|run| run.target) else {
            return Ok(None);
        };
        let now = hakaru_device::recognise(folder, &self.roots);
        Ok(another_device(&before, &now).map(|(before, now)| {
            let folder = folder.display();
            both!(
                "{folder} is on {now}, but the stored runs of {label} were measured on {before}; \
                help: mount that device, or give this one its own label",
                "{folder}は{now}上にありますが、{label}の保存済みの測定は{before}で測ったものです; \
                help: そのデバイスをマウントするか、別のラベルを付けてください"
            )
        }))
    }

    pub(super) fn ask(&mut self, place: usize, card: &Card, mut why: String) -> NextCard {
        loop {
            let seen = self.finder().seen(card);
            let look = match self.operator.insert(card, &why, &seen) {
                OperatorReply::LookAgain => self.finder().look(card),
                OperatorReply::Here(node) => self.finder().take(card, &node),
                OperatorReply::Skip => {
                    self.publish_skip(&card.label, &why);
                    self.skipped.push((card.label.clone(), why));
                    return NextCard::Without(place);
                }
                OperatorReply::Stop => return NextCard::Stop,
            };
            match look {
                CardSearch::Found(found) => return NextCard::Card(place, found),
                CardSearch::NotThere(because) => why = because,
            }
            if self.is_stopped() {
                return NextCard::Stop;
            }
        }
    }
}

/// Returns the serial numbers below a directory before and now, if both are known and differ.
fn another_device(before: &Identity, now: &Identity) -> Option<(String, String)> {
    let serial = |identity: &Identity| identity.device.known()?.serial.known().cloned();
    let named = |identity: &Identity| {
        Identity {
            label: None,
            ..identity.clone()
        }
        .display_name()
    };
    (serial(before)? != serial(now)?).then(|| (named(before), named(now)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hakaru_model::facts::{DeviceIdentity, Fact, TargetKind, UnknownReason};

    /// Regression: two cards mounted at the same directory one after another appeared as one card in the report.
    #[test]
    fn notices_another_card_below_a_directory_by_its_serial() {
        let unknown = [
            "serial",
            "rotational",
            "scheduler",
            "write_cache",
            "max_sectors_kb",
            "nr_requests",
            "discard_max",
            "zoned",
        ];
        let unknown: String = unknown
            .map(|name| format!("\"{name}\": {{\"unknown\": \"\"}}, "))
            .concat();
        let device = format!(
            r#"{{ {unknown} "node": "/dev/sda", "kname": "sda", "model": {{"known": "SE32G"}}, "size": 1024, "card": null,
            "logical_block": 512, "physical_block": 512, "read_only": false, "chain": [], "bus": {{"type": "virtio"}} }}"#
        );
        let mut device: DeviceIdentity = serde_json::from_str(&device).unwrap();
        let mut labelled = |serial: Option<&str>| {
            let hidden = || Fact::Unknown(UnknownReason::Hidden);
            device.serial = serial.map_or_else(hidden, |serial| Fact::Known(serial.to_owned()));
            Identity {
                path: "/mnt".into(),
                kind: TargetKind::Directory,
                filesystem: None,
                device: Fact::Known(device.clone()),
                system_disk: false,
                label: Some("photos".to_owned()),
            }
        };
        let mut exchanged = |before, now| another_device(&labelled(before), &labelled(now));
        assert_eq!(
            exchanged(Some("0x1"), Some("0x2")),
            Some(("SE32G (0x1)".to_owned(), "SE32G (0x2)".to_owned()))
        );
        assert_eq!(
            [
                exchanged(Some("0x1"), Some("0x1")),
                exchanged(None, Some("0x2")),
                exchanged(Some("0x1"), None)
            ],
            [None, None, None]
        );
    }
}
