//! Parses pages like a browser does.

use html5ever::tendril::TendrilSink;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// An element of a page: its name and its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) depth: usize,
    /// The text directly in the element.
    pub(crate) text: String,
}

impl Element {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }
}

/// Returns the elements of a page in their order.
pub(crate) fn elements(page: &str) -> Vec<Element> {
    let dom: RcDom = parse_document(RcDom::default(), ParseOpts::default()).one(page);
    let mut found = Vec::new();
    let mut open = vec![(dom.document.clone(), 0)];
    while let Some((node, depth)) = open.pop() {
        if let NodeData::Element { name, attrs, .. } = &node.data {
            let attributes = attrs.borrow();
            let attributes = attributes
                .iter()
                .map(|attribute| (attribute.name.local.to_string(), attribute.value.to_string()));
            let (name, attributes) = (name.local.to_string(), attributes.collect());
            found.push(Element { name, attributes, depth, text: own_text(&node) });
        }
        let children = node.children.borrow();
        open.extend(children.iter().rev().map(|child| (child.clone(), depth + 1)));
    }
    found
}

fn own_text(node: &Handle) -> String {
    let mut text = String::new();
    for child in node.children.borrow().iter() {
        if let NodeData::Text { contents } = &child.data {
            text.push_str(&contents.borrow());
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the number of nodes of a page: elements and texts.
pub(crate) fn nodes(page: &str) -> usize {
    let elements = elements(page);
    elements.len() + elements.iter().filter(|element| !element.text.is_empty()).count()
}

/// Returns a page as an outline, for a snapshot. The hashes in the addresses of assets are left out,
/// and positions in the feed.
pub(crate) fn outline(page: &str) -> String {
    let mut lines = String::new();
    for element in elements(page) {
        let attributes = element.attributes.iter().map(|(name, value)| {
            let value = match value.strip_prefix("/assets/").map(|file| file.split('.')) {
                Some(mut parts) => format!("/assets/{}", parts.next().unwrap()),
                None if name == "data-live" => value.split("?after=f").next().unwrap().to_owned(),
                None => value.clone(),
            };
            format!(" {name}={value:?}")
        });
        let (attributes, indent) = (attributes.collect::<String>(), "  ".repeat(element.depth));
        let text =
            if element.text.is_empty() { String::new() } else { format!(": {}", element.text) };
        lines.push_str(&format!("{indent}{}{attributes}{text}\n", element.name));
    }
    lines
}
