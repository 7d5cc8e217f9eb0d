-- What is old may go: events from the log's beginning up to an anchor, transcripts by age; and nothing else.

-- One row a pruning: up to which event the log is gone, and which transcripts may be. The newest one holds.
CREATE TABLE pruning (
    number INTEGER PRIMARY KEY, -- 1, 2, 3 …
    at TEXT NOT NULL CHECK (typeof(at) = 'text'), -- UTC, microseconds
    through INTEGER NOT NULL CHECK (typeof(through) = 'integer' AND through >= 0), -- the last event pruned
    hash TEXT NOT NULL CHECK (typeof(hash) = 'text' AND length(hash) = 64), -- of that event: the chain's anchor
    passes_before TEXT NOT NULL CHECK (typeof(passes_before) = 'text'), -- transcripts that nothing failed
    failures_before TEXT NOT NULL CHECK (typeof(failures_before) = 'text') -- transcripts that something failed
);

-- Transcripts by age.
CREATE INDEX transcript_by_age ON transcript (failed, at);

-- Which transcripts an event has: asked for each event that goes.
CREATE INDEX transcript_by_seq ON transcript (seq);

-- An anchor is an event that is there, and an event after it says in the chain itself that it is one.
CREATE TRIGGER pruning_is_announced BEFORE INSERT ON pruning
WHEN NEW.number <> (SELECT ifnull(max(number), 0) FROM pruning) + 1
    OR NEW.through < (SELECT ifnull(max(through), 0) FROM pruning)
    OR (
        NEW.through > (SELECT ifnull(max(through), 0) FROM pruning)
        AND (
            NOT EXISTS (SELECT 1 FROM event WHERE seq = NEW.through AND hash = NEW.hash)
            OR NOT EXISTS (SELECT 1 FROM event WHERE kind = 'log_pruned' AND seq > NEW.through)
        )
    )
BEGIN
    SELECT RAISE(ABORT, 'a pruning must follow the last one, and the event that announces it');
END;

CREATE TRIGGER pruning_is_not_changed BEFORE UPDATE ON pruning
BEGIN
    SELECT RAISE(ABORT, 'a pruning is never changed');
END;

CREATE TRIGGER pruning_is_not_deleted BEFORE DELETE ON pruning
BEGIN
    SELECT RAISE(ABORT, 'a pruning is never deleted');
END;

DROP TRIGGER event_is_not_deleted;

CREATE TRIGGER event_is_not_deleted BEFORE DELETE ON event
WHEN OLD.seq > (SELECT ifnull(max(through), 0) FROM pruning)
BEGIN
    SELECT RAISE(ABORT, 'an event is never deleted but by a pruning');
END;

DROP TRIGGER transcript_is_not_deleted;

CREATE TRIGGER transcript_is_not_deleted BEFORE DELETE ON transcript
WHEN OLD.at >= ifnull(
    (
        SELECT CASE OLD.failed WHEN 0 THEN passes_before ELSE failures_before END
        FROM pruning ORDER BY number DESC LIMIT 1
    ),
    ''
)
BEGIN
    SELECT RAISE(ABORT, 'a transcript is never deleted but by a pruning');
END;
