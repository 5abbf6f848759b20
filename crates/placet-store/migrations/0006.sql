-- Written and removed to find out whether the disk takes more than a change in place.
CREATE TABLE room (
    id INTEGER PRIMARY KEY,
    filler BLOB NOT NULL
) STRICT;

-- Whose a pending question is, and whom it asks: what bounds are counted by.
ALTER TABLE pending ADD COLUMN agent TEXT;
CREATE INDEX pending_by_agent ON pending (agent) WHERE agent IS NOT NULL;
UPDATE pending SET agent = (
    SELECT CASE WHEN json_valid(body) THEN coalesce(json_extract(body, '$.subject.call.agent'), json_extract(body, '$.subject.agent')) END
    FROM journal WHERE journal.id = pending.row
);
CREATE TABLE asks (
    person TEXT NOT NULL,
    question INTEGER NOT NULL,
    PRIMARY KEY (person, question)
) STRICT, WITHOUT ROWID;
CREATE INDEX asks_by_question ON asks (question);
INSERT OR IGNORE INTO asks
    SELECT person.value, pending.row FROM pending JOIN journal ON journal.id = pending.row
    JOIN json_each(CASE WHEN json_valid(body) THEN body ELSE '{}' END, '$.audience.people') AS person;

-- How many items the outbox has. A removed item is missed.
ALTER TABLE service ADD COLUMN outbox INTEGER NOT NULL DEFAULT 0;
UPDATE service SET outbox = (SELECT count(*) FROM outbox);
