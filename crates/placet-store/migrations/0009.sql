-- Times are wall times of the store's clock. Outages move what is pending: `shift` is how far all outages up to this one move it, in
-- milliseconds. Columns with pending times (`pending.deadline`, `pending.escalate_at`, `calls.lease`, `runs.until`, `leases.until`, `outbox.next`) are less
-- the shift at their row, so that an outage changes none of them.
CREATE TABLE outages (
    row INTEGER PRIMARY KEY,
    until INTEGER NOT NULL,
    shift INTEGER NOT NULL
) STRICT;

-- `alive` is the last moment at which Placet ran. Empty if it never ran, or ended and left its questions open on purpose. Older versions kept a
-- clock of their own for pending times. Its last reading is where the next outage begins, which makes all of them wall times.
UPDATE service SET wall = live WHERE wall IS NOT NULL;
ALTER TABLE service RENAME COLUMN wall TO alive;
ALTER TABLE service DROP COLUMN live;

-- When a run has to be over.
ALTER TABLE runs ADD COLUMN until INTEGER;
UPDATE runs SET until = (
    SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.until') END FROM journal WHERE journal.id = runs.row
);

-- What one process does at a time. `fence` counts how often it was taken; a commit made under the lease names it.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    fence INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX leases_by_owner ON leases (owner);

-- The process a claim is bound to.
ALTER TABLE calls ADD COLUMN process TEXT;
