-- Sessions and their events. Times are microseconds since 1970, UTC.

-- Narrow, because every append writes it. A deleted session's row stays as its tombstone.
CREATE TABLE session (
    sid INTEGER PRIMARY KEY,              -- also the number of the segment of its own events
    id TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,          -- the id without regard to case
    parent INTEGER,
    root INTEGER NOT NULL,
    kind INTEGER NOT NULL,                -- 0 root, 1 branch, 2 delegate
    label TEXT NOT NULL,
    depth INTEGER NOT NULL,
    -- behind its last event, inherited ones included
    kept INTEGER NOT NULL, idx INTEGER NOT NULL, turns INTEGER NOT NULL,
    bytes INTEGER NOT NULL, open INTEGER NOT NULL,
    own_events INTEGER NOT NULL,
    own_bytes INTEGER NOT NULL,
    -- what it inherited
    inherited_kept INTEGER NOT NULL, inherited_index INTEGER NOT NULL,
    inherited_turns INTEGER NOT NULL, inherited_bytes INTEGER NOT NULL,
    inherited_open INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    fresh_until INTEGER NOT NULL,         -- a bound: updated <= fresh_until <= updated + a minute
    lease_owner TEXT, lease_expires INTEGER, lease_began INTEGER,
    detached INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER,
    kept_to INTEGER,                      -- of a deleted one: how far its segment is still needed
    strategy INTEGER, tool_calls INTEGER,
    cut_seq INTEGER, cut_index INTEGER, cut_message INTEGER, cut_turn INTEGER,
    cut_event TEXT, cut_kept INTEGER,
    usage_input INTEGER NOT NULL, usage_output INTEGER NOT NULL, usage_cached INTEGER NOT NULL,
    usage_cost REAL NOT NULL,
    workspace TEXT NOT NULL,
    title TEXT, principal TEXT, permissions TEXT, dialect TEXT, leaf TEXT, source TEXT,
    copy_of TEXT, copy_index INTEGER,
    note_crc INTEGER,                     -- of its session_note
    identity_crc INTEGER NOT NULL,        -- of sid to inherited_open, and the ids of root and parent
    crc INTEGER NOT NULL                  -- of all else
);
-- A family, and in it labels that no two living sessions share.
CREATE UNIQUE INDEX session_family
    ON session (root, label, (CASE WHEN deleted IS NULL THEN 0 ELSE sid END));
CREATE INDEX session_parent ON session (parent) WHERE parent IS NOT NULL;
CREATE INDEX session_recent ON session (fresh_until DESC, id);
CREATE INDEX session_workspace ON session (workspace, fresh_until DESC, id);

-- The application's own texts, which may be long.
CREATE TABLE session_note (sid INTEGER PRIMARY KEY, metadata TEXT, config TEXT);

-- Segments without a session: copies of an assembled prefix. Their numbers lie above all sids.
CREATE TABLE private_segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root INTEGER NOT NULL,
    promised INTEGER NOT NULL,            -- events when complete
    kept_to INTEGER NOT NULL,             -- how far it is still needed
    heartbeat INTEGER,                    -- while it is being copied: when that last went on
    crc INTEGER NOT NULL
);
INSERT INTO sqlite_sequence (name, seq) VALUES ('private_segment', 1 << 30);
CREATE INDEX private_segment_root ON private_segment (root);

-- The last spans of a session's history (at most 16), the older ones in pages.
CREATE TABLE ancestry (
    sid INTEGER PRIMARY KEY,
    page INTEGER,
    spans BLOB NOT NULL,
    crc INTEGER NOT NULL
);
-- 16 spans, shared by all descendants and changed only to name the same events in fewer; the last
-- entry of `spans` is no span but the counts behind the page. `jump` leads further back than `prev`.
CREATE TABLE ancestry_page (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
    prev INTEGER,
    depth INTEGER NOT NULL,
    jump INTEGER,
    jump_depth INTEGER NOT NULL,
    jump_kept INTEGER NOT NULL, jump_index INTEGER NOT NULL, jump_turns INTEGER NOT NULL,
    spans BLOB NOT NULL,
    crc INTEGER NOT NULL
);

CREATE TABLE dialect (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- k is segment << 32 | position. Counts are those of the segment, up to and including the event.
CREATE TABLE event (
    k INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    ts INTEGER NOT NULL,
    type TEXT NOT NULL,
    class INTEGER NOT NULL,               -- 0 conversation, 1 evidence, 2 context, 3 lineage, 4 audit
    dialect INTEGER,
    kept INTEGER NOT NULL, idx INTEGER NOT NULL, turns INTEGER NOT NULL,
    bytes INTEGER NOT NULL, open INTEGER NOT NULL,
    starts_turn INTEGER NOT NULL,
    calls TEXT,                           -- the calls it makes and answers
    origin_session INTEGER,               -- where a copied event was first written
    origin_seq INTEGER,
    crc INTEGER NOT NULL,                 -- of the columns above << 32 | of the payload
    payload TEXT NOT NULL
);

-- One row: whether events were deleted since the space was last given back.
CREATE TABLE upkeep (erased INTEGER NOT NULL);
INSERT INTO upkeep VALUES (0);
