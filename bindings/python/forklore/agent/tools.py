"""Tools: functions that a model may call."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from ..errors import InvalidArgsError
from . import schema
from .running import described

if TYPE_CHECKING:
    from .context import ToolContext

Function = TypeVar("Function", bound=Callable[..., Any])


class ToolError(Exception):
    """A tool raises this to fail with a message for the model. The turn goes on."""


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool, if it is more than a text."""

    content: str | list[dict[str, Any]]
    """A text or a list of parts, such as ``{"type": "text", "text": ...}`` or ``{"type": "image",
    "media_type": ..., "data": BASE64}``."""
    is_error: bool = False
    """Whether the call failed."""


@dataclass(frozen=True)
class Tool:
    """A function that a model may call. :func:`tool` makes one."""

    function: Callable[..., Any]
    """The function. If it is no coroutine function, it runs in a thread."""
    name: str
    """The name with which the model calls the tool."""
    description: str
    """What the tool does, in words for the model."""
    parameters: dict[str, Any]
    """The JSON schema of the arguments."""
    context: str | None = None
    """The parameter that gets the :class:`ToolContext`, if there is one."""

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the function itself."""
        return self.function(*arguments, **named)

    def written(self) -> dict[str, Any]:
        """Return what the model gets to know about the tool."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    async def execute(self, arguments: Any, context: ToolContext) -> ToolResult:
        """Execute a call of a model. An exception of the function is a failed result.

        Args:
            arguments: The arguments as the model wrote them.
            context: The call and its turn.
        """
        try:
            call = self._bound(arguments, context)
        except (TypeError, InvalidArgsError) as error:
            return ToolResult(f"the arguments: {error}", is_error=True)
        try:
            return result_of(await called(self.function, *call.args, **call.kwargs))
        except ToolError as error:
            return ToolResult(str(error), is_error=True)
        except Exception as error:
            return ToolResult(described(error), is_error=True)

    def _bound(self, arguments: Any, context: ToolContext) -> inspect.BoundArguments:
        if not isinstance(arguments, dict):
            raise InvalidArgsError("expected an object")
        named = cast("dict[str, Any]", arguments)
        if self.context is not None:
            if self.context in named:
                raise InvalidArgsError(f"got an unexpected argument {self.context!r}")
            named = {**named, self.context: context}
        return inspect.signature(self.function).bind(**named)


def result_of(result: Any) -> ToolResult:
    """Return what a function returned as the result of a tool.

    A text, a list of parts and a :class:`ToolResult` stay what they are. None is an empty text, and
    any other value is written as JSON.
    """
    if isinstance(result, ToolResult):
        return result
    if result is None:
        return ToolResult("")
    if isinstance(result, str):
        return ToolResult(result)
    parts = listed(result)
    if parts and all(_is_part(part) for part in parts):
        return ToolResult(parts)
    return ToolResult(json.dumps(result, ensure_ascii=False, allow_nan=False))


def listed(value: Any) -> list[Any]:
    """Return a list's items, or none if the value is no list."""
    if not isinstance(value, list):
        return []
    items: list[Any] = value  # pyright: ignore[reportUnknownVariableType]
    return items


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(cast("dict[str, Any]", part).get("type"), str)


def is_async(function: Callable[..., Any]) -> bool:
    """Check whether calling a function gives a coroutine or an asynchronous generator."""
    call: Any = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(call) or inspect.isasyncgenfunction(call)


async def called(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Call a function: one that blocks in a thread, a coroutine function on this event loop."""
    if is_async(function):
        result = function(*arguments, **named)
    else:
        result = await asyncio.to_thread(_contained, function, arguments, named)
    return await result if inspect.isawaitable(result) else result


def _contained(
    function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    try:
        return function(*arguments, **named)
    except StopIteration as error:
        # A future cannot have this exception: its task would wait for ever.
        raise RuntimeError("the function raised StopIteration") from error


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: dict[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    parameters: dict[str, Any] | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function. Use it as a decorator.

    Args:
        function: The function. A parameter with the annotation :class:`ToolContext` gets the call and
            its turn; the model does not see it.
        name: The tool's name for the model. The default is the function's.
        description: What the tool does. The default is the function's docstring before its sections.
        parameters: The JSON schema of the arguments. The default comes from the annotations: simple
            types, lists, dictionaries, ``Literal``, ``Enum``, ``TypedDict``, unions of them, and
            ``Annotated[TYPE, "description"]``. The docstring's section ``Args:`` describes them too.

    Raises:
        InvalidArgsError: A parameter's type has no JSON schema.
    """

    def made(function: Callable[..., Any]) -> Tool:
        context = _context_parameter(function)
        own = getattr(function, "__name__", type(function).__name__)
        summary = schema.summary(inspect.getdoc(function) or "")
        return Tool(
            function=function,
            name=name or own,
            description=summary if description is None else description,
            parameters=schema.arguments(function, context) if parameters is None else parameters,
            context=context,
        )

    return made if function is None else made(function)


def _context_parameter(function: Callable[..., Any]) -> str | None:
    from .context import ToolContext

    hints = schema.hints_of(function)
    return next((name for name, hint in hints.items() if hint is ToolContext and name != "return"), None)


def as_tool(function: Tool | Callable[..., Any]) -> Tool:
    """Return a tool, or the tool of a plain function."""
    return function if isinstance(function, Tool) else tool(function)
