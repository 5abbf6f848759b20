-- A session is one agent's: whoever called, asked or began a run in it first. Nobody else acts in it, or in the mode people gave it.
ALTER TABLE sessions ADD COLUMN agent TEXT;
UPDATE sessions SET agent = (
    SELECT CASE json_extract(body, '$.type')
        WHEN 'callReceived' THEN json_extract(body, '$.call.origin.agent')
        WHEN 'runStarted' THEN json_extract(body, '$.origin.agent')
        ELSE json_extract(body, '$.subject.agent')
    END
    FROM journal
    WHERE journal.session = sessions.id
        AND (json_extract(body, '$.type') = 'callReceived' OR json_extract(body, '$.type') = 'runStarted'
            OR (json_extract(body, '$.type') = 'asked' AND json_extract(body, '$.subject.agent') IS NOT NULL))
    ORDER BY id LIMIT 1
);

-- A person stopped the run: nothing is begun in it any more. Points at the row that says so.
ALTER TABLE runs ADD COLUMN interrupted INTEGER;
UPDATE runs SET interrupted = (
    SELECT max(journal.id) FROM journal
    WHERE journal.session = runs.session AND journal.id > runs.row AND (runs.ended IS NULL OR journal.id < runs.ended)
        AND json_extract(body, '$.type') = 'runInterrupted'
);
