-- Transcripts: the evidence, beside the events that follow from it.

CREATE TABLE transcript (
    number INTEGER PRIMARY KEY, -- order of keeping
    id TEXT NOT NULL UNIQUE CHECK (typeof(id) = 'text'), -- the round's second and a hash of the content
    seq INTEGER REFERENCES event (seq), -- the last event of the same append; NULL = kept alone
    at TEXT NOT NULL CHECK (typeof(at) = 'text'), -- the round's time: UTC, microseconds
    model TEXT NOT NULL CHECK (typeof(model) = 'text'),
    route TEXT CHECK (typeof(route) IN ('text', 'null')),
    kind TEXT NOT NULL CHECK (typeof(kind) = 'text'), -- of the probe
    locale TEXT CHECK (typeof(locale) IN ('text', 'null')),
    attempt INTEGER NOT NULL CHECK (typeof(attempt) = 'integer'),
    failed INTEGER NOT NULL CHECK (failed IN (0, 1)), -- whether a verdict is a fail
    verdicts TEXT NOT NULL CHECK (typeof(verdicts) = 'text'), -- JSON list, one item a contract
    format INTEGER NOT NULL CHECK (typeof(format) = 'integer'), -- of data; see codec.py
    data BLOB NOT NULL CHECK (typeof(data) = 'blob') -- last, so that a listing does not walk through it
);

-- One model's history, and one route's.
CREATE INDEX transcript_by_model ON transcript (model, at);
CREATE INDEX transcript_by_route ON transcript (model, route, at);

-- The same content in the same round is kept once. REPLACE would delete without asking the trigger below.
CREATE TRIGGER transcript_is_kept_once BEFORE INSERT ON transcript
WHEN EXISTS (SELECT 1 FROM transcript WHERE id = NEW.id)
    OR EXISTS (SELECT 1 FROM transcript WHERE number = NEW.number)
BEGIN
    SELECT RAISE(IGNORE);
END;

CREATE TRIGGER transcript_is_not_changed BEFORE UPDATE ON transcript
BEGIN
    SELECT RAISE(ABORT, 'a transcript is never changed');
END;

CREATE TRIGGER transcript_is_not_deleted BEFORE DELETE ON transcript
BEGIN
    SELECT RAISE(ABORT, 'a transcript is never deleted');
END;
