-- How many items were ever put into the outbox. The clean-up no longer lowers it: checkpoints hold how many items it removed. What an
-- older version removed is not counted on either side.
ALTER TABLE service RENAME COLUMN outbox TO queued;
