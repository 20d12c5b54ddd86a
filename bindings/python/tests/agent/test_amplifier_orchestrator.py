"""An orchestrator of Amplifier's sessions that runs its turns on the kernel."""

from __future__ import annotations

from typing import Any

from forklore import Store, agent, types
from forklore.amplifier import AmplifierSession

from .conftest import Script


class Loader:
    """Loads an orchestrator that lets a sub-agent of the kernel answer."""

    def __init__(self, kernel: agent.Kernel, model: Script) -> None:
        self.kernel = kernel
        self.model = model

    async def load(self, module: str, config: dict[str, Any]) -> Any:
        async def orchestrate(
            session: AmplifierSession, prompt: str, before: list[types.Record]
        ) -> str:
            worker = await self.kernel.create(parent_id=session.session_id, model=self.model)
            return (await worker.execute(prompt)).text

        return orchestrate


async def test_the_kernel_answers_for_a_session_of_amplifier(store: Store) -> None:
    model = Script("both would do", "A it is")
    config = {"session": {"orchestrator": "kernel"}}
    async with agent.Kernel(store) as kernel:
        parent = AmplifierSession(config, Loader(kernel, model), "abc-123", store=store)
        await parent.initialize()
        assert await parent.execute("plan A or plan B?") == "both would do"
        child = await parent.fork(session_id="abc-123-critic")
        assert await child.execute("take one") == "A it is"
        await parent.cleanup(cascade_children=True)
    contents = [message["content"] for message in store.inspect("abc-123")["messages"]]
    assert contents == ["plan A or plan B?", "both would do"]
    below = store.list(kind="delegate")["sessions"]
    parents = sorted(str(one["parent_id"]) for one in below)
    assert parents == ["abc-123", "abc-123", "abc-123-critic"]
    assert {one["root_id"] for one in below} == {"abc-123"}
