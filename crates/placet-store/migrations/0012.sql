-- The rows of comments on a question.
CREATE TABLE comments (
    question INTEGER NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (question, row)
) STRICT, WITHOUT ROWID;
