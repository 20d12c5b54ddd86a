"""An MCP server that misbehaves in the ways its arguments name. Frames are written by hand."""

import json
import os
import signal
import sys
import threading
import time

HOW = sys.argv[1]
ARGS = sys.argv[2:]


def send(frame):
    line(json.dumps(frame))


def line(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def tool(name, description="", schema=None):
    return {"name": name, "description": description, "inputSchema": schema or {"type": "object"}}


def tools():
    if HOW == "hostile":
        return [
            tool("esc\x1b[2J", "red \x1b[31m text\u202e\u200b and \U000e0041"),
            tool("a.b", "one"),
            tool("a_b", "two"),
            tool("a_b", "the same once more"),
            tool("x" * 100, "long"),
            tool("x" * 99 + "y", "as long"),
            tool("", "nameless"),
        ]
    if HOW == "pages":
        return [tool(f"t{number}") for number in (3, 1, 2)]
    return [tool("do")]


def call(request):
    arguments = request["params"].get("arguments", {})
    if HOW == "die":
        sys.stderr.write("the disk is \x1b[31mfull\n")
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    elif HOW == "once":
        mark = ARGS[0]
        if not os.path.exists(mark):
            open(mark, "w").close()
            os._exit(3)
        answer(request, text("alive again"))
    elif HOW == "silent":
        note("called")
    elif HOW == "slow":
        for step in range(4):
            while not os.path.exists(f"{ARGS[0]}-{step}"):
                time.sleep(0.005)
            token = request["params"]["_meta"]["progressToken"]
            send({"jsonrpc": "2.0", "method": "notifications/progress",
                  "params": {"progressToken": token, "progress": step, "total": 4, "message": f"step {step}"}})
        answer(request, text("done"))
    elif HOW == "large":
        sort = arguments["sort"]
        if sort == "one text":
            answer(request, text("begin" + "x" * 100_000_000 + "end"))
        elif sort == "id first, escapes":
            words = "\\ud83d\\ude00" * 8_000_000
            line('{"id":%d,"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"%s"}]}}'
                 % (request["id"], words))
        elif sort == "many texts":
            blocks = ",".join(['{"type":"text","text":"' + "y" * 1000 + '"}'] * 30_000)
            line('{"result":{"content":[%s]},"jsonrpc":"2.0","id":%d}' % (blocks, request["id"]))
        elif sort == "deep":
            nested = "[" * 200 + "]" * 200
            line('{"result":{"content":[],"structuredContent":%s},"jsonrpc":"2.0","id":%d}'
                 % (nested, request["id"]))
        elif sort == "image":
            answer(request, {"content": [
                {"type": "image", "mimeType": "image/png", "data": "A" * 3_000_000}]})
        elif sort == "no end":
            sys.stdout.write('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"' % request["id"])
            sys.stdout.write("z" * 50_000_000)
            sys.stdout.flush()
            os._exit(0)
    elif HOW == "malformed":
        for bad in ("a log line", '{"half', '{"jsonrpc":"2.0","id":99999,"result":{}}', "[1,2]", "",
                    '{"jsonrpc":"1.0","method":7}', "\x00\x01\x02", '{"result":{"content":7},"id":"x"}'):
            line(bad)
        answer(request, text("all the same"))
    elif HOW == "refuse":
        send({"jsonrpc": "2.0", "id": request["id"],
              "error": {"code": -32602, "message": "the city is unknown"}})
    elif HOW == "kinds":
        answer(request, arguments["result"])
    elif HOW == "env":
        answer(request, text(json.dumps({"env": dict(os.environ), "folder": os.getcwd()})))
    elif HOW == "more":
        answer(request, text("there are more"))
        globals()["tools"] = lambda: [tool("do"), tool("again")]
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    elif HOW == "family":
        # A child that outlives whoever does not end the whole group.
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(600)
            os._exit(0)
        answer(request, text(json.dumps([os.getpid(), child])))
    else:
        answer(request, text("done"))


def note(word):
    """Notes what happened in a file, so that a test sees it."""
    if ARGS:
        with open(ARGS[0], "a") as file:
            file.write(word + "\n")


def serve():
    if HOW == "hang":
        sys.stderr.write("waiting for the moon\n")
        sys.stderr.flush()
        note("waiting")
        time.sleep(600)
    if HOW == "mute":
        note("waiting")
        sys.stdin.read()
        # Who does not wait for the exit reads the notes before this.
        time.sleep(0.2)
        note("left")
        return
    if HOW == "exit":
        sys.stderr.write("no \x1b[31mlicense\n")
        sys.exit(4)
    for given in sys.stdin:
        message = json.loads(given)
        method = message.get("method")
        if method == "initialize":
            if HOW == "strange":
                line("Welcome to the server")
                answer(message, {"hello": True})
                continue
            answer(message, {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "double", "version": "1"},
            })
        elif method == "tools/list":
            if HOW == "listless":
                note("waiting")
                time.sleep(600)
            listed = tools()
            if HOW == "pages":
                at = int((message.get("params") or {}).get("cursor", "0"))
                page = {"tools": listed[at:at + 1]}
                if at + 1 < len(listed):
                    page["nextCursor"] = str(at + 1)
                answer(message, page)
            else:
                answer(message, {"tools": listed})
        elif method == "tools/call":
            threading.Thread(target=call, args=(message,), daemon=True).start()
        elif method == "notifications/cancelled":
            note("cancelled")
    if HOW == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)


serve()
