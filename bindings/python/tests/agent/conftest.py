"""A scripted model, and what a kernel announced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import forklore
from forklore import Store, agent


class Script:
    """A model that gives prepared answers, one after the other, and records the requests."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[agent.Request] = []

    def __call__(self, request: agent.Request) -> Any:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer(request) if callable(answer) else answer


class Events(list[dict[str, Any]]):
    """The notifications that a listener got."""

    def __init__(self) -> None:
        super().__init__()
        self._awaited: list[tuple[str, asyncio.Future[None]]] = []

    def __call__(self, event: dict[str, Any]) -> None:
        self.append(event)
        for name, future in self._awaited:
            if name == event["event"] and not future.done():
                future.set_result(None)

    async def until(self, name: str) -> None:
        """Wait until the next event with a name."""
        future = asyncio.get_running_loop().create_future()
        self._awaited.append((name, future))
        await future

    def names(self) -> list[str]:
        """Return the names of the events that are not ephemeral."""
        return [event["event"] for event in self if not event.get("ephemeral")]

    def data(self, name: str) -> list[Any]:
        """Return the data of the events with a name."""
        return [event["data"] for event in self if event["event"] == name]


@pytest.fixture(params=["sqlite", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = "memory:" if request.param == "memory" else f"sqlite:{tmp_path / 'store.db'}"
    with forklore.open(url) as opened:
        yield opened


@pytest.fixture
def events() -> Events:
    return Events()


@pytest.fixture
def contents(store: Store) -> Callable[[str], list[tuple[str, Any]]]:
    """Return the conversation of a session, as roles and texts or parts."""

    def read(session_id: str) -> list[tuple[str, Any]]:
        messages = store.inspect(session_id)["messages"]
        return [(message["role"], plain(message["content"])) for message in messages]

    return read


def plain(content: Any) -> Any:
    """Return the content of a message as a text, or as (type, text) for each part."""
    if isinstance(content, str):
        return content
    if all(part["type"] == "text" for part in content):
        return "".join(part["text"] for part in content)
    return [part.get("name") if part["type"] == "tool_call" else part.get("content") for part in content]
