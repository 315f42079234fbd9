//! Definitions that a text needs before its functions.

use std::collections::HashSet;

/// Definitions by name, each once, in an order in which each stands after what it needs.
#[derive(Clone, Debug, Default)]
pub struct Prelude {
    known: HashSet<String>,
    texts: Vec<String>,
}

impl Prelude {
    /// Defines `name` unless it is there. What `text` itself defines on the way comes first; an empty text is a mere mark,
    /// for [`Prelude::contains`].
    pub fn define(&mut self, name: &str, text: impl FnOnce(&mut Self) -> String) {
        if self.known.insert(name.to_owned()) {
            let text = text(self);
            self.texts.push(text);
        }
    }

    /// True once the name is defined.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// The definitions, in order.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}
