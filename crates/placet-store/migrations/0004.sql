-- A session is one agent's: whoever called, asked or began a run in it first. Nobody else acts in it, or in the mode people gave it.
ALTER TABLE sessions ADD COLUMN agent TEXT;
-- A body may be damaged: CASE, unlike AND, looks into it only after it was found to be one. Whose a call was, its own row knows too.
UPDATE sessions SET agent = (
    SELECT first.agent FROM (
        SELECT journal.id, journal.session, CASE
            WHEN calls.agent IS NOT NULL THEN calls.agent
            WHEN json_valid(body) THEN CASE json_extract(body, '$.type')
                WHEN 'callReceived' THEN json_extract(body, '$.call.origin.agent')
                WHEN 'runStarted' THEN json_extract(body, '$.origin.agent')
                WHEN 'asked' THEN json_extract(body, '$.subject.agent')
            END
        END AS agent
        FROM journal LEFT JOIN calls ON calls.id = journal.id
    ) AS first
    WHERE first.session = sessions.id AND first.agent IS NOT NULL
    ORDER BY first.id LIMIT 1
);

-- A person stopped the run: nothing is begun in it any more. Points at the row that says so.
ALTER TABLE runs ADD COLUMN interrupted INTEGER;
UPDATE runs SET interrupted = (
    SELECT max(journal.id) FROM journal
    WHERE journal.session = runs.session AND journal.id > runs.row AND (runs.ended IS NULL OR journal.id < runs.ended)
        AND CASE WHEN json_valid(body) THEN json_extract(body, '$.type') = 'runInterrupted' END
);
