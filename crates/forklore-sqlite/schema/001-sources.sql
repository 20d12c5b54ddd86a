-- Files that sessions were read from.

CREATE TABLE source (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dialect TEXT NOT NULL,
    native_id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    first_line INTEGER NOT NULL,          -- the first 8 bytes of its sha256
    offset INTEGER NOT NULL,              -- bytes accounted for
    sha256 BLOB NOT NULL,
    state TEXT NOT NULL,
    steps INTEGER NOT NULL,
    crc INTEGER NOT NULL                  -- of the columns above, as in every table here
);
CREATE INDEX source_first_line ON source (first_line);

CREATE TABLE source_path (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    modified INTEGER NOT NULL,            -- nanoseconds since 1970
    crc INTEGER NOT NULL,
    UNIQUE (path, source)
);
CREATE INDEX source_path_source ON source_path (source);

CREATE TABLE source_session (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    number INTEGER NOT NULL,
    sid INTEGER NOT NULL UNIQUE,
    events INTEGER NOT NULL,
    crc INTEGER NOT NULL,
    UNIQUE (source, number)
);

-- What the bytes read by one step are made of. k is source << 32 | step.
CREATE TABLE source_range (
    k INTEGER PRIMARY KEY,
    crc INTEGER NOT NULL,
    ranges BLOB NOT NULL
);

-- Where records stand, in sorted runs of a step or some: 256 entries of 16 bytes a chunk.
CREATE TABLE source_run (
    run INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    crc INTEGER NOT NULL
);
CREATE INDEX source_run_source ON source_run (source, run DESC);
-- k is run << 16 | chunk
CREATE TABLE source_place (
    k INTEGER PRIMARY KEY,
    entries BLOB NOT NULL,
    crc INTEGER NOT NULL
);
