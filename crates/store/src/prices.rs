//! Prices of cards.

use crate::{Store, StoreError};
use hakaru_model::price::Price;
use rusqlite::params;

impl Store {
    /// Stores the price of a card, given by its ID or label; it replaces the price before.
    ///
    /// # Errors
    /// [`StoreError`]; nothing is stored then.
    pub fn set_price(&mut self, card: &str, price: &Price) -> Result<(), StoreError> {
        let sql = "INSERT INTO price (card, price) VALUES (?1, ?2)
             ON CONFLICT (card) DO UPDATE SET price = excluded.price";
        let stored = self
            .connection
            .execute(sql, params![card, price.to_string()]);
        stored.map_err(self.failed("store a price"))?;
        self.settle();
        Ok(())
    }

    /// Returns the price of a card, given by its ID or label; case is ignored.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be read.
    pub fn price(&self, card: &str) -> Result<Option<Price>, StoreError> {
        let select = || -> rusqlite::Result<Option<String>> {
            use rusqlite::OptionalExtension;
            self.connection
                .prepare_cached("SELECT price FROM price WHERE card = ?1")?
                .query_row([card], |row| row.get(0))
                .optional()
        };
        let text = select().map_err(self.failed("read a price"))?;
        Ok(text.and_then(|text| text.parse().ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_price_of_a_card_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.db");
        let price = |text: &str| text.parse::<Price>().unwrap();
        let mut store = Store::open(path.clone()).unwrap();
        store.set_price("kingston", &price("680 yen")).unwrap();
        store.set_price("Kingston", &price("12.50EUR")).unwrap();
        drop(store);
        let store = Store::read(path).unwrap();
        assert_eq!(store.price("KINGSTON").unwrap(), Some(price("12.50EUR")));
        assert_eq!(store.price("sandisk").unwrap(), None);
    }
}
