-- The feed: the numbers of the last transactions that did something to a session.
ALTER TABLE session ADD COLUMN feed_created INTEGER;
ALTER TABLE session ADD COLUMN feed_appended INTEGER;
ALTER TABLE session ADD COLUMN feed_changed INTEGER;
-- A bound: the largest of them <= feed_until <= that + 1024. So few appends touch its index.
ALTER TABLE session ADD COLUMN feed_until INTEGER;
CREATE INDEX session_feed ON session (feed_until) WHERE feed_until IS NOT NULL;

-- One row: which feed it is, and the first number that no transaction may have used yet.
CREATE TABLE feed (
    one INTEGER PRIMARY KEY,
    store TEXT NOT NULL,
    next INTEGER NOT NULL,
    crc INTEGER                           -- of the columns above, once a number was used
);
INSERT INTO feed VALUES (1, lower(hex(randomblob(8))), 1, NULL);
