ExUnit.start()

defmodule FormatTest do
  use ExUnit.Case, async: true

  test "the sources are as `mix format` writes them" do
    for path <- Path.wildcard(Path.join([__DIR__, "..", "**", "*.{ex,exs}"])) do
      text = File.read!(path)

      assert text |> Code.format_string!() |> IO.iodata_to_binary() |> Kernel.<>("\n") == text,
             path
    end
  end
end
