"""The SQLite store."""

import sqlite3
import struct
from zlib import crc32

from forklore_agmi import ForkloreAdapter, counts_of

STATE = """label title kept idx turns bytes open own_events own_bytes created updated lease_owner
    lease_expires lease_began detached deleted strategy tool_calls cut_seq cut_index cut_message
    cut_turn cut_event cut_kept usage_input usage_output usage_cached usage_cost workspace principal
    permissions dialect leaf source copy_of copy_index feed_created feed_appended feed_changed
    feed_until fresh_until kept_to note_crc""".split()
FEED = STATE[36:40]


def encoded(value):
    """Returns the bytes of a field under a checksum."""
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return b"\1" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"\3" + struct.pack("<d", value)
    text = value.encode()
    return b"\2" + struct.pack("<Q", len(text)) + text


def checksum(values):
    return crc32(b"".join(map(encoded, values)))


class ForkloreSqlite(ForkloreAdapter):
    name = "forklore-sqlite"

    def create(self):
        self.path = self.folder / "store.db"

    def url(self):
        return f"sqlite:{self.path}"

    def database(self):
        return sqlite3.connect(self.path)

    @staticmethod
    def segment(database, session):
        return database.execute("SELECT sid FROM session WHERE id = ?", [session]).fetchone()[0]

    def load(self, session):
        database = self.database()
        first = self.segment(database, session) << 32
        rows = database.execute(
            "SELECT id, ts, type, payload FROM event WHERE k >= ? AND k < ? ORDER BY k",
            [first, first + (1 << 32)]).fetchall()
        database.close()
        return [dict(zip(("id", "ts", "type", "data", "owner"), (*row, session))) for row in rows]

    def save(self, session, events):
        database = self.database()
        segment = self.segment(database, session)
        first = segment << 32
        database.execute("DELETE FROM event WHERE k >= ? AND k < ?", [first, first + (1 << 32)])
        for k, (event, counts) in enumerate(zip(events, counts_of(events)), first):
            fields = [k, event["id"], event["ts"], event["type"], 0, None, *counts.values(), 1, None,
                      None, None]
            sums = checksum(fields) << 32 | crc32(event["data"].encode())
            signed = struct.unpack("<q", struct.pack("<Q", sums))[0]
            row = [*fields, signed, event["data"]]
            database.execute(f"INSERT INTO event VALUES ({', '.join('?' * len(row))})", row)
        head = list(counts_of(events)[-1].values())
        database.execute(
            """UPDATE session SET kept = ?, idx = ?, turns = ?, bytes = ?, open = ?, own_events = ?,
               own_bytes = ? WHERE sid = ?""", [*head, len(events), head[3], segment])
        row = database.execute(
            f"SELECT {', '.join(STATE)} FROM session WHERE sid = ?", [segment]).fetchone()
        values = [value for name, value in zip(STATE, row) if name not in FEED or value is not None]
        database.execute("UPDATE session SET crc = ? WHERE sid = ?",
                         [checksum([segment, *values]), segment])
        database.commit()
        database.close()

    def snapshot_store(self):
        database = self.database()
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        return self._copy_store(self.path)

    def restore_store(self, token):
        self._restore_store(token, self.path)
