defmodule JSON do
  @moduledoc """
  The part of Elixir 1.18's `JSON` that the tests need, for older versions of Elixir: `encode!/1` and
  `decode!/1` for every value of JSON. Objects become maps with text as keys, and null becomes nil.
  """

  defmodule DecodeError do
    @moduledoc "The text is no JSON, from the given byte on."
    defexception [:offset]
    @impl true
    def message(%{offset: offset}), do: "no JSON from byte #{offset} on"
  end

  @doc "Returns the text of a value."
  def encode!(term), do: term |> written() |> IO.iodata_to_binary()

  @doc "Returns the value of a text, which must contain exactly one."
  def decode!(text) do
    {value, rest} = text |> blank() |> value()
    if blank(rest) == "", do: value, else: wrong(rest)
  catch
    {:wrong, rest} -> raise DecodeError, offset: byte_size(text) - byte_size(rest)
  end

  ## Writing

  defp written(nil), do: "null"
  defp written(truth) when is_boolean(truth), do: Atom.to_string(truth)
  defp written(atom) when is_atom(atom), do: written(Atom.to_string(atom))
  defp written(number) when is_integer(number), do: Integer.to_string(number)
  defp written(number) when is_float(number), do: Float.to_string(number)
  defp written(text) when is_binary(text), do: [?", escaped(text, ""), ?"]
  defp written([]), do: "[]"

  defp written(list) when is_list(list),
    do: [?[, list |> Enum.map(&written/1) |> Enum.intersperse(?,), ?]]

  defp written(map) when is_map(map) do
    fields = for {key, value} <- map, do: [written(to_string(key)), ?:, written(value)]
    [?{, Enum.intersperse(fields, ?,), ?}]
  end

  defp escaped(<<>>, done), do: done

  defp escaped(<<c, rest::binary>>, done) when c in [?", ?\\],
    do: escaped(rest, <<done::binary, ?\\, c>>)

  defp escaped(<<c, rest::binary>>, done) when c < 0x20 do
    digits = c |> Integer.to_string(16) |> String.pad_leading(4, "0")
    escaped(rest, done <> "\\u" <> digits)
  end

  defp escaped(<<c::utf8, rest::binary>>, done), do: escaped(rest, <<done::binary, c::utf8>>)

  ## Reading

  defp value("null" <> rest), do: {nil, rest}
  defp value("true" <> rest), do: {true, rest}
  defp value("false" <> rest), do: {false, rest}
  defp value("\"" <> rest), do: string(rest, "")
  defp value("[" <> rest), do: rest |> blank() |> list([])
  defp value("{" <> rest), do: rest |> blank() |> object(%{})
  defp value(rest), do: number(rest)

  defp list("]" <> rest, []), do: {[], rest}

  defp list(rest, done) do
    {value, rest} = value(rest)

    case blank(rest) do
      "," <> rest -> rest |> blank() |> list([value | done])
      "]" <> rest -> {Enum.reverse([value | done]), rest}
      rest -> wrong(rest)
    end
  end

  defp object("}" <> rest, done) when done == %{}, do: {done, rest}

  defp object("\"" <> rest, done) do
    {key, rest} = string(rest, "")
    {value, rest} = rest |> blank() |> after_colon() |> value()
    done = Map.put(done, key, value)

    case blank(rest) do
      "," <> rest -> rest |> blank() |> object(done)
      "}" <> rest -> {done, rest}
      rest -> wrong(rest)
    end
  end

  defp object(rest, _done), do: wrong(rest)

  defp after_colon(":" <> rest), do: blank(rest)
  defp after_colon(rest), do: wrong(rest)

  defp string("\"" <> rest, done), do: {done, rest}
  defp string("\\u" <> rest, done), do: escape(rest, done)

  for {letter, c} <- [
        {?", ?"},
        {?\\, ?\\},
        {?/, ?/},
        {?b, ?\b},
        {?f, ?\f},
        {?n, ?\n},
        {?r, ?\r},
        {?t, ?\t}
      ] do
    defp string(<<?\\, unquote(letter), rest::binary>>, done),
      do: string(rest, <<done::binary, unquote(c)>>)
  end

  defp string(<<c::utf8, rest::binary>>, done) when c >= 0x20 and c != ?\\,
    do: string(rest, <<done::binary, c::utf8>>)

  defp string(rest, _done), do: wrong(rest)

  # A character beyond U+FFFF is a pair of escapes. Half a pair is no character.
  defp escape(rest, done) do
    case unit(rest) do
      {high, "\\u" <> rest} when high in 0xD800..0xDBFF ->
        {low, after_pair} = unit(rest)
        if low not in 0xDC00..0xDFFF, do: wrong(rest)
        c = 0x10000 + (high - 0xD800) * 0x400 + (low - 0xDC00)
        string(after_pair, <<done::binary, c::utf8>>)

      {half, _rest} when half in 0xD800..0xDFFF ->
        wrong(rest)

      {c, rest} ->
        string(rest, <<done::binary, c::utf8>>)
    end
  end

  defp unit(<<digits::binary-size(4), rest::binary>> = all) do
    case Integer.parse(digits, 16) do
      {unit, ""} when unit >= 0 -> {unit, rest}
      _ -> wrong(all)
    end
  end

  defp unit(rest), do: wrong(rest)

  defp number(rest) do
    case Regex.run(~r/\A-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/, rest) do
      nil -> wrong(rest)
      [digits] -> {String.to_integer(digits), after_number(rest, digits)}
      [digits, _] -> {String.to_float(digits), after_number(rest, digits)}
      [digits, "", power] -> {float(digits, power), after_number(rest, digits)}
      [digits, _, _] -> {String.to_float(digits), after_number(rest, digits)}
    end
  end

  # Elixir reads no float without a fraction.
  defp float(digits, power),
    do: String.to_float(String.replace_suffix(digits, power, ".0" <> power))

  defp after_number(rest, digits),
    do: binary_part(rest, byte_size(digits), byte_size(rest) - byte_size(digits))

  defp blank(<<c, rest::binary>>) when c in [?\s, ?\t, ?\n, ?\r], do: blank(rest)
  defp blank(rest), do: rest

  defp wrong(rest), do: throw({:wrong, rest})
end
