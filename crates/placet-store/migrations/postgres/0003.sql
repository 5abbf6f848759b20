-- What history and insights search and count, beside each question: numbers and names, no bodies. `outcome` is empty while the question is
-- pending. What came before this version is read from the journal once. A body may be damaged, and JSONB holds no NUL characters.
CREATE FUNCTION read_body(body TEXT) RETURNS JSONB LANGUAGE plpgsql AS $$
BEGIN
    RETURN CAST(replace(body, '\u0000', '\ufffd') AS JSONB);
EXCEPTION WHEN OTHERS THEN
    RETURN CAST('{}' AS JSONB);
END $$;

ALTER TABLE calls ADD COLUMN rule TEXT COLLATE "C";
UPDATE calls SET rule = (SELECT read_body(body) #>> '{verdict,rule}' FROM journal WHERE journal.id = calls.id);

ALTER TABLE interactions ADD COLUMN asked_at BIGINT;
ALTER TABLE interactions ADD COLUMN settled_at BIGINT;
ALTER TABLE interactions ADD COLUMN outcome TEXT COLLATE "C";
ALTER TABLE interactions ADD COLUMN risk TEXT COLLATE "C";
ALTER TABLE interactions ADD COLUMN tool TEXT COLLATE "C";
ALTER TABLE interactions ADD COLUMN rule TEXT COLLATE "C";
ALTER TABLE interactions ADD COLUMN edited BIGINT NOT NULL DEFAULT 0;
UPDATE interactions SET asked_at = asked.at, risk = asked.body ->> 'risk', tool = calls.tool,
    edited = CASE WHEN asked.body #> '{subject,edited}' IS NULL THEN 0 ELSE 1 END,
    rule = CASE WHEN coalesce(asked.body #> '{subject,edited,judgement}', asked.body #> '{subject,judgement}') IS NULL THEN calls.rule
        ELSE coalesce(asked.body #>> '{subject,edited,judgement,verdict,rule}', asked.body #>> '{subject,judgement,verdict,rule}') END
FROM (
    SELECT id, at, read_body(body) AS body FROM journal WHERE id IN (SELECT row FROM interactions)
) AS asked LEFT JOIN calls ON calls.agent = coalesce(asked.body #>> '{subject,call,agent}', asked.body #>> '{subject,agent}')
    AND calls.call = asked.body #>> '{subject,call,call}'
WHERE asked.id = interactions.row;
UPDATE interactions SET settled_at = settled.at,
    outcome = CASE settled.resolution ->> 'resolution'
        WHEN 'answered' THEN CASE settled.resolution ->> 'action'
            WHEN 'APPROVE_AND_EXECUTE' THEN 'approved'
            WHEN 'REJECT_WITH_REASON' THEN 'rejected'
            WHEN 'RETRY_WITH_FEEDBACK' THEN 'retry'
            WHEN 'PROVIDE_INFO' THEN 'info'
            WHEN 'SKIP' THEN 'skipped'
            WHEN 'TERMINATE' THEN 'terminated'
            ELSE 'answered'
        END
        ELSE settled.resolution ->> 'resolution'
    END
FROM (
    SELECT id, at, read_body(body) -> 'resolution' AS resolution FROM journal WHERE id IN (SELECT resolved FROM interactions)
) AS settled
WHERE settled.id = interactions.resolved;
UPDATE interactions SET edited = 1, risk = coalesce(changed.body #>> '{outcome,judgement,verdict,risk}', interactions.risk)
FROM (
    -- A question is resolved in the step that settles its call, right before it.
    SELECT (SELECT row FROM interactions AS asked WHERE asked.session = journal.session AND asked.resolved < journal.id
            ORDER BY asked.resolved DESC LIMIT 1) AS question,
        read_body(body) AS body
    FROM journal WHERE body LIKE '{"type":"settled"%'
) AS changed
WHERE changed.question = interactions.row AND changed.body #> '{outcome,edited}' IS NOT NULL;
CREATE INDEX interactions_by_end ON interactions (settled_at) WHERE outcome IS NOT NULL;

-- The people whose approval or decision a question took.
CREATE TABLE deciders (
    question BIGINT NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (question, person)
);
INSERT INTO deciders
    SELECT interactions.row, person.name FROM interactions JOIN journal ON journal.id = interactions.resolved
    CROSS JOIN LATERAL jsonb_array_elements_text(coalesce(read_body(body) #> '{resolution,by}', CAST('[]' AS JSONB))) AS person (name)
    WHERE interactions.outcome NOT IN ('expired', 'cancelled', 'superseded')
    ON CONFLICT DO NOTHING;
DROP FUNCTION read_body(TEXT);
