-- How often a session was changed in a way that decisions about its calls depend on. A commit names the versions it was decided on.
ALTER TABLE sessions ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
