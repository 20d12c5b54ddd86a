-- What other files may know a source by: the first 8 bytes of a sha256.
CREATE TABLE source_name (
    source INTEGER NOT NULL,
    name INTEGER NOT NULL,
    crc INTEGER NOT NULL,                 -- of the columns above
    PRIMARY KEY (source, name)
) WITHOUT ROWID;
CREATE INDEX source_name_name ON source_name (name);
