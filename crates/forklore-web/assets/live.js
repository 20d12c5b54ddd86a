// Follows the store: reads the changed part of the page again after each event of the server.

const region = document.querySelector("#fragment[data-fragment]");
const stream = document.body.dataset.live;
// The shortest time between two reads. The first change after a quiet time is read at once.
const PAUSE = 100;
// The time after which a server that is away or refuses is tried again.
const AGAIN = 5_000;
let next = 0;
let waiting = null;
let isReading = false;

const keyOf = (row) => row.id || row.querySelector("a")?.getAttribute("href");

// Remembers what is unfolded, by the entry that contains it and its number there.
function unfolded(root) {
  const open = new Set();
  for (const row of root.querySelectorAll("[data-row]")) {
    const key = keyOf(row);
    [...row.querySelectorAll("details")].forEach((part, at) => part.open && open.add(`${key} ${at}`));
  }
  return open;
}

function unfold(root, open) {
  for (const row of root.querySelectorAll("[data-row]")) {
    const key = keyOf(row);
    [...row.querySelectorAll("details")].forEach((part, at) => (part.open = open.has(`${key} ${at}`)));
  }
}

// Replaces the rows. What is unfolded, current or focused stays so.
function replace(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").body;
  const open = unfolded(region);
  const focused = document.activeElement?.getAttribute("href");
  const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
  const current = region.querySelector(".is-current");
  unfold(fresh, open);
  region.replaceChildren(...fresh.childNodes);
  if (current) {
    const rows = [...region.querySelectorAll("[data-row]")];
    rows.find((row) => keyOf(row) === keyOf(current))?.classList.add("is-current");
  }
  if (focused && !document.activeElement?.closest("#fragment")) {
    const links = [...region.querySelectorAll("a[href]")];
    links.find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }
  if (isAtEnd && region.dataset.session) scrollTo(0, document.documentElement.scrollHeight);
  region.dispatchEvent(new Event("reread"));
}

async function read() {
  waiting = null;
  if (isReading) return later();
  isReading = true;
  const begun = performance.now();
  const address = region.dataset.fragment;
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    // A search may have asked for something else since.
    if (answer.ok && address === region.dataset.fragment) {
      const text = await answer.text();
      if (text !== region.lastText) replace(text);
      region.lastText = text;
      document.body.dataset.updated = String(Number(document.body.dataset.updated ?? 0) + 1);
    }
    // A page that takes long to read is read less often.
    const took = performance.now() - begun;
    next = performance.now() + (isUnfinished() ? PAUSE : Math.max(PAUSE, 2 * took));
    if (isUnfinished()) later();
  } catch {
    // The server is away; its next event says when to read again.
    if (isUnfinished()) setTimeout(later, AGAIN);
  }
  isReading = false;
}

// The server answers a search before it has searched everything.
const isUnfinished = () => region.querySelector("[data-unfinished]") !== null;

function later() {
  waiting ??= setTimeout(read, Math.max(0, next - performance.now()));
}

let source = null;
let wasAway = false;
// Where the stream was, so that a new connection goes on there. Without one, it begins with the page.
let position = "";
let isLost = false;

function remember(event) {
  position = event.lastEventId || position;
}

function changed(event) {
  remember(event);
  later();
}

function address() {
  const url = new URL(stream, location.href);
  if (isLost) url.searchParams.delete("after");
  if (position) url.searchParams.set("after", position);
  return url;
}

// A browser has few connections for each server, so a page that nobody sees gives up its own.
function connect() {
  if (document.hidden) {
    source?.close();
    source = null;
    wasAway = true;
    return;
  }
  if (source) return;
  source = new EventSource(address());
  source.onmessage = changed;
  for (const name of ["session", "event"]) source.addEventListener(name, changed);
  source.addEventListener("begin", remember);
  source.onerror = () => {
    wasAway = true;
    if (source?.readyState !== EventSource.CLOSED) return;
    // The server refuses, for example because it does not know the position any more.
    source = null;
    position = "";
    isLost = true;
    setTimeout(connect, AGAIN);
  };
  // What was written while there was no connection is read when it is back.
  source.onopen = () => {
    document.body.dataset.following = "yes";
    if (wasAway) later();
    wasAway = false;
  };
}

if (region && stream) {
  document.addEventListener("visibilitychange", connect);
  addEventListener("pagehide", () => source?.close());
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    source = null;
    wasAway = true;
    connect();
  });
  connect();
}

// A part that takes long to read comes after the page.
if (region?.dataset.load) read();

// Typing replaces the hits too.
if (region) {
  new MutationObserver(() => isUnfinished() && later()).observe(region, { childList: true });
  if (isUnfinished()) later();
}
