# What Pixir's decision record about forks asks for, step by step, with forklore.
#
#     elixir -r transport.ex -r forklore.ex -r pixir_log.ex pixir.exs
#
# FORKLORE is the program (otherwise the one on the PATH), and FORKLORE_STORE its store. With
# FORKLORE_URL and FORKLORE_TOKEN, all steps are done again through a server.

defmodule Story do
  import ExUnit.Assertions

  @user "user_message"
  @assistant "assistant_message"

  def tell(lore, name, work) do
    IO.puts("through the #{name}")
    parent = append_to_a_log(lore, "#{name}-root", work)
    plan = plan_a_fork(lore, parent, name)
    child = fork(lore, parent, plan)
    read_the_child(lore, parent, child)
    cache_family(lore, parent, child)
    forks_of_the_whole(lore, parent)
    refusals(lore, parent, child)
    pixirs_own_logs(lore, name, work)
  end

  defp append_to_a_log(lore, id, work) do
    step("append to a parent log")
    assert %{"session" => %{"head_seq" => -1}} = Forklore.new(lore, id: id, workspace: work)

    calls = [
      event(@user, content: "Add a discount – with care 🌳."),
      event("tool_call", id: "call_1", name: "read", arguments: %{"path" => "basket.ex"}),
      event("tool_result", call_id: "call_1", content: "def total, do: 0"),
      event("provider_usage", input: 120, output: 30),
      event(@assistant, content: "The total is one function.")
    ]

    assert %{"from_seq" => 0, "to_seq" => 4} = Forklore.append(lore, id, calls)
    picture = <<137, 80, 78, 71, 0, 255>>
    assert %{"seq" => 5} = Forklore.attach(lore, id, "shop.png", picture, "Look at this.")
    answers = for text <- ["A shop.", "Done."], do: event(@assistant, content: text)
    compaction = event("history_compaction", from_index: 0, to_index: 3, content: "A discount.")
    assert %{"head_seq" => 8} = Forklore.append(lore, id, answers ++ [compaction])
    id
  end

  defp plan_a_fork(lore, parent, name) do
    step("fork --to-seq 6 --summarize --dry-run: a plan, and nothing is written")
    before = Forklore.tree(lore, parent)

    options = [
      id: "#{name}-child",
      at: "seq:6",
      strategy: "replay_v1",
      summarize: "deterministic"
    ]

    plan = Forklore.fork(lore, parent, [dry_run: true] ++ options)
    assert %{"recorded" => false, "dry_run" => true} = plan
    assert %{"cut" => %{"seq" => 6, "index" => 6}, "event_count" => 6} = plan
    assert plan["would_record_branch_summary"]
    assert Forklore.tree(lore, parent) == before
    options
  end

  defp fork(lore, parent, options) do
    step("fork: a log of its own, in which the inherited events are copied")
    before = Forklore.log(lore, parent)
    made = Forklore.fork(lore, parent, options)
    assert %{"recorded" => true, "strategy" => "replay_v1", "event_count" => 6} = made
    assert Forklore.log(lore, parent) == before, "the parent is never changed"
    again = Forklore.fork(lore, parent, options)
    assert %{"recorded" => false, "existing" => true} = again
    assert again["child_session_id"] == made["child_session_id"]
    made["child_session_id"]
  end

  defp read_the_child(lore, parent, child) do
    step("session_fork at seq 0, the prefix from 1 on, then the summary; no usage")
    [lineage | rest] = log = Forklore.log(lore, child)
    assert Enum.map(log, & &1["seq"]) == Enum.to_list(0..7)
    assert %{"type" => "session_fork", "data" => %{"strategy" => "replay_v1"}} = lineage
    assert %{"parent_session_id" => ^parent, "event_count" => 6} = lineage["data"]
    {prefix, [summary]} = Enum.split(rest, 6)
    inherited = for it <- Forklore.log(lore, parent), it["seq"] <= 6, do: it
    inherited = Enum.reject(inherited, &(&1["type"] == "provider_usage"))
    content = &Map.take(&1, ["id", "ts", "type", "data"])
    assert Enum.map(prefix, content) == Enum.map(inherited, content)
    assert %{"type" => "branch_summary", "data" => %{"of" => %{"to_index" => 6}}} = summary

    step("attachments of the parent can be read from the child")
    attached = Enum.find(prefix, &is_list(&1["data"]["content"]))["data"]["content"]
    ref = Enum.find(attached, &(&1["type"] == "attachment"))["ref"]
    assert Forklore.attachment(lore, child, ref) == <<137, 80, 78, 71, 0, 255>>
  end

  defp cache_family(lore, parent, child) do
    step("the root is the cache family, also of a fork of the fork; tree shows both")
    nested = Forklore.fork(lore, child, at: "turn:1")
    assert nested["root_session_id"] == parent
    [root] = Forklore.tree(lore, child)["trees"]
    assert root["session_id"] == parent
    assert [%{"session_id" => ^child, "summary" => true, "cut" => cut} = node] = root["children"]
    assert cut["seq"] == 6
    assert [%{"kind" => "branch", "session_id" => id}] = node["children"]
    assert id == nested["child_session_id"]
  end

  defp forks_of_the_whole(lore, parent) do
    step("a fork without a cut has the whole; unlike Pixir's, also the compaction")
    whole = Forklore.fork(lore, parent)
    assert %{"cut" => %{"seq" => 8}, "strategy" => "share_v1"} = whole
    types = PixirLog.types(Forklore.log(lore, whole["child_session_id"]))
    assert String.ends_with?(types, "assistant_message assistant_message history_compaction")
    refute types =~ "provider_usage"
  end

  defp refusals(lore, parent, child) do
    step("what is refused is an error with a kind")
    far = catch_error(Forklore.fork(lore, parent, at: "seq:99"))
    assert %Forklore.Error{kind: "invalid_args", details: %{"reason" => "out_of_range"}} = far
    other = catch_error(Forklore.fork(lore, parent, id: child, at: "seq:0"))
    assert %Forklore.Error{kind: "already_exists", details: %{"differs" => "the cut"}} = other
    assert %Forklore.Error{kind: "not_found"} = catch_error(Forklore.tree(lore, "nobody"))
    wrong = [event(@user, content: "never"), event("tool_call", name: "no id")]
    head = length(Forklore.log(lore, parent))

    assert %Forklore.Error{kind: "invalid_args"} =
             catch_error(Forklore.append(lore, parent, wrong))

    assert length(Forklore.log(lore, parent)) == head, "all or none"
  end

  defp pixirs_own_logs(lore, name, work) do
    step("a log of Pixir: imported, forked, exported, and read as Pixir reads it")
    root = write_log(work, name)
    Forklore.import_file(lore, PixirLog.path(work, root))
    child = Forklore.fork(lore, root, at: "seq:4")["child_session_id"]
    log = PixirLog.fold(Forklore.export(lore, child, "pixir"))
    assert PixirLog.types(log) == "session_fork subagent_event user_message tool_call tool_result"
    [%{"data" => lineage} | replayed] = log
    assert %{"parent_session_id" => ^root, "fork_root_session_id" => ^root} = lineage
    assert %{"strategy" => "replay_v1", "from_seq" => 0, "forked_to_seq" => 4} = lineage
    assert lineage["replay_event_count"] == length(replayed)
    original = PixirLog.fold(File.read!(PixirLog.path(work, root)))
    content = &Map.take(&1, ["ts", "type", "data"])
    of_original = for it <- original, it["seq"] <= 4, it["type"] != "provider_usage", do: it
    assert Enum.map(replayed, content) == Enum.map(of_original, content)

    step("Pixir goes on in it; a fork of that log is in the same family")
    session = hd(log)["session_id"]
    next = pixir_event(session, length(log), "user_message", %{"text" => "And with Pixir?"})
    text = Enum.map_join(log ++ [next], &(JSON.encode!(&1) <> "\n"))
    File.write!(PixirLog.path(work, session), text)
    Forklore.import_file(lore, PixirLog.path(work, session))
    assert [%{"session_id" => ^root}] = Forklore.tree(lore, session)["trees"]
    nested = Forklore.fork(lore, session)["child_session_id"]
    [%{"data" => lineage} | _] = log = PixirLog.fold(Forklore.export(lore, nested, "pixir"))
    assert %{"parent_session_id" => ^session, "replay_event_count" => 5} = lineage
    assert PixirLog.fork_root(log) == root
  end

  defp write_log(work, name) do
    session = "20260619T120000-" <> Base.encode16(binary_part(name <> "...", 0, 3), case: :lower)
    posture = %{"event" => "permission_posture", "scope" => "session", "lineage" => "root"}

    events = [
      {"subagent_event", posture},
      {"user_message", %{"text" => "Run the tests – all of them."}},
      {"tool_call",
       %{"call_id" => "call_1", "name" => "bash", "args" => %{"command" => "mix test"}}},
      {"provider_usage", %{"model" => "gpt-5.5", "usage_summary" => %{"input_tokens" => 9}}},
      {"tool_result", %{"call_id" => "call_1", "ok" => true, "output" => "29 tests, 0 failures"}},
      {"assistant_message", %{"text" => "All pass."}}
    ]

    lines =
      for {{type, data}, seq} <- Enum.with_index(events) do
        [JSON.encode!(pixir_event(session, seq, type, data)), "\n"]
      end

    path = PixirLog.path(work, session)
    File.mkdir_p!(Path.dirname(path))
    File.write!(path, lines)
    session
  end

  defp pixir_event(session, seq, type, data) do
    ts = "2026-06-19T12:00:#{String.pad_leading("#{seq}", 2, "0")}.000000Z"
    id = Base.encode16(:crypto.strong_rand_bytes(8), case: :lower)

    %{
      "id" => id,
      "session_id" => session,
      "seq" => seq,
      "ts" => ts,
      "type" => type,
      "data" => data
    }
  end

  defp event(type, data), do: %{type: type, data: Map.new(data)}
  defp step(text), do: IO.puts("  " <> text)
end

work = Path.join(System.tmp_dir!(), "pixir-#{System.pid()}")
File.mkdir_p!(work)

try do
  Story.tell(Forklore.program(), "program", work)
  if url = System.get_env("FORKLORE_URL"), do: Story.tell(Forklore.server(url), "server", work)
after
  File.rm_rf!(work)
end

IO.puts("all steps hold")
