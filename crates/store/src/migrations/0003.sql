-- Raw: the JSON text of one verification each, as it was found. Like run records they are never changed.
CREATE TABLE verification (
    seq     INTEGER PRIMARY KEY,
    id      TEXT NOT NULL UNIQUE,
    format  INTEGER NOT NULL,
    body    TEXT NOT NULL
) STRICT;

CREATE TRIGGER verification_is_never_updated BEFORE UPDATE ON verification
BEGIN
    SELECT RAISE(ABORT, 'verifications are never changed');
END;

CREATE TRIGGER verification_is_never_deleted BEFORE DELETE ON verification
BEGIN
    SELECT RAISE(ABORT, 'verifications are never deleted');
END;

CREATE TRIGGER verification_is_never_replaced BEFORE INSERT ON verification
WHEN EXISTS (SELECT 1 FROM verification WHERE id = NEW.id OR seq = NEW.seq)
BEGIN
    SELECT RAISE(ABORT, 'verifications are never replaced');
END;
