defmodule Forklore do
  @moduledoc """
  Sessions of agents in forklore: the same verbs through the program and through a server.

      lore = Forklore.program(store: "sqlite:sessions.db")
      lore = Forklore.server("https://lore.example")        # with the token in FORKLORE_TOKEN
      Forklore.fork(lore, "plan-1", at: "seq:7", label: "plan-b")["child_session_id"]

  Answers are maps with the fields of docs/reference/json.md. A refusal raises `Forklore.Error`.
  Needs Elixir 1.18, or the package Jason, and Erlang/OTP 25.
  """
  alias Forklore.Transport
  import Transport, only: [flags: 1]

  defstruct [:url, :token, program: "forklore", options: []]

  @doc "Uses the program at `:path`, with the other options for every command, such as `:store`."
  def program(options \\ []) do
    {path, options} = Keyword.pop(options, :path, System.get_env("FORKLORE", "forklore"))
    %__MODULE__{program: path, options: options}
  end

  @doc "Uses the API of a server. The token is in `FORKLORE_TOKEN` if it is not given."
  def server(url, token \\ System.fetch_env!("FORKLORE_TOKEN")) do
    for app <- [:inets, :ssl], do: {:ok, _} = Application.ensure_all_started(app)
    %__MODULE__{url: String.trim_trailing(url, "/"), token: token}
  end

  @doc "Creates a session. Options: `:id`, `:title`, `:workspace`, ..."
  def new(lore, options),
    do: Transport.answer(lore, ["new" | flags(options)], {:post, "/sessions", {:json, options}})

  @doc "Appends events, all or none: maps with `type`, `data` and, if wanted, `id` and `ts`."
  def append(lore, session, events) do
    body = {:json, events: events}
    words = {["append", session], {:lines, events}}
    Transport.answer(lore, words, {:post, of(session, "events"), body})
  end

  @doc "Forks a session. Options: `:at`, `:id`, `:label`, `:strategy`, `:summarize`, `:dry_run`, ..."
  def fork(lore, session, options \\ []) do
    request = {:post, of(session, "forks"), {:json, options}}
    Transport.answer(lore, ["fork", session | flags(options)], request)
  end

  @doc "Returns the family of a session: its forks and sub-agents."
  def tree(lore, session),
    do: Transport.answer(lore, ["tree", session], {:get, of(session, "tree"), nil})

  @doc "Returns the events of a session, those that it inherits included."
  def log(%{url: nil} = lore, session), do: Transport.lines(lore, ["log", session])
  def log(lore, session), do: pages(lore, session, 0)

  @doc "Attaches bytes to a session, in a message with a text."
  def attach(lore, session, name, bytes, text) do
    words = ["attach", session, "-", "--name=#{name}", "--text=#{text}"]
    path = of(session, "attachments?" <> URI.encode_query([name: name, text: text], :rfc3986))
    Transport.answer(lore, {words, {:bytes, bytes}}, {:post, path, {:bytes, bytes}})
  end

  @doc "Returns the bytes of an attachment, also of one that the session inherits."
  def attachment(lore, session, ref) do
    path = of(session, "attachments/" <> segment(ref))
    Transport.bytes(lore, ["attach", session, "--get", ref], {:get, path, nil})
  end

  @doc "Imports a session file of an agent."
  def import_file(lore, path) do
    route = "/imports?" <> URI.encode_query([name: Path.basename(path)], :rfc3986)
    Transport.answer(lore, ["import", path], {:post, route, {:bytes, File.read!(path)}})
  end

  @doc "Returns a session as a file of an agent, such as `\"pixir\"`."
  def export(lore, session, agent) do
    request = {:get, of(session, "export?to=" <> segment(agent)), nil}
    Transport.bytes(lore, ["export", session, "--to", agent], request)
  end

  defp pages(lore, session, seq) do
    page = Transport.answer(lore, [], {:get, of(session, "events?seq=#{seq}"), nil})
    page["events"] ++ if(page["next"], do: pages(lore, session, page["next"]), else: [])
  end

  defp of(session, rest), do: "/sessions/#{segment(session)}/#{rest}"
  defp segment(text), do: URI.encode(text, &URI.char_unreserved?/1)
end
