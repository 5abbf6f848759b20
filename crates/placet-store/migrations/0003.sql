-- A run may do a call of another run. Ending that one's session ends it too, so it is found from there while it is open.
ALTER TABLE runs ADD COLUMN parent INTEGER;
CREATE INDEX runs_by_parent ON runs (parent) WHERE parent IS NOT NULL AND ended IS NULL;
