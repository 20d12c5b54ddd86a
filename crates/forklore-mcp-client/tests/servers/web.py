"""An MCP server over HTTP that misbehaves in the way its argument names; prints its port first."""

import http.server
import json
import os
import sys
import threading
import time

HOW = sys.argv[1]


def result(method, message):
    if method == "initialize":
        return {"protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}}, "serverInfo": {"name": "web", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]}
    return {"content": [{"type": "text", "text": "done"}]}


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        who = self.headers.get("authorization")
        if HOW == "challenging":
            if who is None:
                return self.say(401, "text/plain", b"", 'Bearer realm="tickets"')
            if who != "Bearer forklore-mcp-client":
                return self.say(403, "text/plain", b"", 'Bearer error="insufficient_scope"')
        elif who != "forklore-mcp-client":
            return self.say(401, "text/plain", b"who are you, \x1b[31mstranger?")
        if HOW == "expiring" and message["method"] == "tools/call":
            return self.say(401, "text/plain", b"the token has expired")
        if "id" not in message:
            return self.say(202, "text/plain", b"")
        method = message["method"]
        if method == "tools/call":
            if HOW == "large":
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "100000000")
                self.end_headers()
                try:
                    self.wfile.write(b'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"')
                    for _ in range(100):
                        self.wfile.write(b"x" * 1_000_000)
                except ConnectionError:
                    pass
                return None
            if HOW == "large events":
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                try:
                    self.wfile.write(b"data: ")
                    for _ in range(100):
                        self.wfile.write(b"x" * 1_000_000)
                except ConnectionError:
                    pass
                self.close_connection = True
                return None
            if HOW == "broken":
                return self.say(500, "text/plain", b"the database is \x1b[31mon fire")
            if HOW == "senseless":
                return self.say(200, "application/json", b'{"what":"is this"}')
            if HOW == "silent":
                time.sleep(600)
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result(method, message)}
        return self.say(200, "application/json", json.dumps(body).encode())

    def do_GET(self):
        self.say(405, "text/plain", b"")

    do_DELETE = do_GET

    def say(self, status, kind, body, challenge=None):
        self.send_response(status)
        if challenge:
            self.send_header("www-authenticate", challenge)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
os._exit(0)
