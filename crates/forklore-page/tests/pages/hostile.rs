//! Texts that try to become more than text in a page.

/// Returns the texts. Each tries to mark the page as `data-ran`, or to send a request to `server`.
pub(crate) fn texts(server: &str) -> Vec<String> {
    let script = "document.documentElement.dataset.ran=1";
    [
        "<script>RUN</script>",
        "</title></style><script>RUN</script>",
        "</pre></details></div></article></main><script>RUN</script>",
        "<img src=x onerror=\"RUN\">",
        "<img src=\"HTTP/img\">",
        "<svg onload=\"RUN\"></svg>",
        "<svg><script>RUN</script></svg>",
        "<iframe src=\"HTTP/frame\" srcdoc=\"<script>parent.RUN</script>\"></iframe>",
        "<object data=\"HTTP/object\"></object><embed src=\"HTTP/embed\">",
        "<link rel=stylesheet href=\"HTTP/css\"><link rel=prefetch href=\"HTTP/prefetch\">",
        "<style>@import url(HTTP/import); body { background: url(HTTP/back) }</style>",
        "<meta http-equiv=refresh content=\"0; url=HTTP/refresh\">",
        "<base href=\"HTTP/\">",
        "<body onload=RUN background=\"HTTP/body\">",
        "<video src=\"HTTP/video\" autoplay><audio src=\"HTTP/audio\" autoplay>",
        "<form action=\"HTTP/form\"><input autofocus onfocus=\"RUN\"></form>",
        "<details open ontoggle=\"RUN\">",
        "<math><mtext></p><script>RUN</script>",
        "<!-- --!><script>RUN</script> -->",
        "<![CDATA[<script>RUN</script>]]>",
        "![a](HTTP/markdown)",
        "![a][b]\n\n[b]: HTTP/reference",
        "[a](javascript:RUN)",
        "[a](JaVaScRiPt:RUN)",
        "[a](java&#115;cript:RUN)",
        "[a]( &#x1;javascript:RUN)",
        "[a](data:text/html,<script>RUN</script>)",
        "[a](vbscript:RUN)",
        "[a](<javascript:RUN>)",
        "[a][b]\n\n[b]: javascript:RUN",
        "<javascript:RUN>",
        "[a](https://a.org\"onmouseover=\"RUN)",
        "[a](https://a.org 'x\" onmouseover=\"RUN')",
        "[<img src=x onerror=RUN>](https://a.org)",
        "[![a](HTTP/nested)](javascript:RUN)",
        "`<script>RUN</script>`",
        "```\"><script>RUN</script>\n</code></pre><script>RUN</script>\n```",
        "```html\n<script>RUN</script>",
        "| <script>RUN</script> | b |\n| --- | --- |\n| <img src=x onerror=RUN> | c |",
        "# <script>RUN</script>\n\n> <img src=HTTP/quote>\n\n- <svg/onload=RUN>",
        "\u{202e}<script>RUN</script>\u{0}\u{1b}[2J",
        "<scr\u{0}ipt>RUN</scr\u{0}ipt>",
        "\" onmouseover=\"RUN\" x=\"",
        "' autofocus onfocus='RUN' x='",
        "&lt;script&gt;RUN&lt;/script&gt;",
        "&#60;script&#62;RUN&#60;/script&#62;",
    ]
    .iter()
    .map(|text| text.replace("RUN", script).replace("HTTP", server))
    .collect()
}
