-- The file as it stands after all migrations, for reading. It is never executed by the store; a test proves
-- that `migrations/` makes exactly this. Reasons stand beside each statement there.

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
WHEN OLD.seq > (SELECT ifnull(max(through), 0) FROM pruning)
BEGIN
    SELECT RAISE(ABORT, 'an event is never deleted but by a pruning');
END;

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

CREATE TABLE outbox (
    number INTEGER PRIMARY KEY, -- order of writing
    message TEXT NOT NULL CHECK (typeof(message) = 'text'), -- the message's id
    channel TEXT NOT NULL CHECK (typeof(channel) = 'text'),
    at TEXT NOT NULL CHECK (typeof(at) = 'text'), -- UTC, microseconds
    body TEXT NOT NULL CHECK (typeof(body) = 'text'), -- a JSON object
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (typeof(attempts) = 'integer'),
    next_at TEXT NOT NULL CHECK (typeof(next_at) = 'text'), -- not tried before
    problem TEXT CHECK (typeof(problem) IN ('text', 'null')), -- of the last attempt, if it failed
    UNIQUE (message, channel)
);

-- What is due on a channel.
CREATE INDEX outbox_by_channel ON outbox (channel, state, number);

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
-- Times are microseconds since 1970 in UTC.
CREATE TABLE generation (
    number INTEGER PRIMARY KEY AUTOINCREMENT, -- order of keeping; never given twice, a reader remembers its place
    received_us INTEGER NOT NULL CHECK (typeof(received_us) = 'integer'),
    key TEXT NOT NULL UNIQUE CHECK (typeof(key) = 'text'), -- told twice, it is kept once
    source TEXT NOT NULL CHECK (typeof(source) = 'text'), -- who told
    model TEXT NOT NULL CHECK (typeof(model) = 'text'),
    started_us INTEGER NOT NULL CHECK (typeof(started_us) = 'integer'),
    id TEXT CHECK (typeof(id) IN ('text', 'null')), -- the gateway's
    provider TEXT CHECK (typeof(provider) IN ('text', 'null')), -- display name
    candidates TEXT CHECK (typeof(candidates) IN ('text', 'null')), -- tags, sorted, a space between
    carried TEXT CHECK (typeof(carried) IN ('text', 'null')), -- likewise
    unchanged TEXT CHECK (typeof(unchanged) IN ('text', 'null')), -- why it went out without the list
    list_written_us INTEGER CHECK (typeof(list_written_us) IN ('integer', 'null')),
    ttft_ms INTEGER CHECK (typeof(ttft_ms) IN ('integer', 'null')),
    duration_ms INTEGER CHECK (typeof(duration_ms) IN ('integer', 'null')),
    status INTEGER CHECK (typeof(status) IN ('integer', 'null')),
    finish_reason TEXT CHECK (typeof(finish_reason) IN ('text', 'null')),
    empty INTEGER CHECK (empty IN (0, 1)), -- NULL = not said
    prompt_tokens INTEGER CHECK (typeof(prompt_tokens) IN ('integer', 'null')),
    completion_tokens INTEGER CHECK (typeof(completion_tokens) IN ('integer', 'null')),
    conversation TEXT CHECK (typeof(conversation) IN ('text', 'null')), -- opaque
    locale TEXT CHECK (typeof(locale) IN ('text', 'null'))
);

-- One model's traffic in a window of time, and what is old.
CREATE INDEX generation_by_model ON generation (model, started_us);

-- Another teller of the same generation, and a complaint that names it.
CREATE UNIQUE INDEX generation_by_id ON generation (id) WHERE id IS NOT NULL;

-- One conversation.
CREATE INDEX generation_by_conversation ON generation (conversation, started_us) WHERE conversation IS NOT NULL;
