// Keys like those of a pager: j k, o, n N, g G, /, f, r, x, y, [ ], c, t, u, ?

const rows = () => [...document.querySelectorAll("main [data-row]")];
let current = null;

const key = (row) => row.id || row.querySelector("a")?.getAttribute("href");

// The row that is current, also after the rows were replaced by newer ones.
function position() {
  const all = rows();
  const at = all.indexOf(current);
  return at >= 0 || !current ? at : all.findIndex((row) => key(row) === key(current));
}

function select(row) {
  if (!row) return;
  for (const other of document.querySelectorAll(".is-current")) other.classList.remove("is-current");
  row.classList.add("is-current");
  current = row;
  row.scrollIntoView({ block: "nearest" });
  const target = row.querySelector("[data-open]");
  if (target) target.focus({ preventScroll: true });
}

function move(by) {
  const all = rows();
  const at = position();
  if (at >= 0) return select(all[Math.min(Math.max(at + by, 0), all.length - 1)]);
  // Begin with what is on the screen.
  select(all.find((row) => row.getBoundingClientRect().bottom > 80));
}

function unfold() {
  const row = rows()[position()];
  if (!row) return;
  const parts = [...row.querySelectorAll("details")];
  if (parts.length === 0) return row.querySelector("a[data-open]:is(.name, .label)")?.click();
  const open = parts.some((part) => !part.open);
  for (const part of parts) part.open = open;
}

function follow(key) {
  const link = document.querySelector(`[data-key="${key}"]`);
  if (link) link.click();
  return Boolean(link);
}

const actions = {
  j: () => move(1),
  k: () => move(-1),
  o: unfold,
  n: () => follow("n"),
  N: () => follow("N"),
  g: () => follow("g") || select(rows()[0]),
  G: () => follow("G") || select(rows().at(-1)),
  f: () => (rows()[position()] ?? document).querySelector("[data-dialog]")?.click(),
  r: () => (rows()[position()] ?? document).querySelector('[data-dialog="rewind"]')?.click(),
  x: () => rows()[position()]?.dispatchEvent(new CustomEvent("choose", { bubbles: true })),
  y: () => rows()[position()]?.querySelector("[data-copy-link]")?.click(),
  "[": () => follow("["),
  "]": () => follow("]"),
  c: () => follow("c"),
  t: () => follow("t"),
  u: () => location.assign("/"),
  "/": () => document.getElementById("q")?.select(),
  "?": () => document.getElementById("help")?.showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  const isTyping = event.target.closest("input, select, textarea, dialog[open]");
  if (isTyping && !event.target.matches("[data-row] input[type=checkbox]")) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

// A link to an event that another part of the conversation shows.
function jump() {
  const seq = /^#e-(\d+)$/.exec(location.hash)?.[1];
  const session = document.querySelector("[data-session]")?.dataset.session;
  if (!seq || !session) return;
  const row = document.getElementById(`e-${seq}`)?.closest("article");
  if (!row) {
    const query = new URLSearchParams(location.search);
    if (query.get("at") !== seq) location.replace(`?at=${seq}${location.hash}`);
    return;
  }
  // The result of a call is inside of the folded call.
  if (row.id !== `e-${seq}`) for (const part of row.querySelectorAll("details.call")) part.open = true;
  select(row);
}

addEventListener("hashchange", jump);
jump();
