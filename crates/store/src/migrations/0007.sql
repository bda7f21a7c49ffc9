-- Raw: the text of a scenario, compressed, for all records that refer to it. `hash` is the FNV-1a hash of the text.
CREATE TABLE scenario (
    hash  INTEGER PRIMARY KEY,
    body  BLOB NOT NULL
) STRICT;

CREATE TRIGGER scenario_is_never_updated BEFORE UPDATE ON scenario
BEGIN
    SELECT RAISE(ABORT, 'scenarios are never changed');
END;

CREATE TRIGGER scenario_is_never_deleted BEFORE DELETE ON scenario
WHEN EXISTS (SELECT 1 FROM record WHERE scenario = OLD.hash)
BEGIN
    SELECT RAISE(ABORT, 'scenarios in use are never deleted');
END;

CREATE TRIGGER scenario_is_never_replaced BEFORE INSERT ON scenario
WHEN EXISTS (SELECT 1 FROM scenario WHERE hash = NEW.hash)
BEGIN
    SELECT RAISE(ABORT, 'scenarios are never replaced');
END;

-- From here on a record is stored compressed, in `packed`, with an empty `body`; its scenario is that of `scenario`.
ALTER TABLE record ADD COLUMN scenario INTEGER REFERENCES scenario (hash);
ALTER TABLE record ADD COLUMN packed BLOB;

-- Derived tables: rows are keyed by the number of their record, so that an index entry does not repeat the ID. The
-- columns from `fingerprint` on are NULL until they are computed from the record.
ALTER TABLE point RENAME TO point_6;
ALTER TABLE phase RENAME TO phase_6;
ALTER TABLE run RENAME TO run_6;

CREATE TABLE run (
    seq             INTEGER PRIMARY KEY REFERENCES record (seq),
    id              TEXT NOT NULL UNIQUE,
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
    caveats         INTEGER NOT NULL,
    layer           TEXT NOT NULL,
    traced          INTEGER NOT NULL,
    fingerprint     INTEGER,
    labelled        INTEGER,
    host            TEXT,
    model           TEXT,
    serial          TEXT,
    filesystem      TEXT
) STRICT;

CREATE TABLE phase (
    run         INTEGER NOT NULL REFERENCES run (seq),
    idx         INTEGER NOT NULL,
    op          TEXT NOT NULL,
    name        TEXT NOT NULL,
    ios         INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,
    runtime_ns  INTEGER NOT NULL,
    PRIMARY KEY (run, idx, op)
) STRICT, WITHOUT ROWID;

CREATE TABLE point (
    run         INTEGER PRIMARY KEY REFERENCES run (seq),
    campaign    TEXT NOT NULL,
    host        TEXT NOT NULL,
    card        TEXT NOT NULL,
    label       TEXT NOT NULL,
    layer       TEXT NOT NULL,
    workload    TEXT NOT NULL,
    repeat      INTEGER NOT NULL,
    definition  TEXT NOT NULL
) STRICT;

INSERT INTO run (seq, id, series, repeat, started_unix_ms, scenario, target, origin, imported, outcome, format, phases,
                 ios, bytes, errors, caveats, layer, traced)
SELECT record.seq, run_6.id, series, repeat, started_unix_ms, run_6.scenario, target, origin, imported, outcome,
       run_6.format, phases, ios, bytes, errors, caveats, layer, traced
FROM run_6 JOIN record ON record.id = run_6.id ORDER BY record.seq;

INSERT INTO phase (run, idx, op, name, ios, bytes, runtime_ns)
SELECT run.seq, idx, op, name, phase_6.ios, phase_6.bytes, runtime_ns
FROM phase_6 JOIN run ON run.id = phase_6.run ORDER BY run.seq, idx, op;

INSERT INTO point (run, campaign, host, card, label, layer, workload, repeat, definition)
SELECT run.seq, campaign, point_6.host, card, label, point_6.layer, workload, point_6.repeat, definition
FROM point_6 JOIN run ON run.id = point_6.run ORDER BY run.seq;

DROP TABLE point_6;
DROP TABLE phase_6;
DROP TABLE run_6;

CREATE INDEX run_by_start ON run (started_unix_ms, id);
CREATE INDEX run_by_series ON run (series, repeat);
CREATE INDEX run_by_target ON run (target COLLATE NOCASE, scenario, repeat);
CREATE INDEX run_by_fingerprint ON run (fingerprint);
CREATE INDEX point_by_campaign ON point (campaign, host, card, layer, workload, repeat);
