-- Runs of the built-in agent. A run is numbered by the journal row that began it; an index of the open ones makes a second
-- open run of a session impossible and finds what a new process has to resume.
CREATE TABLE runs (
    row INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    person TEXT,
    turns INTEGER NOT NULL DEFAULT 0,
    said INTEGER NOT NULL DEFAULT 0,
    ended INTEGER
) STRICT;
CREATE UNIQUE INDEX runs_open ON runs (session) WHERE ended IS NULL;
CREATE INDEX runs_by_session ON runs (session);
CREATE INDEX runs_by_person ON runs (person) WHERE person IS NOT NULL;
