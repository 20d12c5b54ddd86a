"""A kernel for agents whose sessions fork, with models, tools and hooks in Python.

A turn stores the prompt, calls the model, and executes the model's calls until it makes none. Every answer
and every result is in the log before anything else happens, so another process can go on after a crash.
See docs/python-agent.md::

    import asyncio
    import forklore
    from forklore import agent

    @agent.tool
    async def weather(city: str) -> str:
        \"\"\"Say how the weather is.\"\"\"
        return f"sunny in {city}"

    async def main() -> None:
        model = agent.HttpModel("openai", "qwen3", base_url="http://localhost:8080/v1")
        with forklore.open("sqlite:agent.db") as store:
            async with agent.Kernel(store) as kernel:
                plan = await kernel.create(model=model, tools=[weather])
                await plan.execute("plan A or plan B?")
                other = await plan.fork()
                a, b = await asyncio.gather(plan.execute("take A"), other.execute("take B"))

    asyncio.run(main())
"""

from __future__ import annotations

import atexit

from .._native import end_agents
from .callables import Listener
from .context import ToolContext
from .equipment import Approver, Budget, Changes, Equipment, Limits, Parts, Settings
from .hooks import (
    Approval,
    Ask,
    CallInput,
    ChangeVerdict,
    CompactionInput,
    Deny,
    ForkInput,
    Grant,
    Hook,
    Identity,
    Inject,
    Modify,
    PromptInput,
    Question,
    Reaction,
    RequestVerdict,
    ResultInput,
    SessionInput,
    Verdict,
    ask,
    deny,
    grant,
    inject,
    modify,
)
from .kernel import Kernel
from .models import (
    End,
    FailureKind,
    FunctionModel,
    HttpModel,
    Model,
    ModelFailure,
    Options,
    Piece,
    Prices,
    Request,
    Thinking,
    Thought,
    ToolCall,
    ToolSpec,
    Usage,
)
from .session import Session
from .tools import Tool, ToolError, ToolResult, tool
from .turn import Turn, TurnUsage

# A thread of the kernel must not need the interpreter after its end.
atexit.register(end_agents)

__all__ = [
    "Approval",
    "Approver",
    "Ask",
    "Budget",
    "CallInput",
    "ChangeVerdict",
    "Changes",
    "CompactionInput",
    "Deny",
    "End",
    "Equipment",
    "FailureKind",
    "ForkInput",
    "FunctionModel",
    "Grant",
    "Hook",
    "HttpModel",
    "Identity",
    "Inject",
    "Kernel",
    "Limits",
    "Listener",
    "Model",
    "ModelFailure",
    "Modify",
    "Options",
    "Parts",
    "Piece",
    "Prices",
    "PromptInput",
    "Question",
    "Reaction",
    "Request",
    "RequestVerdict",
    "ResultInput",
    "Session",
    "SessionInput",
    "Settings",
    "Thinking",
    "Thought",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolError",
    "ToolResult",
    "ToolSpec",
    "Turn",
    "TurnUsage",
    "Usage",
    "Verdict",
    "ask",
    "deny",
    "grant",
    "inject",
    "modify",
    "tool",
]
