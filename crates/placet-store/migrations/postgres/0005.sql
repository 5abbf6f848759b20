-- Browsers that are told of new requests. Not journaled: it says how something is delivered, not what was decided.
CREATE TABLE devices (
    id TEXT COLLATE "C" PRIMARY KEY,
    person TEXT COLLATE "C" NOT NULL,
    credential TEXT COLLATE "C" NOT NULL,
    endpoint TEXT COLLATE "C" NOT NULL,
    key BYTEA NOT NULL,
    auth BYTEA NOT NULL,
    locale TEXT COLLATE "C" NOT NULL,
    added_at BIGINT NOT NULL
);

-- The key that signs what they are told: one for all servers of a store, because a browser ties its permission to it.
CREATE TABLE push_key (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    pkcs8 BYTEA NOT NULL
);
