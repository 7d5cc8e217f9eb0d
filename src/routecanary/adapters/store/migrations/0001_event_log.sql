-- The event log: one chain, appended only.

-- "ROUC": tells the file from the database of another program.
PRAGMA application_id = 1380930883;

-- Which migrations made this file what it is, and which text each of them had.
CREATE TABLE migration (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL, -- SHA-256 of the migration's text
    applied TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);

CREATE TABLE event (
    seq INTEGER PRIMARY KEY CHECK (seq > 0), -- 1, 2, 3 … without a gap
    at TEXT NOT NULL CHECK (typeof(at) = 'text'), -- UTC, microseconds, sorts as time does
    model TEXT CHECK (typeof(model) IN ('text', 'null')), -- NULL = of no single model
    kind TEXT NOT NULL CHECK (typeof(kind) = 'text'),
    body TEXT NOT NULL CHECK (typeof(body) = 'text'), -- canonical JSON
    previous TEXT NOT NULL CHECK (typeof(previous) = 'text' AND length(previous) = 64),
    hash TEXT NOT NULL CHECK (typeof(hash) = 'text' AND length(hash) = 64)
);

-- The fold of one model.
CREATE INDEX event_by_model ON event (model, seq);

-- Listings of some kinds, and the last checkpoint of a model.
CREATE INDEX event_by_kind ON event (kind, model, seq);

-- Whoever writes must continue the chain where it ends.
CREATE TRIGGER event_continues_the_chain BEFORE INSERT ON event
WHEN NEW.seq <> (SELECT ifnull(max(seq), 0) FROM event) + 1
    OR NEW.previous <> ifnull((SELECT hash FROM event WHERE seq = NEW.seq - 1), printf('%064d', 0))
BEGIN
    SELECT RAISE(ABORT, 'an event must follow the last one and carry its hash');
END;

CREATE TRIGGER event_is_not_changed BEFORE UPDATE ON event
BEGIN
    SELECT RAISE(ABORT, 'an event is never changed');
END;

CREATE TRIGGER event_is_not_deleted BEFORE DELETE ON event
BEGIN
    SELECT RAISE(ABORT, 'an event is never deleted');
END;
