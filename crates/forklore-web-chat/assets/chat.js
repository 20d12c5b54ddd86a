// Talks to the agent: sends, shows the answer as it arrives, and asks about tool calls.

const root = document.querySelector("[data-chat]");
const base = `/api/v1/sessions/${root.dataset.chat}`;
const find = (id) => document.getElementById(id);
const answering = find("answering");
const dialog = find("approval");
const prompt = find("prompt");

// How long the conversation takes at most to be read again.
const SWEEP = 2000;

let isRunning = false;
let approvals = [];
let blocks = new Map();
let sending = null;

// Characters that reorder or hide text become visible, as in the rest of the pages.
const HOSTILE = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u3164" +
    "\\uffa0\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff\\ufff0-\\ufffb" +
    "\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]",
  "gu",
);
const visible = (text) =>
  String(text).replace(HOSTILE, (it) => `\\u{${it.codePointAt(0).toString(16)}}`);

function say(text) {
  const notice = find("notice");
  notice.textContent = visible(text);
  notice.hidden = !text;
}

const tell = (text) => (find("status").textContent = text);

// What is new stays in sight, unless the reader has scrolled away from it.
function grow(change) {
  const page = document.documentElement;
  const isAtEnd = innerHeight + scrollY >= page.scrollHeight - 80;
  change();
  if (isAtEnd) scrollTo(0, page.scrollHeight);
}

function add(kind, title, text) {
  const block = document.createElement("div");
  block.className = kind;
  if (title) {
    const heading = document.createElement("h3");
    heading.textContent = title;
    block.append(heading);
  }
  const body = document.createElement("div");
  body.className = "text";
  body.textContent = visible(text);
  block.append(body);
  grow(() => answering.append(block));
  return { block, body, text };
}

function piece(kind, index, delta) {
  const key = `${kind} ${index}`;
  if (!blocks.has(key)) blocks.set(key, add(kind, kind === "thinking" ? "Thinking" : "", ""));
  const part = blocks.get(key);
  part.text += delta;
  grow(() => (part.body.textContent = visible(part.text)));
}

function whole(kind, index, text) {
  piece(kind, index, "");
  const part = blocks.get(`${kind} ${index}`);
  part.body.textContent = visible(text);
  part.block.dataset.stored = "yes";
}

function tool(data, done) {
  const key = `call ${data.tool_call_id}`;
  if (!blocks.has(key)) {
    const text = `→ ${data.tool_name} ${JSON.stringify(data.tool_input ?? {})}`;
    blocks.set(key, add("call", "", text));
  }
  if (!done) return;
  const part = blocks.get(key);
  part.block.classList.toggle("failed", Boolean(data.is_error));
  part.block.dataset.stored = "yes";
}

// The sub-agents of the turn, by their sessions.
let agents = new Map();
// How much of what a sub-agent writes is shown while it runs, in characters.
const LATEST = 400;

function agent(id) {
  if (!agents.has(id)) {
    const part = add("agent", "Sub-agent", "");
    const link = document.createElement("a");
    link.href = `/s/${encodeURIComponent(id)}`;
    part.block.querySelector("h3").append(" ", link);
    agents.set(id, { ...part, link });
    named(id, id);
  }
  return agents.get(id);
}

const named = (id, name) => (agent(id).link.textContent = visible(name));

function shows(id, text) {
  const part = agent(id);
  part.text = text;
  const latest = text.length > LATEST ? `…${text.slice(-LATEST)}` : text;
  grow(() => (part.body.textContent = visible(latest)));
}

// What a sub-agent does, while it does it.
const delegated = {
  "session:fork": (id, data) => data.kind === "delegate" && named(id, data.label),
  "content_block:start": (id, data) => data.block_type === "text" && shows(id, ""),
  "content_block:delta": (id, data) => data.block_type === "text" && shows(id, agent(id).text + data.delta),
  "content_block:end": (id, data) => data.block_type === "text" && shows(id, data.block.text),
  "tool:pre": (id, data) => shows(id, `→ ${data.tool_name} ${JSON.stringify(data.tool_input ?? {})}`),
  "tool:progress": (id, data) => data.step.message && shows(id, data.step.message),
  "tool:error": (id, data) => shows(id, `${data.tool_name} failed`),
};

