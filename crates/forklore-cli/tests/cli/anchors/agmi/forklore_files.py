"""The files store."""

import datetime
import json
from zlib import crc32

from forklore_agmi import ForkloreAdapter, counts_of


def sealed(fields):
    """Returns a line with its checksum."""
    text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))[:-1]
    return f'{text},"crc":"{crc32(text.encode()):08x}"}}\n'


def parsed(line):
    fields = json.loads(line)
    del fields["crc"]
    return fields


class ForkloreFiles(ForkloreAdapter):
    name = "forklore-files"

    def create(self):
        self.path = self.folder / "store"

    def url(self):
        return f"files:{self.path}"

    def file(self, session):
        return next(self.path.glob(f"workspaces/*/{session}.jsonl"))

    def lines(self, session):
        return [parsed(line) for line in self.file(session).read_text().splitlines()]

    def load(self, session):
        compact = {"ensure_ascii": False, "separators": (",", ":")}
        return [{"id": line["id"], "ts": line["ts"], "type": line["type"], "owner": session,
                 "data": json.dumps(line["data"], **compact)}
                for line in self.lines(session) if "data" in line]

    def save(self, session, events):
        lines = self.lines(session)
        template = next(line for line in lines if "data" in line)
        last = next(line for line in reversed(lines) if "commit" in line)
        first = next(number for number, line in enumerate(lines) if "data" in line)
        text = "".join(map(sealed, lines[:first]))
        for seq, (event, counts) in enumerate(zip(events, counts_of(events))):
            at = list(counts.values())
            own = {key: event[key] for key in ("id", "ts", "type")}
            line = sealed({**template, **own, "seq": seq, "at": at,
                           "data": json.loads(event["data"])})
            commit = {**last["commit"], "own_events": seq + 1, "own_bytes": at[3], "counts": counts}
            text += line + sealed({"commit": commit, "from": len(text.encode()),
                                   "step": f"{crc32(line.encode()):08x}"})
        self.file(session).write_text(text)
        claim = self.path / "ids" / session
        fields = parsed(claim.read_text())
        claim.write_text(sealed({**fields, "durable": f"{len(text.encode()):020}"}))

    @staticmethod
    def earlier(ts):
        time = datetime.datetime.fromisoformat(ts.replace("Z", "+00:00"))
        return (time - datetime.timedelta(minutes=1)).isoformat().replace("+00:00", "Z")

    def snapshot_store(self):
        return self._copy_store(self.path)

    def restore_store(self, token):
        self._restore_store(token, self.path)
