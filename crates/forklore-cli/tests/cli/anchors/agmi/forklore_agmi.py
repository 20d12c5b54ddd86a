"""Adapters of forklore's stores for agmi-check, which edits stores behind their backs.

A record is an event of one session. The edits of the suite are made by a forger who knows the
formats: after each of them, every checksum, count and header of the store is right. Only the anchors
differ, which lie outside of the store. forklore answers by `verify --anchors --exact`.

FORKLORE names the program, FORKLORE_POSTGRES_URL the store of the PostgreSQL adapter.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from agmi.adapters.base import MemoryAdapter, Record

CONTEXT = "agmi"
OTHER = "agmi-other"


class ForkloreAdapter(MemoryAdapter):
    """What the adapters of all stores share. `load` and `save` bypass forklore."""

    detection_point = "audit"
    supports_replay = True
    supports_metadata = True
    supports_snapshot = True

    def setup(self):
        self.dir = tempfile.TemporaryDirectory()
        self.folder = Path(self.dir.name)
        self.create()
        self.forklore("new", "--id", CONTEXT)
        self.forklore("new", "--id", OTHER)

    def teardown(self):
        self.dir.cleanup()

    def forklore(self, *words):
        """Runs the program, and returns its answer."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        env = {"HOME": str(home), "FORKLORE_STORE": self.url()}
        command = [os.environ["FORKLORE"], "--json", "--workspace", "/demo", *words]
        ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 6):
            raise RuntimeError(f"{command}: {ran.stdout}{ran.stderr}")
        return json.loads(ran.stdout)

    def append(self, session, words):
        """Writes genuine events through the program, and anchors the heads."""
        for text in words:
            self.forklore("append", session, "--text", text)
        self.forklore("anchor", "--all", "--to", str(self.folder / "anchors.jsonl"))

    def seed(self, n):
        self.append(CONTEXT, [f"memory {i:04}" for i in range(n)])

    def seed_other(self, n):
        self.append(OTHER, [f"others {i:04}" for i in range(n)])

    def append_genuine(self):
        self.append(CONTEXT, ["memory late"])

    # Raw access.

    def records(self, session):
        return [Record(seq, event) for seq, event in enumerate(self.load(session))]

    def read_all_raw(self):
        return self.records(CONTEXT)

    def read_other_raw(self):
        return self.records(OTHER)

    def write_raw(self, record):
        events = self.load(CONTEXT)
        event = {**record.fields}
        if record.seq < len(events):
            # The slot stays what it is; only the content moves.
            event = {**event, "id": events[record.seq]["id"], "ts": events[record.seq]["ts"]}
            events[record.seq] = event
        else:
            events.append(event)
        self.save(CONTEXT, events)

    def delete_raw(self, seq):
        events = self.load(CONTEXT)
        del events[seq]
        self.save(CONTEXT, events)

    def mutate_payload(self, record):
        record.fields["data"] = record.fields["data"].replace("memory", "poison")
        return record

    def forge_record(self, template):
        event = {**template.fields, "id": template.fields["id"][:-4] + "beef"}
        return self.mutate_payload(Record(template.seq + 1, event))

    def replay_onto(self, victim_seq, donor):
        events = self.load(CONTEXT)
        events[victim_seq]["data"] = donor.fields["data"]
        self.save(CONTEXT, events)

    def read_meta(self, seq):
        return {"ts": self.load(CONTEXT)[seq]["ts"]}

    def write_meta(self, seq, meta):
        events = self.load(CONTEXT)
        events[seq]["ts"] = self.earlier(meta["ts"])
        self.save(CONTEXT, events)

    def identity_of(self, record):
        return f"{record.fields['owner']}:{record.fields['id']}"

    def payload_of(self, record):
        return record.fields["data"]

    def owner_of(self, record):
        return record.fields["owner"]

    @staticmethod
    def earlier(ts):
        """Returns a time before `ts`, as the store writes it."""
        return ts - 60_000_000

    # forklore's own answer.

    def reload(self):
        """Each command opens the store anew."""

    def verify(self):
        anchors = str(self.folder / "anchors.jsonl")
        report = self.forklore("verify", "--anchors", anchors, "--exact")
        found = {f"{check['session_id']} {check['state']}" for check in report["checks"]
                 if not check["sound"]}
        found |= {problem["message"] for problem in report["verification"]["problems"]}
        self.verify_detail = ", ".join(sorted(found))
        return report["ok"]


def counts_of(events):
    """Returns the running counts after each event. Each is a message of a user."""
    counts, size = [], 0
    for number, event in enumerate(events, 1):
        size += len(event["data"].encode())
        counts.append({"kept": number, "index": number, "turns": number, "bytes": size, "open": 0})
    return counts
