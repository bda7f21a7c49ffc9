-- What a campaign was asked to be, as it was last carried out: its file, and the files that it names. Each run has its own
-- scenario in its record; this is for whoever asks for a report without having the file.
CREATE TABLE campaign (
    id     TEXT PRIMARY KEY NOT NULL,
    asked  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
