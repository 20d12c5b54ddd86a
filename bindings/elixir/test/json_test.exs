ExUnit.start()

defmodule JSONTest do
  use ExUnit.Case, async: true

  test "every value comes back" do
    values = [
      nil,
      true,
      false,
      0,
      -1,
      12_345_678_901_234_567_890,
      1.5,
      -0.25,
      1.0e30,
      "",
      "a\"\\\n\t\0/é",
      "🌳",
      [],
      [1, [2]],
      %{},
      %{"a" => %{"b" => [nil, 1.0]}, "é" => "\u2028"}
    ]

    for value <- values, do: assert(value |> JSON.encode!() |> JSON.decode!() === value)
    assert JSON.encode!(%{a: :b, c: nil}) in [~S({"a":"b","c":null}), ~S({"c":null,"a":"b"})]
  end

  test "the forms of the standard are read" do
    text = ~S( { "a\u00e9" : [ 1e2 , -0.5E-1, "\ud83c\udf33\/\b" ] , "b":{} } )
    assert JSON.decode!(text) == %{"aé" => [100.0, -0.05, "🌳/\b"], "b" => %{}}
  end

  test "what is no JSON is refused" do
    wrong = [
      "",
      "[1,]",
      "{\"a\":1,}",
      "{a:1}",
      "[1 2]",
      "\"a",
      "\"\n\"",
      ~S("\x"),
      ~S("\ud800"),
      ~S("\ud800\u0041"),
      "01",
      "1.",
      "+1",
      "nul",
      "[] []",
      "{\"a\" 1}",
      "\"\xff\"",
      ~S("\u12g4")
    ]

    for text <- wrong do
      assert_raise JSON.DecodeError, fn -> JSON.decode!(text) end
    end
  end
end
