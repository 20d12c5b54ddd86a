"""A model over HTTP, at an endpoint that answers in the form of the OpenAI API."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from forklore import Store, agent
from forklore.errors import BusyError, ForkloreError, InternalError

from .conftest import Events


class Endpoint(ThreadingHTTPServer):
    """Answers with prepared streams, and records the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, list[Any]]] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        self.server.keys.append(self.headers["authorization"])
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.requests.append(json.loads(body))
        status, chunks = self.server.answers.pop(0)
        self.send_response(status)
        self.send_header("content-type", "text/event-stream" if status == 200 else "application/json")
        self.end_headers()
        for chunk in chunks:
            line = json.dumps(chunk)
            self.wfile.write((f"data: {line}\n\n" if status == 200 else line).encode())
        if status == 200:
            self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"id": "r", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


USAGE = {"id": "r", "choices": [], "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"index": 0, "id": "c1", "type": "function", "function": function}


async def test_a_model_over_http_calls_python_tools(
    store: Store, events: Events, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    @agent.tool
    async def read_file(path: str) -> str:
        """Read a file."""
        return f"the content of {path}"

    monkeypatch.setenv("FORKLORE_TEST_KEY", "sk-of-the-test-0123456789")
    model = agent.HttpModel(
        "openai", "m", base_url=endpoint.base_url, key_env="FORKLORE_TEST_KEY",
        price={"input": 2.0, "output": 4.0}, temperature=0.5,
    )
    calls = [call("read_file", {"path": "a.txt"})]
    endpoint.answers = [
        (200, [delta(tool_calls=calls), delta("tool_calls"), USAGE]),
        (200, [delta(content="It has "), delta(content="content."), delta("stop"), USAGE]),
    ]
    async with agent.Kernel(store, listener=events) as kernel:
        session = await kernel.create(model=model, tools=[read_file])
        turn = await session.execute("go")
    assert (turn.text, turn.model_calls, turn.tool_calls) == ("It has content.", 2, 1)
    assert turn.usage == {"input": 2_000_000, "output": 1_000_000, "cached": 0, "cost": 8.0}
    assert endpoint.keys == ["Bearer sk-of-the-test-0123456789"] * 2
    first, second = endpoint.requests
    assert first["temperature"] == 0.5 and first["tools"][0]["function"]["name"] == "read_file"
    assert second["messages"][-1]["content"] == "the content of a.txt"
    assert events.data("tool:post")[0]["result"] == "the content of a.txt"


@pytest.mark.parametrize(
    ("status", "kind", "attempts"), [(503, BusyError, 2), (500, ForkloreError, 2), (418, ForkloreError, 1)]
)
async def test_a_server_that_fails_is_a_typed_error(
    store: Store, endpoint: Endpoint, status: int, kind: type[ForkloreError], attempts: int
) -> None:
    endpoint.answers = [(status, [{"error": {"message": "the server is out of order"}}])] * 2
    model = agent.HttpModel("openai", "m", base_url=endpoint.base_url)
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=model, settings={"attempts": 2, "backoff": 0.0})
        with pytest.raises(kind, match="the server is out of order") as caught:
            await session.execute("go")
        assert caught.value.details == {"provider": "openai m", "attempts": attempts}
        endpoint.answers = [(200, [delta(content="well"), delta("stop")])]
        assert (await session.execute("again")).text == "well"


async def test_a_server_that_is_not_there_is_a_typed_error(store: Store) -> None:
    model = agent.HttpModel("openai", "m", base_url="http://127.0.0.1:9/v1")
    async with agent.Kernel(store) as kernel:
        session = await kernel.create(model=model, settings={"attempts": 1})
        with pytest.raises(InternalError, match="cannot be reached"):
            await session.execute("go")
