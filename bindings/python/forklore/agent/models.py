"""Models: over HTTP, and Python functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Union

from ..types import Message


class Prices(TypedDict, total=False):
    """The prices of a million tokens, in a currency of your choice. ``input`` and ``output`` are required."""

    input: float
    output: float
    cached: float
    cache_written: float


@dataclass(frozen=True)
class HttpModel:
    """A model over HTTP. Its key is read from the environment, and never stored.

    See docs/agent.md, Models, for the fields.
    """

    provider: Literal["openai", "anthropic", "gemini", "ollama"]
    """The API of the server. ``openai`` is the form that most servers have, at any address."""
    model: str
    """The provider's name of the model."""
    base_url: str | None = None
    """The address of the API. The default is the provider's own."""
    key_env: str | None = None
    """The environment variable that has the key. At a ``base_url`` there is no default."""
    context_window: int | None = None
    """How many tokens a request and its answer may have together."""
    max_output_tokens: int | None = None
    """How many tokens an answer may have."""
    temperature: float | None = None
    """The sampling temperature."""
    patience_seconds: int | None = None
    """How long to wait for the next piece of an answer: 300 seconds by default."""
    cache_key: bool = True
    """Whether requests contain ``prompt_cache_key``, for servers with the OpenAI API."""
    images: bool | None = None
    """Whether images are sent. The default is yes at a provider's own address."""
    price: Prices | None = None
    """The prices, from which costs are computed."""

    def written(self) -> dict[str, Any]:
        """Return the model as the kernel reads it."""
        return {"http": {name: value for name, value in vars(self).items() if value is not None}}


class ToolSpec(TypedDict):
    """A tool, as a model sees it."""

    name: str
    description: str
    parameters: dict[str, Any]


class Options(TypedDict, total=False):
    """The generation parameters of a request. An absent one is the model's choice."""

    max_output_tokens: int
    temperature: float
    must_call: bool


class Request(TypedDict):
    """A request to a model. Attachments are in it by their names only."""

    messages: list[Message]
    """The history, oldest first."""
    tools: list[ToolSpec]
    """The tools that the model may call."""
    shared: int
    """How many of the first messages the session has in common with its parent."""
    forks: list[int]
    """For each fork between the root and this session, how many messages its child inherited."""
    cache_key: str
    """A name of the family, for a provider's prompt cache."""
    options: Options
    """The generation parameters."""


@dataclass(frozen=True)
class Thinking:
    """A piece of the model's reasoning, to show."""

    text: str


@dataclass(frozen=True)
class Thought:
    """A complete block of reasoning, which is stored."""

    text: str
    opaque: Any = None
    """Data that the provider wants back with the block."""


@dataclass(frozen=True)
class ToolCall:
    """A complete call of a tool."""

    name: str
    arguments: Any = field(default_factory=lambda: dict[str, Any]())
    id: str | None = None
    """The id of the call. The default is a new one."""


@dataclass(frozen=True)
class Usage:
    """The tokens of a request and its answer, as far as the provider reports them."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    cache_written: int | None = None
    request_id: str | None = None
    """The provider's id of the request."""


@dataclass(frozen=True)
class End:
    """Why a complete answer ended, if it is not because the model had finished."""

    reason: Literal["done", "calls", "length", "refused"] | str = "done"


Piece = Union[str, Thinking, Thought, ToolCall, Usage, End]
"""A piece of an answer. A string is a piece of its text."""

FailureKind = Literal[
    "key", "not_found", "invalid", "too_long", "later", "unreachable", "timed_out", "malformed"
]
"""What can be done about a failure of a model. ``later``, ``unreachable`` and ``timed_out`` pass, so the
kernel tries again; after ``too_long`` it compacts the history first."""


class ModelFailure(Exception):
    """A model raises this to fail in a way that the kernel knows how to treat."""

    def __init__(
        self, message: str, kind: FailureKind = "malformed", retry_after: float | None = None
    ) -> None:
        """Make a failure.

        Args:
            message: What went wrong, in one sentence without a key.
            kind: What can be done about it.
            retry_after: How many seconds to wait, if ``kind`` is ``later`` and the provider tells it.
        """
        super().__init__(message)
        self.kind: FailureKind = kind
        self.retry_after = retry_after


Answering = Callable[[Request], Any]
"""A function that answers a request. It returns or yields pieces, synchronously or not: a piece, a list of
pieces, a coroutine of one of them, a generator or an asynchronous generator."""


@dataclass(frozen=True)
class FunctionModel:
    """A model that is a Python function.

    The function runs on the event loop that awaits the turn, or, if it blocks, in a thread. If the turn
    is interrupted, its task is cancelled.
    """

    function: Answering
    name: str | None = None
    """The name of the model in the log. The default is the function's."""
    provider: str = "python"
    """The name of the provider in the log."""
    context_window: int | None = None
    """How many tokens a request and its answer may have together."""

    def written(self) -> dict[str, Any]:
        """Return the model as the kernel reads it."""
        own = getattr(self.function, "__name__", type(self.function).__name__)
        named = {"provider": self.provider, "model": self.name or own}
        return {"function": {**named, "context_window": self.context_window}}


Model = Union[HttpModel, FunctionModel, Answering]
"""A model: one over HTTP, or a function."""


def as_model(model: Model) -> HttpModel | FunctionModel:
    """Return a model, or the model of a plain function."""
    if isinstance(model, (HttpModel, FunctionModel)):
        return model
    return FunctionModel(model)
