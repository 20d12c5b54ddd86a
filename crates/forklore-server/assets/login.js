// Exchanges the secret of a link, or a token, for the cookie of the page.

const state = document.getElementById("state");

async function logIn(secret) {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ secret }),
  });
  if (answer.ok) {
    location.reload();
  } else {
    state.textContent =
      answer.status === 401
        ? "This link was used already, or the token is not valid. Give a token, or restart forklore serve."
        : `The server refused: ${answer.status}.`;
  }
}

document.getElementById("login").addEventListener("submit", (event) => {
  event.preventDefault();
  logIn(document.getElementById("secret").value.trim());
});

// The secret must stay in no history and no bookmark.
const secret = new URLSearchParams(location.hash.slice(1)).get("login");
if (secret) {
  history.replaceState(null, "", location.pathname + location.search);
  logIn(secret);
}
