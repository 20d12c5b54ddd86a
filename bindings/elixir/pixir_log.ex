defmodule PixirLog do
  @moduledoc """
  Reads the log of a Pixir session as Pixir does, and refuses what Pixir would refuse: a type that it
  does not know, a number that is missing or comes twice, an event of another session.
  """
  import ExUnit.Assertions

  @types ~w(user_message assistant_message reasoning skill_activation subagent_event workflow_event
            session_fork branch_summary history_compaction provider_usage turn_failed tool_call
            tool_result permission_decision)
  @id ~r/\A[\p{L}\p{N}_][\p{L}\p{N}\p{M}_.-]*\z/u

  @doc "Returns the path of a log, in the folder where Pixir works."
  def path(workspace, session),
    do: Path.join([workspace, ".pixir", "sessions", session <> ".ndjson"])

  @doc "Returns the events of a log, in their order."
  def fold(text) do
    events = for line <- String.split(text, "\n", trim: true), do: JSON.decode!(line)
    session = hd(events)["session_id"]
    assert session =~ @id and byte_size(session) <= 235

    for {event, seq} <- Enum.with_index(events) do
      assert event["type"] in @types
      assert event["seq"] == seq
      assert event["session_id"] == session
      assert is_map(event["data"])
      assert {:ok, _, 0} = DateTime.from_iso8601(event["ts"])
    end

    assert length(Enum.uniq_by(events, & &1["id"])) == length(events)
    check_calls(events)
    events
  end

  @doc "Returns the root of the forks to which a session belongs, whose cache they share."
  def fork_root([first | _] = events) do
    fork = Enum.find(events, &(&1["type"] == "session_fork"))
    if fork, do: fork["data"]["fork_root_session_id"], else: first["session_id"]
  end

  @doc "Returns the types of events, in one text."
  def types(events), do: Enum.map_join(events, " ", & &1["type"])

  # Pixir drops a result without its call, and answers a call without a result itself.
  defp check_calls(events) do
    open =
      Enum.reduce(events, [], fn
        %{"type" => "tool_call", "data" => %{"call_id" => id, "args" => args}}, open ->
          assert is_map(args)
          [id | open]

        %{"type" => "tool_result", "data" => %{"call_id" => id, "ok" => ok} = data}, open ->
          assert id in open and is_boolean(ok)
          assert is_binary(data["output"]) or is_map(data["error"])
          List.delete(open, id)

        %{"type" => type}, open ->
          refute type in ["tool_call", "tool_result"]
          open
      end)

    assert open == []
  end
end
