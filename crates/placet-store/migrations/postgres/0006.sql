-- Small values that all processes of a store know, each set by compare-and-set. `until` is a wall time; the clean-up removes what has ended.
CREATE TABLE shared (
    kind TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    until BIGINT,
    PRIMARY KEY (kind, name)
);
CREATE INDEX shared_by_end ON shared (until) WHERE until IS NOT NULL;
