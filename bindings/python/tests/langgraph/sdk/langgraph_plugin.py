"""A plugin of pytest that gives LangGraph's own tests savers of forklore in the stead of theirs.

It replaces the functions from which the fixtures of the tests get their savers, before the tests import
them. The files of the tests stay as they are.
"""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from tempfile import TemporaryDirectory

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from forklore.langgraph import AsyncForkloreSaver, ForkloreSaver


@contextmanager
def memory() -> Iterator[ForkloreSaver]:
    """A saver over a store in memory."""
    with ForkloreSaver.from_url("memory:") as saver:
        yield saver


@contextmanager
def sqlite() -> Iterator[ForkloreSaver]:
    """A saver over an SQLite store."""
    with TemporaryDirectory() as folder, ForkloreSaver.from_url(f"sqlite:{folder}/s.db") as saver:
        yield saver


@contextmanager
def sqlite_aes() -> Iterator[ForkloreSaver]:
    """A saver that encrypts."""
    with sqlite() as saver:
        saver.serde = EncryptedSerializer.from_pycryptodome_aes(key=b"1234567890123456")
        yield saver


@asynccontextmanager
async def sqlite_aio() -> AsyncIterator[AsyncForkloreSaver]:
    """A saver for coroutines."""
    with TemporaryDirectory() as folder:
        async with AsyncForkloreSaver.from_url(f"sqlite:{folder}/s.db") as saver:
            yield saver


def pytest_configure(config: pytest.Config) -> None:
    """Replace the savers."""
    savers = importlib.import_module("tests.conftest_checkpointer")
    savers._checkpointer_memory = memory
    savers._checkpointer_sqlite = sqlite
    savers._checkpointer_sqlite_aes = sqlite_aes
    savers._checkpointer_sqlite_aio = sqlite_aio
