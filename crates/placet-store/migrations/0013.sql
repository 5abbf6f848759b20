-- Browsers that are told of new requests. Not journaled: it says how something is delivered, not what was decided.
CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    credential TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    key BLOB NOT NULL,
    auth BLOB NOT NULL,
    locale TEXT NOT NULL,
    added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The key that signs what they are told: one for all servers of a store, because a browser ties its permission to it.
CREATE TABLE push_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    pkcs8 BLOB NOT NULL
) STRICT;
