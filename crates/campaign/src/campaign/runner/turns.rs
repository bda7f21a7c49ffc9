//! Alternating cards: all cards are present at the same time, and the card changes after each run.

use super::super::card_finder::CardSearch;
use super::super::matrix::Point;
use super::super::outcome::{CampaignError, CampaignOutcome};
use super::super::prepared_target;
use super::super::spec::CardLocation;
use super::row::NextCard;
use super::{CardInUse, CardOutcome, Ready, Runner};
use hakaru_model::units::Bytes;
use hakaru_report::both;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;

/// A card that alternates with others.
struct ActiveCard {
    on: CardInUse,
    /// Its storage, prepared for this layer from the first run until the last.
    ready: Option<(usize, Ready)>,
    /// A layer that could not be prepared; it is not tried again for each of its points.
    unprepared: Option<usize>,
}

/// Result of looking for a card.
enum Met {
    Here(Box<ActiveCard>),
    Without,
    Stop,
}

type ActiveCards = BTreeMap<usize, Box<ActiveCard>>;

impl Runner<'_> {
    /// Measures all cards, one run of each in turn.
    pub(super) fn cards_in_turns(&mut self) -> Result<CampaignOutcome, CampaignError> {
        self.share_file_systems();
        let mut turns = ActiveCards::new();
        let campaign = self.campaign;
        for card in campaign.wanted_cards() {
            if self.is_stopped() {
                return Ok(CampaignOutcome::Stopped);
            }
            match self.meet(card)? {
                Met::Here(turn) => _ = turns.insert(card, turn),
                Met::Without => {}
                Met::Stop => return Ok(CampaignOutcome::Stopped),
            }
        }
        self.leave_out_swapped(&mut turns);
        let end = self.take_turns(&mut turns);
        for ready in turns.into_values().filter_map(|turn| turn.ready) {
            self.tear_down(ready.1);
        }
        Ok(end?.unwrap_or_else(|| self.end()))
    }

    /// Searches for a card, and asks for it if it is absent.
    fn meet(&mut self, card: usize) -> Result<Met, CampaignError> {
        if self.is_done(card)? {
            return Ok(Met::Without);
        }
        let found = match self.finder().look(&self.campaign.cards[card]) {
            CardSearch::Found(found) => found,
            CardSearch::NotThere(why) => match self.ask(0, &self.campaign.cards[card], why) {
                NextCard::Card(_, found) => found,
                NextCard::Without(_) => return Ok(Met::Without),
                NextCard::Stop => return Ok(Met::Stop),
            },
        };
        let admitted = self.admit(card, found)?;
        Ok(admitted.map_or(Met::Without, |(on, _)| {
            Met::Here(Box::new(ActiveCard {
                on,
                ready: None,
                unprepared: None,
            }))
        }))
    }

    /// Skips cards that were removed to insert another one.
    fn leave_out_swapped(&mut self, turns: &mut ActiveCards) {
        let is_there = |turn: &ActiveCard| {
            turn.on
                .found
                .disk
                .as_ref()
                .is_none_or(|disk| disk.is_there(&self.roots))
        };
        let gone: Vec<usize> = turns
            .iter()
            .filter(|(_, turn)| !is_there(turn))
            .map(|(card, _)| *card)
            .collect();
        for card in gone {
            turns.remove(&card);
            let why = both!(
                "it was removed before all cards were present: card-order needs a reader slot for each card",
                "全カードがそろう前に取り外されました（card-orderにはカードごとのスロットが必要です）"
            );
            self.skip(card, why);
        }
    }

    /// Returns `None` when each point is measured or skipped.
    fn take_turns(
        &mut self,
        turns: &mut ActiveCards,
    ) -> Result<Option<CampaignOutcome>, CampaignError> {
        for point in self.campaign.points_in_turns() {
            while let Some(turn) = turns.get_mut(&point.card) {
                match self.turn(turn, &point)? {
                    None if !self.has_failed_too_often(&turn.on) => break,
                    None | Some(CardOutcome::Done) => self.end_turns_of(point.card, turns),
                    Some(CardOutcome::Ends(end)) => return Ok(Some(end)),
                    Some(CardOutcome::Gone) => {
                        self.end_turns_of(point.card, turns);
                        if self.is_given_up(point.card) {
                            break;
                        }
                        self.await_return(point.card);
                        match self.meet(point.card)? {
                            Met::Here(turn) => _ = turns.insert(point.card, turn),
                            Met::Without => {}
                            Met::Stop => return Ok(Some(CampaignOutcome::Stopped)),
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    fn end_turns_of(&mut self, card: usize, turns: &mut ActiveCards) {
        if let Some((_, ready)) = turns.remove(&card).and_then(|turn| turn.ready) {
            self.tear_down(ready);
        }
    }

    /// Measures one point of a card, after preparing its layer if necessary. `Some` ends the card.
    fn turn(
        &mut self,
        turn: &mut ActiveCard,
        point: &Point,
    ) -> Result<Option<CardOutcome>, CampaignError> {
        if !self.is_open(&turn.on.found.key, point)? {
            return Ok(None);
        }
        let anew = self.campaign.preparation.each_run_anew();
        if turn.unprepared == Some(point.layer) && !anew {
            return Ok(None);
        }
        if let Some((_, ready)) = turn
            .ready
            .take_if(|(layer, _)| anew || *layer != point.layer)
        {
            self.tear_down(ready);
        }
        if turn.ready.is_none() {
            match self.make_ready(&mut turn.on, point) {
                Ok(ready) => turn.ready = Some((point.layer, ready)),
                Err(end) => {
                    turn.unprepared = Some(point.layer);
                    return Ok(end);
                }
            }
        }
        let Some((_, ready)) = &mut turn.ready else {
            return Ok(None);
        };
        self.point_of(&mut turn.on, point, ready)
    }

    /// Divides the free space of a file system equally among its directories, because their files exist at the same
    /// time.
    fn share_file_systems(&mut self) {
        let folder = |card: &usize| match &self.campaign.cards[*card].location {
            CardLocation::Folder(folder) => Some((
                *card,
                folder.metadata().ok()?.dev(),
                prepared_target::free(folder),
            )),
            CardLocation::Reader { .. } | CardLocation::Sim(_) => None,
        };
        let folders: Vec<(usize, u64, Bytes)> = self
            .campaign
            .wanted_cards()
            .collect::<Vec<_>>()
            .iter()
            .filter_map(folder)
            .collect();
        for (card, device, free) in &folders {
            let sharing = folders
                .iter()
                .filter(|(_, other, _)| other == device)
                .count() as u64;
            if sharing > 1 {
                self.cards[*card].share = Some(Bytes(free.0 / sharing));
            }
        }
    }
}
