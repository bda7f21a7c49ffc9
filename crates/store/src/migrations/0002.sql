-- Derived from record.body: which point of which campaign a run is. No record of the first schema has one.
CREATE TABLE point (
    run         TEXT PRIMARY KEY NOT NULL REFERENCES run (id),
    campaign    TEXT NOT NULL,
    host        TEXT NOT NULL,
    card        TEXT NOT NULL,
    label       TEXT NOT NULL,
    layer       TEXT NOT NULL,
    workload    TEXT NOT NULL,
    repeat      INTEGER NOT NULL,
    definition  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX point_by_campaign ON point (campaign, host, card, layer, workload, repeat);
