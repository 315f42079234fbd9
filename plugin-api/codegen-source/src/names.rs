//! Unique names that are not keywords.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Names of one scope of a text: each is declared once, and none is a reserved word.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Names of the enclosing scope, shared by all scopes within it, so that a function costs only
    /// its own declarations.
    around: Arc<HashSet<String>>,
    taken: HashSet<String>,
    next: HashMap<String, u32>,
}

impl Names {
    /// An empty scope with words that will never be declared.
    pub fn new<'a>(reserved: impl IntoIterator<Item = &'a str>) -> Self {
        Self { taken: reserved.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// An empty scope within another one, whose names will never be declared.
    pub(crate) fn within(around: Arc<HashSet<String>>) -> Self {
        Self { around, ..Self::default() }
    }

    /// Declares a name like `hint`, different from every other: letters, digits and single
    /// underscores, beginning with a letter; `_1`, `_2`, … is appended if the hint itself is taken.
    pub fn declare(&mut self, hint: &str) -> String {
        let base = clean(hint);
        if self.take(&base) {
            return base;
        }
        loop {
            let number = self.next.entry(base.clone()).and_modify(|n| *n += 1).or_insert(1);
            let name = format!("{base}_{number}");
            if self.take(&name) {
                return name;
            }
        }
    }

    /// Declares exactly this name; returns false if it is already taken.
    pub fn take(&mut self, name: &str) -> bool {
        !self.around.contains(name) && self.taken.insert(name.to_owned())
    }
}

/// Returns true for an identifier in every C-like language: letters, digits, underscores, no digit
/// first.
#[must_use]
pub fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn clean(hint: &str) -> String {
    let mut name = String::with_capacity(hint.len());
    for c in hint.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        // `__` and a leading `_` are reserved for the language.
        if c != '_' || !(name.is_empty() || name.ends_with('_')) {
            name.push(c);
        }
    }
    let name = name.trim_end_matches('_');
    match name.chars().next() {
        None => "v".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("v{name}"),
        Some(_) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keywords_and_repeats_get_numbers() {
        let mut names = Names::new(["for", "int"]);
        assert_eq!(names.declare("for"), "for_1");
        assert_eq!(names.declare("x"), "x");
        assert_eq!(names.declare("x"), "x_1");
        assert_eq!(names.declare("x_1"), "x_1_1");
        assert_eq!(names.declare("x"), "x_2");
    }

    #[test]
    fn odd_hints_are_cleaned() {
        let mut names = Names::new([]);
        assert_eq!(names.declare("A.shape[0]"), "A_shape_0");
        assert_eq!(names.declare("__x"), "x");
        assert_eq!(names.declare("3d"), "v3d");
        assert_eq!(names.declare("größe"), "gr_e");
        assert_eq!(names.declare("…"), "v");
    }

    proptest! {
        #[test]
        fn names_are_unique_identifiers(hints in prop::collection::vec("[a-c_0-2.]{0,4}", 0..60)) {
            let mut names = Names::new(["a", "b_1"]);
            let mut seen = HashSet::new();
            for hint in hints {
                let name = names.declare(&hint);
                prop_assert!(is_identifier(&name) && !name.contains("__") && !name.starts_with('_'));
                prop_assert!(name != "a" && name != "b_1");
                prop_assert!(seen.insert(name));
            }
        }
    }
}
