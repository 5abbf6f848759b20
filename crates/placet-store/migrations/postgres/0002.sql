-- The row that last changed the variables of a run's workflow. Runs of older versions have no variables.
ALTER TABLE runs ADD COLUMN variables BIGINT;
