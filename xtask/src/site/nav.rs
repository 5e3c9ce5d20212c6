//! The navigation of the site: groups of pages, printed as YAML.

/// A page or a group of pages.
pub enum Nav {
    /// A page: its title, unless its heading is one, and its path.
    Page(Option<String>, String),
    /// A group: its title, and its pages in order.
    Group(String, Vec<Nav>),
}

impl Nav {
    /// A page under its own heading.
    pub fn page(path: &str) -> Nav {
        Nav::Page(None, path.into())
    }

    /// The item with another title.
    pub fn titled(self, title: &str) -> Nav {
        match self {
            Nav::Page(_, path) => Nav::Page(Some(title.into()), path),
            Nav::Group(_, items) => Nav::Group(title.into(), items),
        }
    }

    /// The lines of a list's item, indented by `depth` steps.
    pub fn yaml(&self, depth: usize) -> String {
        let indent = "  ".repeat(depth);
        match self {
            Nav::Page(None, path) => format!("{indent}- {path}\n"),
            Nav::Page(Some(title), path) => format!("{indent}- {title:?}: {path}\n"),
            Nav::Group(title, items) => {
                let items: String = items.iter().map(|item| item.yaml(depth + 1)).collect();
                format!("{indent}- {title:?}:\n{items}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_nested_lists() {
        let inner = Nav::Group("B".into(), vec![Nav::page("b/index.md"), Nav::page("b/c.md").titled("C")]);
        let nav = Nav::Group("A".into(), vec![Nav::page("a.md"), inner]);
        assert_eq!(nav.yaml(0), "- \"A\":\n  - a.md\n  - \"B\":\n    - b/index.md\n    - \"C\": b/c.md\n");
    }
}
