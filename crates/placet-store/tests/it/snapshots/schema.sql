CREATE TABLE allow_list (
    session INTEGER NOT NULL,
    tool TEXT NOT NULL,
    PRIMARY KEY (session, tool)
) STRICT, WITHOUT ROWID

CREATE TABLE asks (
    person TEXT NOT NULL,
    question INTEGER NOT NULL,
    PRIMARY KEY (person, question)
) STRICT, WITHOUT ROWID

CREATE INDEX asks_by_question ON asks (question)

CREATE TABLE calls (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    call TEXT NOT NULL,
    session INTEGER NOT NULL,
    digest BLOB NOT NULL,
    tool TEXT NOT NULL,
    place TEXT NOT NULL,
    memorable INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state = 'received' OR state = 'parked' OR state = 'same' OR state = 'granted' OR state = 'refused'),
    parked_on INTEGER,
    same_as INTEGER,
    settled INTEGER,
    question INTEGER,
    grant_number INTEGER,
    grant_state TEXT CHECK (grant_state = 'issued' OR grant_state = 'claimed' OR grant_state = 'done' OR grant_state = 'unknown'),
    lease INTEGER,
    result INTEGER, process TEXT, rule TEXT,
    UNIQUE (agent, call)
) STRICT

CREATE INDEX calls_claimed ON calls (lease) WHERE grant_state = 'claimed'

CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY,
    rows INTEGER NOT NULL,
    at INTEGER NOT NULL,
    heads TEXT NOT NULL,
    hash BLOB NOT NULL
) STRICT

CREATE TABLE comments (
    question INTEGER NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (question, row)
) STRICT, WITHOUT ROWID

CREATE TABLE copies (
    channel TEXT NOT NULL,
    chat TEXT NOT NULL,
    question INTEGER NOT NULL,
    PRIMARY KEY (channel, chat, question)
) STRICT, WITHOUT ROWID

CREATE TABLE deciders (
    question INTEGER NOT NULL,
    person TEXT NOT NULL,
    PRIMARY KEY (question, person)
) STRICT, WITHOUT ROWID

CREATE TABLE devices (
    id TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    credential TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    key BLOB NOT NULL,
    auth BLOB NOT NULL,
    locale TEXT NOT NULL,
    added_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID

CREATE TABLE inbound (
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (channel, message)
) STRICT, WITHOUT ROWID

CREATE TABLE interactions (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL,
    state TEXT NOT NULL,
    resolved INTEGER
, asked_at INTEGER, settled_at INTEGER, outcome TEXT, risk TEXT, tool TEXT, rule TEXT, edited INTEGER NOT NULL DEFAULT 0) STRICT

CREATE INDEX interactions_by_end ON interactions (settled_at) WHERE outcome IS NOT NULL

CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    hash BLOB NOT NULL
) STRICT

CREATE INDEX journal_by_session ON journal (session)

CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    fence INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID

CREATE INDEX leases_by_owner ON leases (owner)

CREATE TABLE members (
    channel TEXT NOT NULL,
    chat TEXT NOT NULL,
    account TEXT NOT NULL,
    PRIMARY KEY (channel, chat, account)
) STRICT, WITHOUT ROWID

CREATE TABLE memory (
    place TEXT NOT NULL,
    tool TEXT NOT NULL,
    digest BLOB NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (place, tool, digest)
) STRICT, WITHOUT ROWID

CREATE INDEX memory_by_end ON memory (until)

CREATE TABLE outages (
    row INTEGER PRIMARY KEY,
    until INTEGER NOT NULL,
    shift INTEGER NOT NULL
) STRICT

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    channel TEXT NOT NULL,
    chat TEXT NOT NULL,
    question INTEGER,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state = 'waiting' OR state = 'sent' OR state = 'dead'),
    attempts INTEGER NOT NULL DEFAULT 0,
    next INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    receipt TEXT,
    last_error TEXT
) STRICT

CREATE INDEX outbox_by_question ON outbox (question) WHERE question IS NOT NULL

CREATE INDEX outbox_waiting ON outbox (next) WHERE state = 'waiting'

CREATE TABLE pending (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    deadline INTEGER NOT NULL,
    escalate_at INTEGER,
    channel TEXT,
    chat TEXT,
    digest BLOB
, agent TEXT) STRICT

CREATE INDEX pending_by_agent ON pending (agent) WHERE agent IS NOT NULL

CREATE INDEX pending_by_chat ON pending (channel, chat) WHERE channel IS NOT NULL

CREATE INDEX pending_by_deadline ON pending (deadline)

CREATE INDEX pending_by_escalation ON pending (escalate_at) WHERE escalate_at IS NOT NULL

CREATE INDEX pending_by_session ON pending (session, digest)

CREATE TABLE progress (
    question INTEGER NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (question, row)
) STRICT, WITHOUT ROWID

CREATE TABLE push_key (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    pkcs8 BLOB NOT NULL
) STRICT

CREATE TABLE queue (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL
) STRICT

CREATE INDEX queue_by_session ON queue (session)

CREATE TABLE rejected (
    session INTEGER NOT NULL,
    digest BLOB NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (session, digest)
) STRICT, WITHOUT ROWID

CREATE TABLE room (
    id INTEGER PRIMARY KEY,
    filler BLOB NOT NULL
) STRICT

CREATE TABLE runs (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    person TEXT,
    turns INTEGER NOT NULL DEFAULT 0,
    said INTEGER NOT NULL DEFAULT 0,
    ended INTEGER
, parent INTEGER, interrupted INTEGER, until INTEGER, variables INTEGER) STRICT

CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL AND ended IS NULL

CREATE INDEX runs_by_person ON runs (person) WHERE person IS NOT NULL

CREATE INDEX runs_by_session ON runs (session)

CREATE UNIQUE INDEX runs_open ON runs (session) WHERE ended IS NULL

CREATE TABLE service (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    alive INTEGER,
    checkpoints INTEGER NOT NULL
, queued INTEGER NOT NULL DEFAULT 0) STRICT

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    head_seq INTEGER NOT NULL,
    head_hash BLOB NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0,
    rejections INTEGER NOT NULL DEFAULT 0,
    mode TEXT
, agent TEXT, version INTEGER NOT NULL DEFAULT 0) STRICT

CREATE TABLE shared (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    until INTEGER,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID

CREATE INDEX shared_by_end ON shared (until) WHERE until IS NOT NULL

CREATE TABLE standing (
    row INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tool TEXT NOT NULL,
    ends_at INTEGER NOT NULL,
    uses_max INTEGER,
    uses INTEGER NOT NULL DEFAULT 0,
    revoked INTEGER
) STRICT

CREATE INDEX standing_by_tool ON standing (tool) WHERE revoked IS NULL
