-- The rows of comments on a question.
CREATE TABLE comments (
    question BIGINT NOT NULL,
    row BIGINT NOT NULL,
    PRIMARY KEY (question, row)
);
