// Searches and filters the list as one types. Without this, the forms do the same.

const region = document.querySelector('#fragment[data-fragment^="/fragments/sessions"]');
const field = document.getElementById("q");
const filters = document.querySelector("form.filters");
const status = document.getElementById("status");
const DELAY = 150;
let timer = null;
let request = null;

// The query of both forms, without what is empty.
function query() {
  const all = new URLSearchParams(filters ? new FormData(filters) : undefined);
  all.set("q", field.value.trim());
  for (const [name, value] of [...all]) if (!value) all.delete(name);
  return all.toString();
}

function counted() {
  const rows = region.querySelectorAll("[data-row]").length;
  const more = region.querySelector('[rel="next"]') ? " or more" : "";
  const what = field.value.trim() ? "hit" : "family";
  const many = what === "hit" ? "hits" : "families";
  const found = rows ? `${rows}${more} ${rows === 1 ? what : many}` : "Nothing was found";
  return region.querySelector("[data-unfinished]") ? `${found} so far` : found;
}

async function find() {
  request?.abort();
  request = new AbortController();
  const wanted = query();
  const address = `/fragments/sessions?${wanted}`;
  try {
    const answer = await fetch(address, { signal: request.signal });
    const body = new DOMParser().parseFromString(await answer.text(), "text/html").body;
    // An error is a page; its paragraph says what is wrong.
    const why = answer.ok ? null : body.querySelector(".problem p");
    if (why) why.className = "empty";
    delete region.lastText;
    region.replaceChildren(...(answer.ok ? body.childNodes : [why ?? "The search failed."]));
    if (answer.ok) region.dataset.fragment = address;
    history.replaceState(null, "", wanted ? `/?${wanted}` : "/");
    const title = document.querySelector("main h1");
    if (title) title.textContent = field.value.trim() ? "Search" : "Sessions";
    status.textContent = answer.ok ? counted() : region.textContent;
    document.body.dataset.found = wanted;
  } catch (error) {
    if (error.name !== "AbortError") status.textContent = "The server does not answer.";
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(find, DELAY);
}

function keys(event) {
  if (event.isComposing) return;
  if (event.key === "ArrowDown") {
    const first = region.querySelector("[data-open]");
    if (!first) return;
    event.preventDefault();
    first.focus();
  }
}

// From the hits, the arrows go on, and from the first back to the field.
function arrows(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const links = [...region.querySelectorAll("[data-open]")];
  const at = links.indexOf(document.activeElement);
  if (!by || at < 0) return;
  event.preventDefault();
  (links[at + by] ?? (by < 0 ? field : links[at])).focus();
}

if (region && field) {
  field.addEventListener("input", soon);
  field.addEventListener("keydown", keys);
  filters?.addEventListener("input", soon);
  region.addEventListener("keydown", arrows);
  region.addEventListener("reread", () => {
    if (field.value.trim()) status.textContent = counted();
  });
}
