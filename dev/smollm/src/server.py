"""Serves a small model on loopback until standard input closes; prints its address first.

A request that must call a tool goes to a second instance of the same model, whose chat template
begins the call; all others go to the first. Nothing else is changed on the way.
"""

import http.client
import http.server
import json
import os
import sys
import threading

import xllamacpp

ORDERS = json.loads(sys.argv[1])
CALLING_LOCK = threading.Lock()
calling_server = None


def instance(template, slots):
    params = xllamacpp.CommonParams()
    params.model.path = ORDERS["model"]
    params.model_alias = {ORDERS["name"]}
    params.n_ctx = ORDERS["context"] * slots
    params.n_parallel = slots
    # More threads are slower: they wait for each other.
    params.cpuparams.n_threads = 1
    params.port = 0
    params.use_jinja = True
    params.chat_template = template
    params.sampling.temp = 0.0
    params.verbosity = 1
    return xllamacpp.Server(params)


def address(server):
    return server.listening_address.removeprefix("http://")


def calling():
    """The instance that calls, started when it is first needed."""
    global calling_server
    with CALLING_LOCK:
        if calling_server is None:
            calling_server = instance(ORDERS["calls"], 2)
        return address(calling_server)


def must_call(body):
    try:
        choice = json.loads(body).get("tool_choice")
    except (ValueError, AttributeError):
        return False
    return choice == "required" or (isinstance(choice, dict) and choice.get("type") == "any")


class Router(http.server.BaseHTTPRequestHandler):
    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        host = TEXT
        if must_call(body):
            host = calling()
            # One call: so small a model does not know when it has called enough.
            body = json.dumps({**json.loads(body), "parallel_tool_calls": False}).encode()
        upstream = http.client.HTTPConnection(host)
        kept = {name: value for name, value in self.headers.items()
                if name.lower() not in ("host", "content-length", "connection")}
        try:
            upstream.request(self.command, self.path, body or None, kept)
            answer = upstream.getresponse()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("transfer-encoding", "connection", "date", "server",
                                        "keep-alive", "content-length"):
                    self.send_header(name, value)
            self.end_headers()
            while piece := answer.read1(65536):
                self.wfile.write(piece)
        except ConnectionError:
            pass  # Whoever asked has gone: closing upstream ends the generation there too.
        finally:
            upstream.close()

    do_GET = do_POST = forward

    def log_message(self, *_):
        pass


text_server = instance(ORDERS["text"], 4)
TEXT = address(text_server)
front = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Router)
front.daemon_threads = True
threading.Thread(target=front.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{front.server_port}", flush=True)
sys.stdin.read()
os._exit(0)
