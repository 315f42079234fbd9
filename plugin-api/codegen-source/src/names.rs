//! Unique names that are no keywords.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Names of one scope of a text: each is given out once, and none is a reserved word.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// What scopes share: one set for all of them, so that a function costs what it declares, not what others do.
    around: Arc<HashSet<String>>,
    taken: HashSet<String>,
    next: HashMap<String, u32>,
}

impl Names {
    /// No names yet, and words that will never be given out.
    pub fn new<'a>(reserved: impl IntoIterator<Item = &'a str>) -> Self {
        Self { taken: reserved.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    /// No names yet, within a scope whose names are never given out.
    pub(crate) fn within(around: Arc<HashSet<String>>) -> Self {
        Self { around, ..Self::default() }
    }

    /// A name like `hint`, unequal to every other: letters, digits and single underscores, beginning with a letter;
    /// `_1`, `_2`, … behind it where the hint itself is taken.
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

    /// Takes a name as it is; false when it is taken already.
    pub fn take(&mut self, name: &str) -> bool {
        !self.around.contains(name) && self.taken.insert(name.to_owned())
    }
}

/// True for a name that every C-like language takes: letters, digits, underscores, no digit first.
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
        // `__` and a leading `_` belong to the language.
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
