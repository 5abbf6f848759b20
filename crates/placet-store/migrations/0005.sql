-- Accounts that wrote in a chat. The platform signed those messages, so it vouches for the accounts; an agent's word does not.
CREATE TABLE members (
    channel TEXT NOT NULL,
    chat TEXT NOT NULL,
    account TEXT NOT NULL,
    PRIMARY KEY (channel, chat, account)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO members
    SELECT json_extract(body, '$.channel'), json_extract(body, '$.chatId'), json_extract(body, '$.senderId') FROM journal
    WHERE CASE WHEN json_valid(body) THEN
        json_extract(body, '$.type') = 'messageQueued' AND json_extract(body, '$.author') IS NOT 'bot'
    END;
