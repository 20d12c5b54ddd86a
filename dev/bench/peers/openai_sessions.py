"""The sessions of the OpenAI Agents SDK: `plain` is SQLiteSession, `advanced` is AdvancedSQLiteSession,
`sqlalchemy` is SQLAlchemySession.

SQLiteSession and SQLAlchemySession have no fork: whoever needs one copies the items to a new session. AdvancedSQLiteSession branches from a turn.
"""

import sys

from agents import SQLiteSession
from agents.extensions.memory import AdvancedSQLiteSession

from service import Peer, serve


class Plain(Peer):
    def __init__(self, path):
        super().__init__(path)
        self.session = SQLiteSession("main", path)
        self.forks = 0

    async def add(self, messages):
        await self.session.add_items(messages)

    async def load(self):
        return await self.session.get_items()

    async def fork(self):
        self.forks += 1
        copy = SQLiteSession(f"fork-{self.forks}", self.path)
        await copy.add_items(await self.session.get_items())
        return copy

    async def enter(self, fork):
        self.session = fork


class Alchemy(Plain):
    def __init__(self, url):
        from sqlalchemy.ext.asyncio import create_async_engine

        Peer.__init__(self, url)
        self.engine = create_async_engine(url.replace("postgres://", "postgresql+asyncpg://"))
        self.session = self.open("main")
        self.forks = 0

    def open(self, name):
        from agents.extensions.memory import SQLAlchemySession

        return SQLAlchemySession(name, engine=self.engine, create_tables=True)

    async def fork(self):
        self.forks += 1
        copy = self.open(f"fork-{self.forks}")
        await copy.add_items(await self.session.get_items())
        return copy


class Advanced(Peer):
    def __init__(self, path):
        super().__init__(path)
        self.session = AdvancedSQLiteSession(session_id="main", db_path=path, create_tables=True)
        self.branch = "main"
        self.forks = 0
        self.turn = None
        self.last_turn = []

    async def add(self, messages):
        await self.session.add_items(messages)
        self.turn = None
        self.last_turn = messages[-2:]

    async def load(self):
        return await self.session.get_items()

    async def before_fork(self):
        if self.turn is None:
            self.turn = (await self.session.get_conversation_turns())[-1]["turn"]

    async def fork(self):
        self.forks += 1
        return await self.session.create_branch_from_turn(self.turn, f"fork-{self.forks}")

    async def after_fork(self):
        # Branching enters the branch.
        await self.session.switch_to_branch(self.branch)

    async def enter(self, fork):
        await self.session.switch_to_branch(fork)
        self.branch = fork
        # A branch ends before the turn it is made from; to be as long as the others it is said again.
        await self.add(self.last_turn)


serve({"advanced": Advanced, "sqlalchemy": Alchemy}.get(sys.argv[1], Plain))
