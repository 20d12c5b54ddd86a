"""The PostgreSQL store."""

import json
import os
import struct
import uuid
from urllib.parse import parse_qs, urlsplit
from zlib import crc32

import psycopg

from forklore_agmi import ForkloreAdapter, counts_of

TABLES = ("store", "name", "session", "event", "operation")


def number(value):
    return struct.pack("<q", value)


def text(value):
    value = value.encode()
    return struct.pack("<Q", len(value)) + value


def optional(value):
    return number(0) if value is None else number(1) + text(value)


class ForklorePostgres(ForkloreAdapter):
    name = "forklore-postgres"

    def create(self):
        self.tenant = f"agmi{uuid.uuid4().hex}"
        self.connection = psycopg.connect(self.server(), autocommit=True)

    def server(self):
        parts = urlsplit(os.environ["FORKLORE_POSTGRES_URL"])
        host = parse_qs(parts.query).get("host")
        return parts._replace(query=f"host={host[0]}" if host else "").geturl()

    def url(self):
        base = os.environ["FORKLORE_POSTGRES_URL"].split("tenant=")[0]
        return f"{base}tenant={self.tenant}"

    def teardown(self):
        for table in TABLES:
            self.connection.execute(f"DELETE FROM forklore.{table} WHERE tenant = %s", [self.tenant])
        self.connection.close()
        super().teardown()

    def load(self, session):
        rows = self.connection.execute(
            """SELECT id, ts, type, data FROM forklore.event
               WHERE tenant = %s AND family = %s AND session = %s ORDER BY seq""",
            [self.tenant, session, session]).fetchall()
        return [dict(zip(("id", "ts", "type", "data", "owner"), (*row, session))) for row in rows]

    def save(self, session, events):
        key = [self.tenant, session, session]
        where = "tenant = %s AND family = %s"
        with self.connection.transaction():
            self.connection.execute(
                f"DELETE FROM forklore.event WHERE {where} AND session = %s", key)
            for seq, (event, counts) in enumerate(zip(events, counts_of(events))):
                summed = b"".join([
                    *map(number, counts.values()), text(session), number(seq), text(event["id"]),
                    number(event["ts"]), text(event["type"]), number(0), optional(None), number(1),
                    optional(None), text(event["data"])])
                row = [*key, seq, *counts.values(), 0, True, event["ts"], event["id"], event["type"],
                       None, None, None, None, crc32(summed), event["data"]]
                self.connection.execute(
                    f"INSERT INTO forklore.event VALUES ({', '.join(['%s'] * len(row))})", row)
            self.settle(where + " AND id = %s", key, events)

    def settle(self, where, key, events):
        """Writes what follows from the events into the session's row."""
        header, parent, label, updated, state, base, whole, owned = self.connection.execute(
            f"""SELECT header, parent, label, updated, state, base, base_whole, owned
                FROM forklore.session WHERE {where}""", key).fetchone()
        head = counts_of(events)[-1]
        header = {**json.loads(header), "counts": head, "own_events": len(events),
                  "own_bytes": head["bytes"]}
        header = json.dumps(header, ensure_ascii=False, separators=(",", ":"))
        summed = b"".join([
            text(key[1]), text(key[2]), text(header), optional(None), optional(None),
            optional(parent), text(label), number(updated), number(state), optional(base),
            number(whole), number(owned)])
        self.connection.execute(
            f"UPDATE forklore.session SET header = %s, head = %s, crc = %s WHERE {where}",
            [header, len(events) - 1, crc32(summed), *key])

    def snapshot_store(self):
        return {table: self.connection.execute(
            f"SELECT * FROM forklore.{table} WHERE tenant = %s", [self.tenant]).fetchall()
            for table in TABLES}

    def restore_store(self, token):
        with self.connection.transaction():
            for table, rows in token.items():
                self.connection.execute(
                    f"DELETE FROM forklore.{table} WHERE tenant = %s", [self.tenant])
                for row in rows:
                    self.connection.execute(
                        f"INSERT INTO forklore.{table} VALUES ({', '.join(['%s'] * len(row))})", row)
