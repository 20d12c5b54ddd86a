#!/usr/bin/env python3
"""Memory and threads of `forklore serve` with many clients that follow one session, and how late an
event reaches the last of them.

    followers.py PROGRAM NUMBER...
"""

import json
import os
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time

AT_ONCE = 100
APPENDS = 20


def status(pid):
    fields = {}
    with open(f"/proc/{pid}/status") as file:
        for line in file:
            name, _, value = line.partition(":")
            fields[name] = value.split()[0] if value.split() else ""
    return tuple(int(fields[name]) for name in ("VmRSS", "RssAnon", "Threads"))


class Server:
    def __init__(self, program, folder):
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        self.process = subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", "--json", "--store", f"sqlite:{folder}/store"],
            stdout=subprocess.PIPE, env=environment, cwd=folder,
        )
        line = json.loads(self.process.stdout.readline())
        self.address = ("127.0.0.1", int(line["url"].rsplit(":", 1)[1]))
        self.token = line["token"]

    def open(self, method, path, body=""):
        stream = socket.create_connection(self.address)
        head = f"{method} /api/v1{path} HTTP/1.1\r\nHost: localhost:{self.address[1]}\r\n"
        head += f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
        stream.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
        return stream

    def ask(self, method, path, body):
        with self.open(method, path, body) as stream:
            answer = stream.recv(65536)
        assert answer.startswith(b"HTTP/1.1 20"), answer


def receive(poll, streams, count, wanted):
    """Waits until `count` followers have received `wanted`. Returns when the last did."""
    missing = set(streams) if count is None else None
    got, deadline = set(), time.monotonic() + 120
    while len(got) < (len(missing) if missing is not None else count):
        if time.monotonic() > deadline:
            raise SystemExit(f"{len(got)} followers received it in 120 s")
        for number, _ in poll.poll(1):
            data = streams[number].recv(65536)
            if not data:
                raise SystemExit("the server closed a stream")
            if wanted in data:
                got.add(number)
    return time.monotonic()


def measure(program, number):
    with tempfile.TemporaryDirectory() as folder:
        server = Server(program, folder)
        pid, streams, poll = server.process.pid, {}, select.epoll()
        try:
            server.ask("POST", "/sessions", '{"id":"followed","workspace":"/w"}')
            before = status(pid)
            while len(streams) < number:
                fresh = {}
                for _ in range(min(AT_ONCE, number - len(streams))):
                    stream = server.open("GET", "/sessions/followed/events/live")
                    fresh[stream.fileno()] = stream
                    poll.register(stream, select.EPOLLIN)
                streams.update(fresh)
                receive(poll, streams, len(fresh), b"HTTP/1.1 200")
            time.sleep(1)
            idle, delays = status(pid), []
            for at in range(APPENDS):
                event = {"type": "message", "data": {"role": "user", "content": f"event {at}"}}
                event = json.dumps({"events": [event]})
                start = time.monotonic()
                server.ask("POST", "/sessions/followed/events", event)
                delays.append(receive(poll, streams, None, b"id: ") - start)
            busy = status(pid)
            delays.sort()
            print(f"{number:6}  before {before}  idle {idle}  after {APPENDS} events {busy}  "
                  f"last follower: median {delays[len(delays) // 2] * 1e3:.0f} ms, "
                  f"worst {delays[-1] * 1e3:.0f} ms", flush=True)
        finally:
            server.process.kill()
            server.process.wait()


resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
print("(RSS kB, anonymous kB, threads); load", open("/proc/loadavg").read().strip())
for number in sys.argv[2:]:
    measure(sys.argv[1], int(number))
