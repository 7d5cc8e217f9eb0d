-- Messages on their way: written in the transaction of the events that caused them. No truth lies here; the
-- rows can go when they are old.

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
