-- The first schema. A migration that has been released is never edited: what changes later goes into the next number.

-- Raw: the JSON text of one run record each, as it was measured or imported.
CREATE TABLE record (
    seq     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    format  INTEGER NOT NULL,
    body    TEXT NOT NULL
) STRICT;

CREATE TRIGGER record_is_never_updated BEFORE UPDATE ON record
BEGIN
    SELECT RAISE(ABORT, 'run records are never changed');
END;

CREATE TRIGGER record_is_never_deleted BEFORE DELETE ON record
BEGIN
    SELECT RAISE(ABORT, 'run records are never deleted');
END;

-- INSERT OR REPLACE deletes without asking the trigger above, so it is stopped here.
CREATE TRIGGER record_is_never_replaced BEFORE INSERT ON record
WHEN EXISTS (SELECT 1 FROM record WHERE id = NEW.id OR seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'run records are never replaced');
END;

-- Derived from record.body, to list and to filter by.
CREATE TABLE run (
    id              TEXT PRIMARY KEY NOT NULL REFERENCES record (id),
    series          TEXT NOT NULL,
    repeat          INTEGER NOT NULL,
    started_unix_ms INTEGER NOT NULL,
    scenario        TEXT NOT NULL,
    target          TEXT NOT NULL,
    origin          TEXT NOT NULL,
    imported        INTEGER NOT NULL,
    outcome         TEXT NOT NULL,
    format          INTEGER NOT NULL,
    phases          INTEGER NOT NULL,
    ios             INTEGER NOT NULL,
    bytes           INTEGER NOT NULL,
    errors          INTEGER NOT NULL,
    caveats         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX run_by_start ON run (started_unix_ms, id);
CREATE INDEX run_by_series ON run (series, repeat, id);
CREATE INDEX run_by_scenario ON run (scenario, started_unix_ms);

-- Derived from record.body: totals of each phase and operation.
CREATE TABLE phase (
    run         TEXT NOT NULL REFERENCES run (id),
    idx         INTEGER NOT NULL,
    op          TEXT NOT NULL,
    name        TEXT NOT NULL,
    ios         INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    runtime_ns  INTEGER NOT NULL,
    PRIMARY KEY (run, idx, op)
) STRICT, WITHOUT ROWID;

CREATE INDEX phase_by_name ON phase (name, op, run);
