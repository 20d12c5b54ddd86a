-- The feed: the numbers of the last transactions that did something to a session.
ALTER TABLE session ADD COLUMN feed_created INTEGER;
ALTER TABLE session ADD COLUMN feed_appended INTEGER;
ALTER TABLE session ADD COLUMN feed_changed INTEGER;
-- A bound: the largest of them <= feed_until <= that + 1024. So few appends touch its index.
ALTER TABLE session ADD COLUMN feed_until INTEGER;
CREATE INDEX session_feed ON session (feed_until) WHERE feed_until IS NOT NULL;

-- Which feed it is, and the first number that no transaction may have used yet. No table of its own,
-- because SQLite parses each table whenever a store is opened.
ALTER TABLE upkeep ADD COLUMN feed TEXT;
ALTER TABLE upkeep ADD COLUMN feed_next INTEGER;
-- Of the two columns above, once a number was used.
ALTER TABLE upkeep ADD COLUMN feed_crc INTEGER;
UPDATE upkeep SET feed = lower(hex(randomblob(8))), feed_next = 1;
