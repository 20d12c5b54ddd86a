// Dialogs, copying, and choosing two branches to compare.

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-dialog]");
  const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (link && isPlain) {
    event.preventDefault();
    return open(link);
  }
  const copy = event.target.closest("[data-copy]");
  if (copy) return copied(copy);
  const address = event.target.closest("a[data-copy-link]");
  if (address && isPlain) {
    event.preventDefault();
    return copyLink(address);
  }
  const close = event.target.closest("dialog [data-close]");
  if (close) {
    event.preventDefault();
    return close.closest("dialog").close();
  }
  const row = event.target.closest("[data-branch]");
  if (row && event.shiftKey) {
    event.preventDefault();
    choose(row);
  }
});

// Shows the form behind a link in a dialog. If that fails, follows the link.
async function open(link) {
  const address = new URL(link.href);
  const [, , session, kind] = address.pathname.split("/");
  try {
    const answer = await fetch(`/fragments/${kind}/${session}${address.search}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const form = new DOMParser().parseFromString(await answer.text(), "text/html").body;
    const dialog = document.createElement("dialog");
    dialog.setAttribute("aria-labelledby", `${kind}-title`);
    dialog.append(...form.childNodes);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (link.isConnected) link.focus({ preventScroll: true });
    });
    document.body.append(dialog);
    show(dialog);
    dialog.showModal();
  } catch {
    location.assign(link.href);
  }
}

// A form with a further step shows it in the same dialog.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("dialog form[data-step]");
  if (!form) return;
  event.preventDefault();
  const dialog = form.closest("dialog");
  const [, , session, kind] = new URL(form.action).pathname.split("/");
  const body = new URLSearchParams(new FormData(form));
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  try {
    const answer = await fetch(`/fragments/${kind}/${session}`, { method: "POST", body });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (answer.ok) {
      dialog.replaceChildren(...page.body.childNodes);
      show(dialog);
      const title = dialog.querySelector("h1");
      title.tabIndex = -1;
      return title.focus();
    }
    failed(form, page.querySelector(".problem p")?.textContent);
  } catch {
    failed(form);
  }
  button.disabled = false;
});

// Says in a dialog why its next step cannot be shown.
function failed(form, why) {
  const note = form.querySelector("[role=alert]") ?? document.createElement("p");
  note.className = "bad";
  note.setAttribute("role", "alert");
  note.textContent = why ?? "The server does not answer.";
  form.append(note);
}

// Makes visible what works with scripts only.
function show(root) {
  for (const button of root.querySelectorAll("[data-copy]")) button.hidden = false;
}

async function copied(button) {
  const code = document.getElementById(button.dataset.copy);
  const status = document.getElementById("status");
  try {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = status.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(code);
    status.textContent = "The command is selected";
  }
}

// Copies the address of an event. If that is not allowed, follows the link, so the address is shown.
async function copyLink(link) {
  try {
    await navigator.clipboard.writeText(link.href);
    document.getElementById("status").textContent = link.textContent = "Copied";
    setTimeout(() => (link.textContent = "Copy link"), 2000);
  } catch {
    location.assign(link.href);
  }
}

show(document);

document.addEventListener("choose", (event) => {
  if (event.target.matches("[data-branch]")) choose(event.target);
});

// Two branches with the shift key, or with the key x: compares them.
function choose(row) {
  const box = row.querySelector('input[type="checkbox"]');
  if (!box) return;
  box.checked = !box.checked;
  const chosen = [...document.querySelectorAll('[data-branch] input:checked')];
  document.getElementById("status").textContent = `${chosen.length} chosen to compare`;
  if (chosen.length === 2) {
    location.assign(`/compare/${chosen.map((it) => encodeURIComponent(it.value)).join("/")}`);
  }
}
