/** A framework that saves its whole conversation each time. */
import { isDeepStrictEqual } from "node:util";

import { before, type Line } from "./line.js";
import type { NewEvent } from "./types.js";

/** A message, and the first event that has it. */
export interface Entry<Message> {
  readonly seq: number;
  readonly message: Message;
}

/**
 * Lets a line have these messages from now on. What is new is appended. What the line had and the messages
 * do not have is not lost: the line goes on in a fork at the last message that both have.
 */
export async function rewrite<Message>(
  line: Line,
  entries: readonly Entry<Message>[],
  messages: readonly Message[],
  eventsOf: (message: Message) => NewEvent[],
): Promise<void> {
  const head = await line.begun();
  let same = 0;
  while (same < entries.length && isDeepStrictEqual(entries[same]!.message, messages[same])) {
    same += 1;
  }
  const events = messages.slice(same).flatMap(eventsOf);
  const gone = entries[same];
  if (gone !== undefined) {
    await line.move(head, before(gone.seq), events);
  } else if (events.length > 0) {
    await line.appendAt(head, events);
  }
}
