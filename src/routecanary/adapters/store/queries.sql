-- Every statement of the store, each under its name. `queries.py` reads this file.

-- name: head
-- The last event's number and hash.
SELECT seq, hash FROM event ORDER BY seq DESC LIMIT 1;

-- name: append_event
INSERT INTO event (seq, at, model, kind, body, previous, hash) VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: events_after
-- A page of the log.
SELECT seq, at, model, kind, body, previous, hash FROM event
WHERE seq > :after
ORDER BY seq LIMIT :limit;

-- name: events_after_of_model
SELECT seq, at, model, kind, body, previous, hash FROM event
WHERE model = :model AND seq > :after
ORDER BY seq LIMIT :limit;

-- name: events_after_of_kinds
-- The inner query picks numbers from the index alone, so a rare kind costs no walk through the bodies.
-- `kinds` is a JSON list; `model` may be NULL for all.
SELECT seq, at, model, kind, body, previous, hash FROM event
WHERE seq IN (
    SELECT seq FROM event
    WHERE kind IN (SELECT value FROM json_each(:kinds))
        AND (:model IS NULL OR model = :model) AND seq > :after
    ORDER BY seq LIMIT :limit
)
ORDER BY seq;

-- name: newest_events
SELECT seq, at, model, kind, body, previous, hash FROM event
ORDER BY seq DESC LIMIT :limit;

-- name: newest_events_of_model
SELECT seq, at, model, kind, body, previous, hash FROM event
WHERE model = :model
ORDER BY seq DESC LIMIT :limit;

-- name: newest_events_of_kinds
SELECT seq, at, model, kind, body, previous, hash FROM event
WHERE seq IN (
    SELECT seq FROM event
    WHERE kind IN (SELECT value FROM json_each(:kinds)) AND (:model IS NULL OR model = :model)
    ORDER BY seq DESC LIMIT :limit
)
ORDER BY seq DESC;

-- name: last_event_of_kind
-- The last checkpoint of a model: one step in the index by kind.
SELECT seq, at, model, kind, body, previous, hash FROM event
WHERE kind = :kind AND model = :model
ORDER BY seq DESC LIMIT 1;

-- name: models
-- Hops from one model to the next in the index by model, however many events each has.
WITH RECURSIVE found (model) AS (
    SELECT min(model) FROM event
    UNION ALL
    SELECT (SELECT min(event.model) FROM event WHERE event.model > found.model) FROM found
    WHERE found.model IS NOT NULL
)
SELECT model FROM found WHERE model IS NOT NULL;

-- name: count_events
SELECT count(*) FROM event;

-- name: count_events_of_model
SELECT count(*) FROM event WHERE model = :model;

-- name: count_events_of_kinds
SELECT count(*) FROM event
WHERE kind IN (SELECT value FROM json_each(:kinds)) AND (:model IS NULL OR model = :model);

-- name: keep_transcript
-- What is there already stays as it is: a trigger sees to it.
INSERT INTO transcript
    (id, seq, at, model, route, kind, locale, attempt, failed, verdicts, format, data)
VALUES (:id, :seq, :at, :model, :route, :kind, :locale, :attempt, :failed, :verdicts, :format, :data);

-- name: transcript
SELECT
    number, id, seq, at, model, route, kind, locale, attempt, verdicts, length(data) AS size, format, data
FROM transcript WHERE id = :id;

-- name: transcripts_of_model
-- A page of one model's transcripts, newest first; (`at`, `number`) is where the page before ended.
SELECT number, id, seq, at, model, route, kind, locale, attempt, verdicts, length(data) AS size
FROM transcript
WHERE model = :model AND at >= :since AND (at, number) < (:at, :number)
    AND (:kind IS NULL OR kind = :kind) AND (:failed IS NULL OR failed = :failed)
ORDER BY at DESC, number DESC LIMIT :limit;

-- name: transcripts_of_route
SELECT number, id, seq, at, model, route, kind, locale, attempt, verdicts, length(data) AS size
FROM transcript
WHERE model = :model AND route = :route AND at >= :since AND (at, number) < (:at, :number)
    AND (:kind IS NULL OR kind = :kind) AND (:failed IS NULL OR failed = :failed)
ORDER BY at DESC, number DESC LIMIT :limit;

-- name: put_outgoing
INSERT INTO outbox (message, channel, at, body, next_at) VALUES (:message, :channel, :at, :body, :at);

-- name: due_outgoing
-- The oldest message of a channel that may be tried now. A time beyond `horizon` was written by a clock that
-- has stepped back since: nobody waits for it.
SELECT number, message, channel, at, body, attempts FROM outbox
WHERE channel = :channel AND state = 'pending' AND (next_at <= :now OR next_at > :horizon)
ORDER BY number LIMIT 1;

-- name: lease_outgoing
UPDATE outbox SET attempts = attempts + 1, next_at = :next_at WHERE number = :number;

