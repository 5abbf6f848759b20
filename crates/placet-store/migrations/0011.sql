-- What history and insights search and count, beside each question: numbers and names, no bodies. `outcome` is empty while the question is
-- pending. What came before this version is read from the journal once; CASE looks into a body only after it was found to be JSON.
ALTER TABLE calls ADD COLUMN rule TEXT;
UPDATE calls SET rule = (
    SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.verdict.rule') END FROM journal WHERE journal.id = calls.id
);

ALTER TABLE interactions ADD COLUMN asked_at INTEGER;
ALTER TABLE interactions ADD COLUMN settled_at INTEGER;
ALTER TABLE interactions ADD COLUMN outcome TEXT;
ALTER TABLE interactions ADD COLUMN risk TEXT;
ALTER TABLE interactions ADD COLUMN tool TEXT;
ALTER TABLE interactions ADD COLUMN rule TEXT;
ALTER TABLE interactions ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
UPDATE interactions SET asked_at = asked.at, risk = asked.risk, tool = calls.tool, edited = asked.edited,
    rule = CASE WHEN asked.judged THEN asked.rule ELSE calls.rule END
FROM (
    SELECT id, at, json_extract(body, '$.risk') AS risk,
        coalesce(json_extract(body, '$.subject.call.agent'), json_extract(body, '$.subject.agent')) AS agent,
        json_extract(body, '$.subject.call.call') AS call,
        json_type(body, '$.subject.edited') IS NOT NULL AS edited,
        json_type(body, '$.subject.edited.judgement') IS NOT NULL OR json_type(body, '$.subject.judgement') IS NOT NULL AS judged,
        coalesce(json_extract(body, '$.subject.edited.judgement.verdict.rule'), json_extract(body, '$.subject.judgement.verdict.rule')) AS rule
    FROM (SELECT id, at, CASE WHEN json_valid(body) THEN body ELSE '{}' END AS body FROM journal
          WHERE id IN (SELECT row FROM interactions))
) AS asked LEFT JOIN calls ON calls.agent = asked.agent AND calls.call = asked.call
WHERE asked.id = interactions.row;
UPDATE interactions SET settled_at = settled.at, outcome = settled.outcome
FROM (
    SELECT id, at, CASE json_extract(body, '$.resolution.resolution')
        WHEN 'answered' THEN CASE json_extract(body, '$.resolution.action')
            WHEN 'APPROVE_AND_EXECUTE' THEN 'approved'
            WHEN 'REJECT_WITH_REASON' THEN 'rejected'
            WHEN 'RETRY_WITH_FEEDBACK' THEN 'retry'
            WHEN 'PROVIDE_INFO' THEN 'info'
            WHEN 'SKIP' THEN 'skipped'
            WHEN 'TERMINATE' THEN 'terminated'
            ELSE 'answered'
        END
        ELSE json_extract(body, '$.resolution.resolution')
    END AS outcome
    FROM (SELECT id, at, CASE WHEN json_valid(body) THEN body ELSE '{}' END AS body FROM journal
          WHERE id IN (SELECT resolved FROM interactions))
) AS settled
WHERE settled.id = interactions.resolved;
UPDATE interactions SET edited = 1, risk = coalesce(changed.risk, interactions.risk)
FROM (
    -- A question is resolved in the step that settles its call, right before it.
    SELECT (SELECT row FROM interactions AS asked WHERE asked.session = journal.session AND asked.resolved < journal.id
            ORDER BY asked.resolved DESC LIMIT 1) AS question,
        json_extract(body, '$.outcome.judgement.verdict.risk') AS risk
    FROM journal
    WHERE body LIKE '{"type":"settled"%' AND CASE WHEN json_valid(body) THEN json_type(body, '$.outcome.edited') IS NOT NULL END
) AS changed
WHERE changed.question = interactions.row;
CREATE INDEX interactions_by_end ON interactions (settled_at) WHERE outcome IS NOT NULL;

-- The people whose approval or decision a question took.
CREATE TABLE deciders (
    question INTEGER NOT NULL,
    person TEXT NOT NULL,
    PRIMARY KEY (question, person)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO deciders
    SELECT interactions.row, person.value FROM interactions JOIN journal ON journal.id = interactions.resolved
    JOIN json_each(CASE WHEN json_valid(body) THEN body ELSE '{}' END, '$.resolution.by') AS person
    WHERE interactions.outcome IS NOT NULL AND interactions.outcome NOT IN ('expired', 'cancelled', 'superseded');
