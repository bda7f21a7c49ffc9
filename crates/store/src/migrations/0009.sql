-- Anatomies of cards. `completed` is 0 as long as experiments are missing; only then a later state replaces the body.
CREATE TABLE anatomy (
    seq       INTEGER PRIMARY KEY,
    id        TEXT NOT NULL UNIQUE,
    format    INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    body      TEXT NOT NULL
) STRICT;

CREATE TRIGGER complete_anatomy_is_never_updated BEFORE UPDATE ON anatomy WHEN old.completed
BEGIN
    SELECT raise(ABORT, 'complete anatomies are never changed');
END;

CREATE TRIGGER anatomy_is_never_deleted BEFORE DELETE ON anatomy
BEGIN
    SELECT raise(ABORT, 'anatomies are never deleted');
END;