function ended(data, text) {
  const part = agent(data.sub_session_id);
  part.block.dataset.stored = "yes";
  if (text) shows(data.sub_session_id, text);
}

const notified = {
  "delegate:agent_spawned": (data) => agent(data.sub_session_id),
  "delegate:agent_resumed": (data) => agent(data.sub_session_id),
  "delegate:agent_completed": (data) => ended(data),
  "delegate:error": (data) => ended(data, data.error || "failed"),
  "prompt:submit": (data) => (add("user", "You", data.prompt).block.dataset.stored = "yes"),
  "provider:request": () => (blocks = new Map([...blocks].filter(([key]) => key.startsWith("call ")))),
  "content_block:delta": (data) => data.block_type === "text" && piece("answer", data.block_index, data.delta),
  "thinking:delta": (data) => piece("thinking", data.block_index, data.delta),
  "content_block:end": (data) => data.block_type === "text" && whole("answer", data.block_index, data.block.text),
  "thinking:final": (data) => whole("thinking", data.block_index, data.thinking),
  "tool:pre": (data) => tool(data, false),
  "tool:post": (data) => tool(data, true),
  "tool:error": (data) => tool(data, true),
  "tool:progress": (data) => data.step.message && tell(visible(data.step.message)),
  "provider:retry": (data) => tell(`${visible(data.error)}; it is asked again`),
};

function running(now) {
  isRunning = now;
  document.body.dataset.running = now ? "yes" : "no";
  if (!prompt) return;
  find("interrupt").hidden = !now;
  find("send").disabled = now;
  if (now) find("broken").hidden = true;
}

const received = {
  state(data) {
    // A turn that ran when the connection broke, and does not run now, was interrupted.
    const wasCut = isRunning && data.turn_id === null;
    running(data.turn_id !== null);
    if (wasCut) cut();
    approvals = data.approvals;
    ask();
    document.body.dataset.talking = "yes";
  },
  begin() {
    empty();
    approvals = [];
    say("");
    tell("The model answers");
    running(true);
  },
  notification(data) {
    if (data.session_id === root.dataset.chat) notified[data.event]?.(data.data);
    else delegated[data.event]?.(data.session_id, data.data);
  },
  approval(data) {
    if (!approvals.some((it) => it.approval_id === data.approval_id)) approvals.push(data);
    ask();
  },
  answered(data) {
    approvals = approvals.filter((it) => it.approval_id !== data.approval_id);
    ask();
  },
  end(data) {
    running(false);
    approvals = [];
    ask();
    for (const block of answering.children) block.dataset.stored = "yes";
    // The conversation may have been read again before.
    setTimeout(sweep, SWEEP);
    const { turn, problem } = data;
    if (turn?.moved_from) return location.assign(`/s/${turn.session_id}/chat`);
    if (problem) say([problem.detail, ...problem.next_actions].join("\n"));
    const reason = turn?.status?.incomplete;
    if (reason) say(`The answer was cut short: ${reason}`);
    tell(turn?.status === "cancelled" ? "Interrupted; what was said is stored" : "The turn has ended");
    if (prompt) find("broken").hidden = turn?.status === "success";
  },
};

function empty() {
  answering.replaceChildren();
  blocks = new Map();
  agents = new Map();
}

// Shows that the turn ended without its end, and offers to go on with it.
function cut() {
  for (const block of answering.children) block.dataset.stored = "yes";
  tell("The turn was interrupted; what was stored is above");
  if (prompt) find("broken").hidden = false;
}

// What is stored appears in the conversation; then it needs not be shown twice.
function sweep() {
  for (const block of [...answering.children]) if (block.dataset.stored) block.remove();
}

new MutationObserver(sweep).observe(find("fragment"), { childList: true });

let asking = null;
let left = null;

// Shows the first question that waits. Not at once: it may be answered already.
function ask() {
  clearTimeout(asking);
  asking = setTimeout(show, 50);
}