-- name: settle_outgoing
-- Only what is pending: of two who delivered the same message, the slower one changes nothing.
UPDATE outbox SET state = :state, next_at = :next_at, problem = :problem
WHERE number = :number AND state = 'pending';

-- name: tally_outbox
SELECT channel, state, count(*) AS messages, min(at) AS oldest FROM outbox
GROUP BY channel, state ORDER BY channel, state;

-- name: outbox_problems
-- Of each channel, what the newest message that was tried met.
SELECT channel, problem FROM outbox AS tried
WHERE number = (SELECT max(number) FROM outbox WHERE channel = tried.channel AND attempts > 0);

-- name: forget_outgoing
DELETE FROM outbox WHERE state <> 'pending' AND at < :before;

-- name: anchor
-- The last event that was pruned.
SELECT through, hash FROM pruning WHERE through > 0 ORDER BY number DESC LIMIT 1;

-- name: last_pruning
SELECT number, at, through, hash, passes_before, failures_before FROM pruning ORDER BY number DESC LIMIT 1;

-- name: note_pruning
INSERT INTO pruning (number, at, through, hash, passes_before, failures_before)
VALUES (:number, :at, :through, :hash, :passes_before, :failures_before);

-- name: first_young_event
-- Where the oldest run of events ends; one dated after now, by a clock that leapt ahead, ends nothing.
SELECT seq FROM event WHERE at >= :before AND at <= :now ORDER BY seq LIMIT 1;

-- name: event_hash
SELECT seq, hash FROM event WHERE seq = :seq;

-- name: oldest_evidence
-- The first event that a kept transcript names.
SELECT min(seq) FROM transcript;

-- name: oldest_transcript
SELECT min(at) FROM transcript WHERE failed = :failed;

-- name: prune_events
DELETE FROM event WHERE seq <= :through;

-- name: prune_transcripts
DELETE FROM transcript WHERE number IN (
    SELECT number FROM transcript WHERE failed = :failed AND at < :before ORDER BY at LIMIT :limit
);

-- name: count_old_transcripts
SELECT count(*) FROM transcript WHERE failed = :failed AND at < :before;

-- name: known_generations
-- Those that have one of these keys or one of these ids; both are JSON lists.
SELECT * FROM generation
WHERE number IN (
    SELECT number FROM generation WHERE key IN (SELECT value FROM json_each(:keys))
    UNION ALL
    SELECT number FROM generation WHERE id IN (SELECT value FROM json_each(:ids))
);

-- name: keep_generation
INSERT INTO generation
    (received_us, key, source, model, started_us, id, provider, candidates, carried, unchanged,
    list_written_us, ttft_ms, duration_ms, status, finish_reason, empty, prompt_tokens, completion_tokens,
    conversation, locale)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: complete_generation
UPDATE generation SET
    key = ?, source = ?, model = ?, started_us = ?, id = ?, provider = ?, candidates = ?, carried = ?,
    unchanged = ?, list_written_us = ?, ttft_ms = ?, duration_ms = ?, status = ?, finish_reason = ?, empty = ?,
    prompt_tokens = ?, completion_tokens = ?, conversation = ?, locale = ?
WHERE number = ?;

-- name: drop_generation
-- It turned out to be the same as another one.
DELETE FROM generation WHERE number = ?;

-- name: generations_of_model
-- A page of one model's generations, earliest first; (`at`, `number`) is where the page before ended.
SELECT * FROM generation
WHERE model = :model AND started_us < :until AND (started_us, number) > (:at, :number)
ORDER BY started_us, number LIMIT :limit;

-- name: generations_of_conversation
SELECT * FROM generation
WHERE conversation = :conversation AND model = :model
    AND started_us < :until AND (started_us, number) > (:at, :number)
ORDER BY started_us, number LIMIT :limit;

-- name: generation
SELECT * FROM generation WHERE id = :id;

-- name: newest_of_conversation
SELECT * FROM generation WHERE conversation = :conversation
ORDER BY started_us DESC, number DESC LIMIT :limit;

-- name: generations_after
SELECT * FROM generation WHERE number > :after ORDER BY number LIMIT :limit;

-- name: forget_generations
-- Hops from one model to the next, and deletes the oldest of each.
DELETE FROM generation WHERE number IN (
    WITH RECURSIVE found (model) AS (
        SELECT min(model) FROM generation
        UNION ALL
        SELECT (SELECT min(generation.model) FROM generation WHERE generation.model > found.model) FROM found
        WHERE found.model IS NOT NULL
    )
    SELECT old.number FROM found CROSS JOIN generation AS old
    WHERE old.model = found.model AND old.started_us < :before
    LIMIT :limit
);

-- name: count_old_generations
WITH RECURSIVE found (model) AS (
    SELECT min(model) FROM generation
    UNION ALL
    SELECT (SELECT min(generation.model) FROM generation WHERE generation.model > found.model) FROM found
    WHERE found.model IS NOT NULL
)
SELECT count(*) FROM found CROSS JOIN generation AS old
WHERE old.model = found.model AND old.started_us < :before;
