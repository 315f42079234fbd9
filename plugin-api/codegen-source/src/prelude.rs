//! Definitions before the functions of a text.

use std::collections::HashSet;

/// Definitions by name, each once, ordered so that each stands after those that it needs.
#[derive(Clone, Debug, Default)]
pub struct Prelude {
    known: HashSet<String>,
    texts: Vec<String>,
}

impl Prelude {
    /// Defines `name` unless it is defined already. Definitions that `text` itself adds come first;
    /// an empty text is a mere mark for [`Prelude::contains`].
    pub fn define(&mut self, name: &str, text: impl FnOnce(&mut Self) -> String) {
        if self.known.insert(name.to_owned()) {
            let text = text(self);
            self.texts.push(text);
        }
    }

    /// Returns true if the name is defined.
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