function show() {
  if (!dialog) return;
  const [first] = approvals;
  find("asks") && (find("asks").hidden = !first);
  if (!first || dialog.dataset.id !== first.approval_id) {
    if (dialog.open) dialog.close();
    delete dialog.dataset.id;
  }
  if (!first || first.approval_id === left || dialog.open) return;
  dialog.dataset.id = first.approval_id;
  const name = first.tool_name;
  find("approval-title").textContent = name ? `May it call ${visible(name)}?` : "May this happen?";
  find("approval-prompt").textContent = name ? "" : visible(first.prompt);
  find("approval-arguments").textContent = visible(JSON.stringify(first.arguments, null, 2));
  find("approval-arguments").hidden = !name;
  dialog.querySelector('[data-answer="always"]').hidden = !name;
  dialog.showModal();
  // Keys that were typed for a message must not answer.
  find("approval-title").focus();
}

dialog?.addEventListener("cancel", () => (left = dialog.dataset.id));
dialog?.addEventListener("click", async (event) => {
  const answer = event.target.closest("[data-answer]")?.dataset.answer;
  if (!answer) return;
  const id = dialog.dataset.id;
  const done = await post(`/approvals/${encodeURIComponent(id)}`, { answer });
  approvals = approvals.filter((it) => it.approval_id !== id);
  show();
  if (done) prompt?.focus();
});
find("ask")?.addEventListener("click", () => {
  left = null;
  show();
});

// Sends a request. Shows what is wrong, and returns whether nothing is.
async function post(path, body, headers = {}) {
  try {
    const answer = await fetch(base + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    if (answer.ok) return true;
    const problem = await answer.json();
    say([problem.detail, ...problem.next_actions].join("\n"));
  } catch {
    say("The server does not answer. Nothing that you wrote is lost: send it again.");
  }
  return false;
}

// The same message has the same key, so that the server takes it once if it is sent again.
function keyOf(text) {
  if (sending?.text !== text) {
    const bytes = [...crypto.getRandomValues(new Uint8Array(16))];
    sending = { text, key: bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("") };
  }
  return sending.key;
}

async function begin(text) {
  const model = find("model")?.value;
  const body = model ? { prompt: text, model } : { prompt: text };
  say("");
  const began = await post("/turns", body, { "idempotency-key": keyOf(`${model}\n${text}`) });
  if (began) sending = null;
  return began;
}

const interrupt = () => post("/turns/current/interrupt", {});

find("composer")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = prompt.value;
  if (isRunning || !text.trim()) return;
  if ((await begin(text)) && prompt.value === text) prompt.value = "";
});
prompt?.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  find("composer").requestSubmit();
});
find("interrupt")?.addEventListener("click", interrupt);
find("continue")?.addEventListener("click", async () => {
  if (await begin(null)) prompt.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !isRunning || !prompt || document.querySelector("dialog[open]")) return;
  event.preventDefault();
  interrupt();
});

let source = null;
const AGAIN = 5_000;

// A server that was started again does not know who was logged in. A browser that lost the connection
// tries again by itself; one that is refused does not.
async function refused() {
  if (source?.readyState !== EventSource.CLOSED) return;
  source = null;
  try {
    const answer = await fetch(`${base}/turns/current`);
    if (answer.status === 401) {
      if (isRunning) cut();
      running(false);
      if (prompt) find("broken").hidden = true;
      return say("The server was started again. Log in with the link that it printed, and reload this page.");
    }
  } catch {
    // It is away; perhaps not for long.
  }
  setTimeout(connect, AGAIN);
}

// A browser has few connections for each server, so a page that nobody sees gives up its own.
function connect() {
  if (document.hidden) {
    source?.close();
    source = null;
    return;
  }
  if (source) return;
  source = new EventSource(`${base}/turns/live`);
  source.onerror = refused;
  empty();
  for (const [name, receive] of Object.entries(received)) {
    source.addEventListener(name, (event) => receive(JSON.parse(event.data)));
  }
}

document.addEventListener("visibilitychange", connect);
addEventListener("pagehide", () => source?.close());
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  source = null;
  connect();
});
connect();
prompt?.focus();
