"""What a session works with: its model, its tools, who permits calls, and its settings."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict, Union

from ..errors import InvalidArgsError
from .models import Model, Prices, as_model
from .tools import Tool, as_tool

Approver = Callable[..., Any]
"""A function that answers a :class:`~forklore.agent.Question` with a :data:`~forklore.agent.Approval`, or a
coroutine function that does."""


class Budget(TypedDict, total=False):
    """The budget of a turn. None is no limit; the default is 200 model calls."""

    model_calls: int | None
    tokens: int | None
    cost: float | None
    seconds: float | None


class Limits(TypedDict, total=False):
    """How a model may delegate to sub-agents, with the tool ``delegate``."""

    depth: int
    """How deeply sub-agents may nest. The default is 2."""
    model_calls: int
    """The most model calls of a sub-agent. The default is 50."""
    tokens: int
    cost: float
    seconds: int


class Settings(TypedDict, total=False):
    """The numbers of a session. What is left out has the kernel's default. Times are in seconds."""

    max_output_tokens: int | None
    temperature: float | None
    must_call: bool
    """Whether the model must call a tool instead of answering."""
    patience: float | None
    """How long to wait for the next piece of an answer."""
    prices: Prices | None
    budget: Budget
    attempts: int
    """How often a request is sent before the turn fails: 5 times by default."""
    backoff: float
    """The pause before the second attempt, doubled before each further one: 0.5 by default."""
    longest_backoff: float
    """The longest pause between attempts: 60 by default."""
    grace: float
    """How long a turn waits for cancelled calls: 2 by default."""
    result_bytes: int
    """The most bytes of a result that the model gets: 262144 by default."""
    hook_patience: float
    """How long a hook may take to decide: 10 by default."""
    stuck_rounds: int | None
    """After how many rounds of the same failed calls a turn ends: 5 by default."""
    compact_at: float | None
    """The part of the context window at which the history is compacted: 0.8 by default."""
    lease_wait: float
    """How long a turn waits for a session that another process runs: 0 by default."""


class Parts(TypedDict, total=False):
    """The parts of a session's equipment apart from its model, as keyword arguments."""

    tools: Sequence[Union[Tool, Callable[..., Any]]]
    """The tools that the model may call. A plain function becomes one as by :func:`tool`."""
    system: str | None
    """The system instructions, the first message of an empty session."""
    allow: Sequence[str]
    """The names of tools that may be called; ``*`` stands for any text. The default is ``["*"]``. Of all
    patterns that fit a name, the strictest applies: ``deny`` before ``ask`` before ``allow``."""
    ask: Sequence[str]
    """The names of tools whose calls ``approve`` decides about, as about names that no pattern fits."""
    deny: Sequence[str]
    """The names of tools that may not be called."""
    approve: Approver | None
    """The function that answers questions. Without one, the answer is no."""
    delegates: Limits | None
    """The limits within which the model may delegate. None takes the tool away."""
    settings: Settings
    """Limits, times and prices."""


class Changes(Parts, total=False):
    """The parts of a session's equipment, as keyword arguments."""

    model: Model
    """The model that answers."""


def _tools(tools: Sequence[Tool | Callable[..., Any]]) -> tuple[Tool, ...]:
    return tuple(as_tool(one) for one in tools)


@dataclass(frozen=True)
class Equipment:
    """What a session works with. :class:`Changes` describes the fields."""

    model: Model
    tools: Sequence[Tool | Callable[..., Any]] = ()
    system: str | None = None
    allow: Sequence[str] = ("*",)
    ask: Sequence[str] = ()
    deny: Sequence[str] = ()
    approve: Approver | None = None
    delegates: Limits | None = None
    settings: Settings = field(default_factory=lambda: Settings())

    def __post_init__(self) -> None:
        """Check the fields, and make models and tools of plain functions."""
        for name in ("allow", "ask", "deny"):
            if isinstance(getattr(self, name), str):
                raise InvalidArgsError(f"{name} is a list of patterns, not a text")
        object.__setattr__(self, "model", as_model(self.model))
        object.__setattr__(self, "tools", _tools(self.tools))
        names = [one.name for one in self.list_tools()]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InvalidArgsError(f"two tools have the name {twice[0]}", {"name": twice[0]})

    def list_tools(self) -> tuple[Tool, ...]:
        """Return the tools."""
        return _tools(self.tools)

    def with_changes(self, changes: Changes) -> Equipment:
        """Return this equipment with other parts."""
        return dataclasses.replace(self, **changes)

    def written(self) -> str:
        """Return the equipment as the kernel reads it."""
        policy = {"allow": list(self.allow), "ask": list(self.ask), "deny": list(self.deny)}
        try:
            return json.dumps(
                {
                    "model": as_model(self.model).written(),
                    "tools": [one.written() for one in self.list_tools()],
                    "policy": policy,
                    "asks": self.approve is not None,
                    "delegate": self.delegates,
                    "system": self.system,
                    "settings": self.settings,
                },
                allow_nan=False,
            )
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgsError(f"the equipment has no form in JSON: {error}") from error
