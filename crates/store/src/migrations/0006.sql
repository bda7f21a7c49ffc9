-- Raw: prices of cards. The card is a unique ID of the device, or a label.
CREATE TABLE price (
    card   TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,
    price  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
