-- What users were served: telemetry, without a word of what was said.

-- Times are microseconds since 1970 in UTC: there are millions of rows, and a number takes a third of a text.
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
