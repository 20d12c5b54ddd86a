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
  const [, , session] = address.pathname.split("/");
  try {
    const answer = await fetch(`/fragments/fork/${session}${address.search}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const form = new DOMParser().parseFromString(await answer.text(), "text/html").body;
    const dialog = document.createElement("dialog");
    dialog.setAttribute("aria-labelledby", "fork-title");
    dialog.append(...form.childNodes);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (link.isConnected) link.focus({ preventScroll: true });
    });
    document.body.append(dialog);
    dialog.showModal();
  } catch {
    location.assign(link.href);
  }
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

for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;

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
