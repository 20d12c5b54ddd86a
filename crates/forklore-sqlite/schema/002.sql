-- Events of a segment that stand together, at most 64: read at once, counted without being read.
CREATE TABLE chunk (
    k INTEGER PRIMARY KEY,                -- that of the first position, as in event
    positions INTEGER NOT NULL,           -- how many it covers
    -- counts of the segment before it
    kept INTEGER NOT NULL, idx INTEGER NOT NULL, turns INTEGER NOT NULL, bytes INTEGER NOT NULL,
    -- a bit for each position, the lowest for the first: which hold an event; which are inherited,
    -- have an index, begin a turn
    there INTEGER NOT NULL, inherited INTEGER NOT NULL, indexed INTEGER NOT NULL,
    started INTEGER NOT NULL,
    codec INTEGER NOT NULL,               -- of the body: 0 as it is, 1 zstd
    crc INTEGER NOT NULL,                 -- of all of this and the heads
    heads BLOB NOT NULL,                  -- all of the events but their payloads
    body BLOB NOT NULL                    -- the payloads, one behind the other
);
