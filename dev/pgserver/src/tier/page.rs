//! The commands of a page of the documentation.

use crate::NoServer;

/// A page in Markdown, with other addresses and ports than it has for its readers.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    replacements: Vec<(String, String)>,
}

impl Page {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), replacements: Vec::new() }
    }

    /// Lets the page have something else from now on.
    pub(super) fn replace(&mut self, this: &str, by: &str) {
        self.replacements.push((this.to_owned(), by.to_owned()));
    }

    /// Returns a text as if it were on the page.
    pub(super) fn replaced(&self, text: &str) -> String {
        self.replacements.iter().fold(text.to_owned(), |text, (this, by)| text.replace(this, by))
    }

    /// Returns the shell commands under a heading, until the next one. Blocks with `sudo`, or with
    /// the program itself and an option, are for people.
    pub(super) fn commands(&self, title: &str) -> Result<String, NoServer> {
        let mut is_under = false;
        let mut block: Option<Vec<&str>> = None;
        let mut found = Vec::new();
        for line in self.text.lines() {
            match &mut block {
                None if line == "```sh" => block = Some(Vec::new()),
                None if line.starts_with('#') => {
                    is_under = line.trim_start_matches('#').trim() == title;
                }
                None => {}
                Some(lines) if line == "```" => {
                    let for_people =
                        |line: &&str| line.contains("forklore --") || line.contains("sudo");
                    if is_under && !lines.iter().any(for_people) {
                        found.append(lines);
                    }
                    block = None;
                }
                Some(lines) => lines.push(line),
            }
        }
        if found.is_empty() {
            return Err(NoServer::Failed("the page", format!("no commands under {title}")));
        }
        Ok(self.replaced(&found.join("\n")))
    }

    /// Returns the first URL of a store under a heading.
    pub(super) fn url(&self, title: &str) -> Result<String, NoServer> {
        let heading = format!("# {title}\n");
        let under = self.text.split_once(&heading).map_or("", |(_, under)| under);
        let under = under.split("\n#").next().unwrap_or_default();
        let url = under.split(['\'', '`', ' ']).find(|word| word.starts_with("postgres://"));
        url.map(|url| self.replaced(url))
            .ok_or_else(|| NoServer::Failed("the page", format!("no URL under {title}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_those_under_the_heading() {
        let text = "# A\n```sh\na\n```\n## B\n```sh\n# c\nb 127.0.0.11\n```\n```\nno\n```\n\
                    ```sh\nsudo no\n```\n```sh\nd\n```\n# E\n```sh\ne\n```\n";
        let mut page = Page::new(text);
        page.replace("127.0.0.1", "127.5.6.1");
        assert_eq!(page.commands("B").unwrap(), "# c\nb 127.5.6.11\nd");
        assert!(page.commands("c").is_err());
    }
}
