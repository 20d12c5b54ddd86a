//! Decides which links in a session's text become links in a page.

/// Checks whether a page may link to this address. Only addresses on the web and mail addresses are
/// allowed.
pub(crate) fn is_allowed(url: &str) -> bool {
    let scheme = url.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let is_plain = !url.chars().any(|c| c.is_control() || c.is_whitespace());
    is_plain && matches!(scheme.as_deref(), Some("http" | "https" | "mailto"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_web_and_mail_are_linked() {
        assert!(["https://a.org", "HTTP://a", "mailto:a@b"].iter().all(|url| is_allowed(url)));
        let others = [
            "javascript:alert(1)",
            "data:text/html,x",
            "//a.org",
            "/x",
            "x",
            "java\nscript:x",
            " https://a",
            "file:///etc/passwd",
            "vbscript:x",
            "https\t://a",
        ];
        assert!(!others.iter().any(|url| is_allowed(url)));
    }
}
