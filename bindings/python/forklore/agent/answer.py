"""The answer of a Python model, piece by piece."""

from __future__ import annotations

import asyncio
import inspect
import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import Any

from .._native import Pieces
from .models import Answering, End, ModelFailure, Request, Thinking, Thought, ToolCall, Usage
from .running import described
from .tools import called, listed


class Answer:
    """Passes the pieces of an answer to the kernel."""

    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self._usage: dict[str, Any] = {"usage": {}}
        self._reason: Any = None
        self._calls = False

    async def read(self, function: Answering, request: Request) -> str:
        """Let a function answer a request. Returns when it has, or when the kernel wants no more."""
        answer: Any = await called(function, request)
        if isinstance(answer, AsyncIterator):
            await self._read_async(answer)  # pyright: ignore[reportUnknownArgumentType]
        elif inspect.isgenerator(answer):
            await self._read_blocking(answer)
        else:
            for piece in listed(answer) or [answer]:
                self._put(piece)
        reason = self._reason or ("calls" if self._calls else "done")
        self._write("end", {"reason": reason, **self._usage})
        return ""

    async def _read_async(self, answer: AsyncIterator[Any]) -> None:
        if inspect.isasyncgen(answer):
            async with aclosing(answer):
                await self._until_unwanted(answer)
        else:
            await self._until_unwanted(answer)

    async def _until_unwanted(self, answer: AsyncIterator[Any]) -> None:
        async for piece in answer:
            if not self._put(piece):
                break

    async def _read_blocking(self, answer: Iterator[Any]) -> None:
        ended = object()
        while (piece := await asyncio.to_thread(next, answer, ended)) is not ended:
            if not self._put(piece):
                break

    def _put(self, piece: Any) -> bool:
        """Pass on a piece. Returns whether the kernel wants more."""
        if isinstance(piece, str):
            return self._write("text", piece)
        if isinstance(piece, Thinking):
            return self._write("thinking", piece.text)
        if isinstance(piece, Thought):
            return self._write("thought", {"text": piece.text, "opaque": piece.opaque})
        if isinstance(piece, ToolCall):
            self._calls = True
            call_id = piece.id or f"call_{uuid.uuid4().hex}"
            return self._write("call", {"id": call_id, "name": piece.name, "arguments": piece.arguments})
        if isinstance(piece, Usage):
            counts = {name: count for name, count in vars(piece).items() if name != "request_id"}
            self._usage = {"usage": counts, "request_id": piece.request_id}
            return self._write("usage", self._usage)
        if isinstance(piece, End):
            reasons = ("done", "calls", "length", "refused")
            self._reason = piece.reason if piece.reason in reasons else {"other": piece.reason}
            return True
        raise TypeError(f"no piece of an answer: {piece!r}")

    def _write(self, kind: str, piece: Any) -> bool:
        return self._pieces.put(json.dumps({kind: piece}, allow_nan=False))


def finishing(pieces: Pieces) -> Callable[[asyncio.Task[str]], None]:
    """Return what reports the failure of an answer to the kernel."""

    def finish(task: asyncio.Task[str]) -> None:
        if task.cancelled():
            pieces.fail("malformed", "the model was cancelled", asyncio.CancelledError())
            return
        error = task.exception()
        if error is None:
            return
        if isinstance(error, ModelFailure):
            pieces.fail(error.kind, str(error), error, error.retry_after)
        elif isinstance(error, (TimeoutError, asyncio.TimeoutError)):
            pieces.fail("timed_out", described(error), error)
        elif isinstance(error, ConnectionError):
            pieces.fail("unreachable", described(error), error)
        else:
            pieces.fail("malformed", described(error), error)

    return finish
