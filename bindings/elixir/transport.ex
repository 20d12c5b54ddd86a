defmodule Forklore.Error do
  @moduledoc "A verb was refused. The fields are those of the contract's `ErrorObject`."
  defexception kind: "internal", message: "", details: %{}, next_actions: []
end

defmodule Forklore.Transport do
  @moduledoc """
  Carries verbs to the program or to a server. Each verb comes as the words of a command, with what it
  reads from its standard input, and as a request: its method, its route and its body.
  """

  @doc "Returns the answer of a verb."
  def answer(lore, words, request), do: lore |> bytes(words, request) |> decode()

  @doc "Returns the bytes that a verb answers with."
  def bytes(%{url: nil} = lore, {words, input}, _request), do: run(lore, words, input)
  def bytes(%{url: nil} = lore, words, _request), do: run(lore, words, {:bytes, ""})
  def bytes(lore, _words, request), do: call(lore, request)

  @doc "Returns the lines that a command prints."
  def lines(lore, words) do
    for line <- lore |> run(words, {:bytes, ""}) |> split(), do: decode(line)
  end

  @doc "Returns options as those of a command: `--dry-run`, `--at=seq:7`."
  def flags(options) do
    for {name, value} <- options, value not in [nil, false] do
      name = "--" <> String.replace("#{name}", "_", "-")
      if value == true, do: name, else: "#{name}=#{value}"
    end
  end

  # `System.cmd` gives a program no standard input, so a shell opens a file as it.
  defp run(lore, words, input) do
    path = Path.join(System.tmp_dir!(), "forklore-#{System.pid()}-#{System.unique_integer()}")
    words = [lore.program, "--json"] ++ flags(lore.options) ++ words

    try do
      File.write!(path, written(input), [:exclusive])
      System.cmd("sh", ["-c", ~S(exec "$@" < "$0"), path | words])
    after
      File.rm(path)
    end
    |> case do
      {text, 0} -> text
      {text, code} -> text |> split() |> List.last("") |> refuse("exit code #{code}")
    end
  end

  defp written({:bytes, bytes}), do: bytes
  defp written({:lines, terms}), do: Enum.map(terms, &[encode(&1), "\n"])

  defp call(lore, {method, path, body}) do
    head = {~c"#{lore.url}/api/v1#{path}", [{~c"authorization", ~c"Bearer #{lore.token}"}]}
    # A redirection would carry the token to another host.
    http = [autoredirect: false] ++ tls(lore.url)

    case :httpc.request(method, with_body(head, body), http, body_format: :binary) do
      {:ok, {{_, status, _}, _, bytes}} when status in 200..299 -> bytes
      {:ok, {status, _, text}} -> refuse(text, "#{lore.url}: #{inspect(status)}")
      {:error, why} -> refuse("", "#{lore.url}: #{inspect(why)}")
    end
  end

  defp with_body(head, nil), do: head

  defp with_body({url, headers}, {:bytes, bytes}),
    do: {url, headers, ~c"application/octet-stream", bytes}

  defp with_body({url, headers}, {:json, fields}),
    do: {url, headers, ~c"application/json", encode(Map.new(fields))}

  defp tls("https:" <> _) do
    hosts = [match_fun: :public_key.pkix_verify_hostname_match_fun(:https)]
    roots = :public_key.cacerts_get()
    [ssl: [verify: :verify_peer, cacerts: roots, customize_hostname_check: hosts]]
  end

  defp tls(_loopback), do: []

  # The program prints an object with `error`, a server a problem of RFC 9457.
  defp refuse(text, otherwise) do
    answer = if String.starts_with?(text, "{"), do: decode(text), else: %{}
    error = answer["error"] || answer
    message = error["message"] || error["detail"] || otherwise
    given = for name <- ~w(kind details next_actions)a, it = error["#{name}"], do: {name, it}
    raise Forklore.Error, [{:message, message} | given]
  end

  defp split(text), do: String.split(text, "\n", trim: true)
  defp encode(term), do: codec().encode!(term)
  defp decode(text), do: codec().decode!(text)
  defp codec, do: if(Code.ensure_loaded?(JSON), do: JSON, else: Jason)
end
