-- Small values that all processes of a store know, each set by compare-and-set. `until` is a wall time; the clean-up removes what has ended.
CREATE TABLE shared (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    until INTEGER,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX shared_by_end ON shared (until) WHERE until IS NOT NULL;
