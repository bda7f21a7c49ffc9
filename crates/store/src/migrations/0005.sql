-- Raw: labels, titles and notes that users gave to series and verifications. The newest row of a kind counts; the rows
-- before it are the history.
CREATE TABLE annotation (
    seq         INTEGER PRIMARY KEY,
    subject     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    value       TEXT NOT NULL,
    at_unix_ms  INTEGER NOT NULL
) STRICT;

CREATE INDEX annotation_by_subject ON annotation (subject, seq);

-- Derived from record.body: the file system, or raw; and whether the run was traced.
ALTER TABLE run ADD COLUMN layer TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN traced INTEGER NOT NULL DEFAULT 0;
