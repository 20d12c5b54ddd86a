//! Requests for what does not exist, and requests that make no sense.

use axum::http::{StatusCode, header};

use crate::world::family;

#[test]
fn what_does_not_exist_has_a_clear_page() {
    let world = family();
    for address in [
        "/nothing",
        "/s/",
        "/s/nobody",
        "/s/..%2Fetc",
        "/s/%3Cscript%3E",
        "/s/main?from=999",
        "/s/main?at=999",
        "/s/main?turn=0",
        "/s/main?turn=99",
        "/s/main?message=99",
        "/s/main/e/999",
        "/s/main/e/1/file/7",
        "/s/main/fork?at=999",
        "/f/nobody",
        "/f/main?from=99",
        "/compare/main/nobody",
        "/compare/main/plan-b?from=99",
        "/attachment/nothing",
        "/assets/nothing.js",
        "/s/nobody/change",
        "/s/main/go?to=no-such-id",
        "/s/nobody/go?to=abc",
        "/runs?of=nobody",
        "/runs?s=main&s=nobody",
        "/?deleted=nobody",
        "/fragments/s/nobody",
        "/fragments/fork/nobody",
    ] {
        let answer = world.get(address);
        assert_eq!(answer.status, StatusCode::NOT_FOUND, "{address}");
        assert!(answer.header(header::CONTENT_TYPE).starts_with("text/html"), "{address}");
        let page = answer.text();
        assert!(page.contains("There is no such page") && page.contains("<main"), "{address}");
        assert!(!page.contains("<script>"), "{address}");
    }
}

#[test]
fn what_cannot_be_read_has_a_clear_page() {
    let world = family();
    for address in [
        "/?after=nonsense",
        "/?q=a&after=-1",
        "/?q=regex:(",
        "/?q=%FF",
        "/s/main?from=-1",
        "/s/main?from=x",
        "/s/main?at=1.5",
        "/s/main?turn=99999999999999999999",
        "/s/%FF",
        "/s/main/e/x",
        "/f/main?from=x",
        "/compare",
        "/compare?s=main",
        "/compare/main/plan-b?from=x",
        "/s/main/fork?at=x",
        "/s/main/go",
        "/runs",
        "/?since=yesterday",
        "/?since=-99999999999d",
    ] {
        let answer = world.get(address);
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{address}: {}", answer.text());
        assert!(answer.text().contains("<main"), "{address}");
    }
    for form in ["at=nowhere", "label=%2F", "agent=nobody", "workspace=here", "id=.."] {
        let answer = world.post("/s/main/fork", form);
        let expected =
            if form == "id=.." { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
        assert_eq!(answer.status, expected, "{form}");
    }
    assert_eq!(world.post("/s/nobody/fork", "at=end").status, StatusCode::NOT_FOUND);
    assert_eq!(world.post("/s/main/fork", "label=plan-b").status, StatusCode::CONFLICT);
}

#[test]
fn a_wrong_method_has_a_clear_page() {
    let answer = family().post("/", "");
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(answer.header(header::ALLOW), "GET,HEAD");
    assert!(answer.text().contains("<main"));
}
