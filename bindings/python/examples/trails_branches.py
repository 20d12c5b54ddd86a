"""Fork a session of Trails, list the branches, replay one, and delete the parent without its fork.

Run it with ``python trails_branches.py``.
"""

from __future__ import annotations

import forklore
from forklore.trails import Session


def main() -> None:
    """Do with a session what ADR-0018a describes."""
    with forklore.open("memory:") as ctx:
        plan = Session("trip-42", principal="did:key:z6MkAnn")
        plan.append("user", "How do I get to Oslo?")
        plan.append("assistant", "By train, it takes 16 hours.")
        plan.append("user", "And faster?")
        plan.persist(ctx)

        by_sea = plan.fork(ctx, 2, session_id="trip-43", principal="did:key:z6MkBob")
        by_sea.append("user", "And by sea?")
        by_sea.persist(ctx)

        for branch in plan.branches(ctx):
            print(f"{branch['session_id']}: forked at {branch['forked_at_index']}, {branch['turns']} turns")
        shared = by_sea.replay(ctx, up_to_index=2)
        print("shared:", " / ".join(turn["content"] for turn in shared))

        by_sea.detach(ctx)
        Session.delete(ctx, "trip-42")
        resumed = Session.load(ctx, "trip-43")
        print(f"resumed for {resumed.principal}:", " / ".join(turn.content for turn in resumed.turns))


if __name__ == "__main__":
    main()
