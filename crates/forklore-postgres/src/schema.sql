-- Every key begins with the tenant, and every key of a table about sessions continues with the
-- family, so that a family can be stored on one node of a distributed database. There is no foreign
-- key, no sequence, no trigger and no advisory lock.
--
-- Free texts are inside JSON, because a `text` cannot contain the character NUL. Nothing is `jsonb`,
-- which would change the bytes.
--
-- The comment `by family` stands where a database with partitions says how they are made.

CREATE TABLE forklore.store (
    tenant text COLLATE "C" PRIMARY KEY,
    id text NOT NULL,
    sources bigint NOT NULL DEFAULT 0,
    operations bigint NOT NULL DEFAULT 0
);

-- The family of each session, and the guard of the uniqueness of ids without regard to case.
CREATE TABLE forklore.name (
    tenant text COLLATE "C",
    folded text COLLATE "C",
    id text COLLATE "C" NOT NULL,
    family text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, folded)
);

CREATE TABLE forklore.session (
    tenant text COLLATE "C",
    family text COLLATE "C",
    id text COLLATE "C",
    -- Everything about the session that no column here states, as JSON, with its checksum.
    header text NOT NULL,
    metadata text,
    config text,
    crc bigint NOT NULL,
    parent text COLLATE "C",
    label text COLLATE "C" NOT NULL,
    -- The beginning of the SHA-256 of the workspace's path, which may be too long for an index.
    workspace bytea NOT NULL,
    updated bigint NOT NULL,
    -- The seq of the last event.
    head bigint NOT NULL,
    -- 0 living, 1 in the trash, 2 erased
    state smallint NOT NULL,
    -- The session that wrote the last event that this one inherits, and whether that session's own
    -- copy of its history is meant.
    base text COLLATE "C",
    base_whole boolean NOT NULL,
    -- Whether the session has its own copy of what it inherits.
    owned boolean NOT NULL,
    -- The counts of what it inherits.
    inherited bigint NOT NULL,
    inherited_index bigint NOT NULL,
    inherited_turns bigint NOT NULL,
    -- Whether the session is a branch that needs its parent.
    builds boolean NOT NULL,
    -- The inheritable events that are not erased, by their number: all of a session that is not
    -- erased, and otherwise those that other sessions need. There are none if the first is greater.
    rest_from bigint NOT NULL DEFAULT 0,
    rest_to bigint NOT NULL DEFAULT 9223372036854775807,
    -- The transactions that created, last appended to and last changed the session; the last of
    -- them all, and the session's number in that transaction.
    created_in bigint NOT NULL,
    appended_in bigint NOT NULL,
    changed_in bigint NOT NULL,
    written_in bigint NOT NULL,
    written_as bigint NOT NULL,
    PRIMARY KEY (tenant, family, id)
) /* by family */;
CREATE UNIQUE INDEX session_label ON forklore.session (tenant, family, label) WHERE state = 0;
CREATE INDEX session_parent ON forklore.session (tenant, family, parent);
CREATE INDEX session_updated ON forklore.session (tenant, updated DESC, id);
CREATE INDEX session_workspace ON forklore.session (tenant, workspace, updated DESC, id);
CREATE INDEX session_written ON forklore.session (tenant, written_in, written_as);

CREATE TABLE forklore.event (
    tenant text COLLATE "C",
    family text COLLATE "C",
    session text COLLATE "C",
    seq bigint,
    kept bigint NOT NULL,
    index bigint NOT NULL,
    turns bigint NOT NULL,
    bytes bigint NOT NULL,
    open bigint NOT NULL,
    class smallint NOT NULL,
    starts_turn boolean NOT NULL,
    ts bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    dialect text COLLATE "C",
    calls text,
    -- Of a copy: where the event was first written.
    origin_session text COLLATE "C",
    origin_seq bigint,
    crc bigint NOT NULL,
    data text NOT NULL,
    PRIMARY KEY (tenant, family, session, seq)
) /* by family */;
CREATE UNIQUE INDEX event_kept ON forklore.event (tenant, family, session, kept) WHERE class < 3;

CREATE TABLE forklore.operation (
    tenant text COLLATE "C",
    id bigint,
    record text NOT NULL,
    crc bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE forklore.source (
    tenant text COLLATE "C",
    id bigint,
    record text NOT NULL,
    crc bigint NOT NULL,
    steps bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);
-- By what a source can be found.
CREATE TABLE forklore.source_key (
    tenant text COLLATE "C",
    kind smallint,
    key bytea,
    source bigint,
    PRIMARY KEY (tenant, kind, key, source)
);
CREATE TABLE forklore.source_step (
    tenant text COLLATE "C",
    source bigint,
    step bigint,
    spans bytea NOT NULL,
    crc bigint NOT NULL,
    PRIMARY KEY (tenant, source, step)
);
CREATE TABLE forklore.source_record (
    tenant text COLLATE "C",
    source bigint,
    record bigint,
    session bigint NOT NULL,
    position bigint NOT NULL,
    inherited boolean NOT NULL,
    PRIMARY KEY (tenant, source, record)
);

CREATE TABLE forklore.attachment (
    tenant text COLLATE "C",
    digest text COLLATE "C",
    upload text COLLATE "C" NOT NULL,
    bytes bigint NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant, digest)
);
CREATE TABLE forklore.attachment_part (
    tenant text COLLATE "C",
    upload text COLLATE "C",
    part bigint,
    bytes bytea NOT NULL,
    PRIMARY KEY (tenant, upload, part)
);
-- Uploads that are not finished, and pins, each with the process that has it.
CREATE TABLE forklore.attachment_upload (
    tenant text COLLATE "C",
    upload text COLLATE "C",
    holder text NOT NULL,
    expires bigint NOT NULL,
    PRIMARY KEY (tenant, upload)
);
CREATE TABLE forklore.attachment_pin (
    tenant text COLLATE "C",
    digest text COLLATE "C",
    pin text COLLATE "C",
    holder text NOT NULL,
    expires bigint NOT NULL,
    PRIMARY KEY (tenant, digest, pin)
);
