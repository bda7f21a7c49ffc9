-- Derived from record.body: one row per series, with its run that was stored last, so that a list reads no other runs.
CREATE TABLE series (
    id      TEXT PRIMARY KEY NOT NULL,
    last    INTEGER NOT NULL,
    target  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO series (id, last, target) SELECT series, max(seq), target FROM run GROUP BY series;

CREATE INDEX series_by_last ON series (last, target);
CREATE INDEX series_by_target ON series (target COLLATE NOCASE, last);

-- What runs are selected by. Most runs of a host are of one host, so its index has the time too.
CREATE INDEX run_by_model ON run (model COLLATE NOCASE) WHERE model <> '';
CREATE INDEX run_by_serial ON run (serial COLLATE NOCASE) WHERE serial <> '';
CREATE INDEX run_by_host ON run (host COLLATE NOCASE, started_unix_ms);
CREATE INDEX point_by_card ON point (card COLLATE NOCASE);
CREATE INDEX point_by_name ON point (campaign COLLATE NOCASE);

-- Which scenarios are in use.
CREATE INDEX record_by_scenario ON record (scenario);

-- Earlier versions knew no layer of simulated cards. NULL is computed again.
UPDATE run SET fingerprint = NULL WHERE imported = 0 AND layer = '';
