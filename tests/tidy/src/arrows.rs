//! Which file of a crate uses which, as its paths say, and how far that is from a house in which
//! each floor stands on those below it.
//!
//! A file is a node; those of tests, and what follows `#[cfg(test)]` in others, are left out. An
//! arrow leads from a file to each other file of its crate that a path in its code names: one from
//! `crate`, `self` or `super`, or from a module that the file declares, also within the braces of a
//! `use`. A name that a module exports again is one of the file that defines it, and exporting it
//! is no use. A *room* is a folder or file directly in `src`. A *circle* is a greatest set of files
//! each of which leads to all others. Methods are not seen: a path names a type, wherever its
//! methods are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::files;

/// The path of a module in its crate, from the root; the root is empty.
type ModulePath = Vec<String>;

/// The files of a crate with the arrows between them.
#[derive(Debug, Default)]
pub struct Arrows {
    /// The files, relative to `src`, in order of names.
    pub files: Vec<String>,
    /// The arrows: the number of the file that uses, and of the one that is used.
    pub arrows: BTreeSet<(usize, usize)>,
}

/// The rooms of a crate with the arrows between them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rooms {
    /// Number of rooms.
    pub count: usize,
    /// Number of pairs of rooms of which one uses the other.
    pub arrows: usize,
    /// The least number of these arrows without which no room uses itself by way of others, as
    /// `from -> to`.
    pub back: Vec<String>,
    /// Number of rooms on the longest way down along the other arrows.
    pub floors: usize,
}

/// A file while it is read.
#[derive(Default)]
struct Source {
    module: ModulePath,
    /// Paths of the code, from the crate's root.
    paths: Vec<ModulePath>,
    /// Names that it exports, each with the path of what it exports.
    exports: BTreeMap<String, ModulePath>,
}

impl Arrows {
    /// Reads the files below the folder `src` of a crate.
    #[must_use]
    pub fn read(src: &Path) -> Self {
        let mut texts = Vec::new();
        for path in files(src, &[".rs"]) {
            let name = path.strip_prefix(src).unwrap_or(&path).display().to_string();
            let is_test = name
                .split('/')
                .any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"));
            if !is_test {
                texts.push((name, std::fs::read_to_string(&path).unwrap_or_default()));
            }
        }
        Self::of_texts(&texts)
    }

    /// Reads files that are given by name, relative to `src`, and text.
    #[must_use]
    pub fn of_texts(texts: &[(String, String)]) -> Self {
        let modules: BTreeSet<ModulePath> = texts.iter().map(|(name, _)| module_of(name)).collect();
        let sources: Vec<Source> =
            texts.iter().map(|(name, text)| Source::read(module_of(name), text, &modules)).collect();
        let mut arrows = BTreeSet::new();
        for (from, source) in sources.iter().enumerate() {
            for path in &source.paths {
                match named_by(path, &sources, 0) {
                    Some(to) if to != from => {
                        arrows.insert((from, to));
                    }
                    _ => {}
                }
            }
        }
        Self { files: texts.iter().map(|(name, _)| name.clone()).collect(), arrows }
    }

    /// Returns the circles of more than one file, the largest first.
    #[must_use]
    pub fn circles(&self) -> Vec<Vec<&str>> {
        let mut circles: Vec<Vec<&str>> = components(self.files.len(), &self.arrows)
            .into_iter()
            .filter(|circle| circle.len() > 1)
            .map(|circle| circle.into_iter().map(|file| self.files[file].as_str()).collect())
            .collect();
        circles.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
        circles
    }

    /// Returns the arrows within a set of files.
    #[must_use]
    pub fn within(&self, set: &[&str]) -> Vec<(&str, &str)> {
        let named = self.arrows.iter().map(|(from, to)| (&*self.files[*from], &*self.files[*to]));
        named.filter(|(from, to)| set.contains(from) && set.contains(to)).collect()
    }

    /// Returns the rooms of the crate. Its root is none: it only lists them.
    #[must_use]
    pub fn rooms(&self) -> Rooms {
        let room = |file: usize| {
            let first = self.files[file].split('/').next().unwrap_or_default();
            first.strip_suffix(".rs").unwrap_or(first).to_owned()
        };
        let names: BTreeSet<String> =
            (0..self.files.len()).map(room).filter(|name| name != "lib" && name != "main").collect();
        let names: Vec<String> = names.into_iter().collect();
        let at = |file: usize| names.iter().position(|name| *name == room(file));
        let arrows: BTreeSet<(usize, usize)> = self
            .arrows
            .iter()
            .filter_map(|(from, to)| Some((at(*from)?, at(*to)?)))
            .filter(|(from, to)| from != to)
            .collect();
        let mut back: Vec<(usize, usize)> = Vec::new();
        for circle in components(names.len(), &arrows) {
            back.extend(back_arrows(&circle, &arrows));
        }
        let down: BTreeSet<(usize, usize)> =
            arrows.iter().filter(|arrow| !back.contains(arrow)).copied().collect();
        let floors = (0..names.len()).map(|room| depth(room, &down)).max().unwrap_or(0);
        let back = back.iter().map(|(from, to)| format!("{} -> {}", names[*from], names[*to]));
        Rooms { count: names.len(), arrows: arrows.len(), back: back.collect(), floors }
    }
}

/// Returns the module of a file: `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_of(file: &str) -> ModulePath {
    let mut parts: ModulePath =
        file.strip_suffix(".rs").unwrap_or(file).split('/').map(str::to_owned).collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
        parts.pop();
    }
    parts
}

/// Returns the file that a path names: the one of the longest part of it that is a module, or of
/// what that module exports under the next name.
fn named_by(path: &[String], sources: &[Source], nesting: usize) -> Option<usize> {
    let length = (0..=path.len())
        .rev()
        .find(|length| sources.iter().any(|source| source.module == path[..*length]))?;
    let file = sources.iter().position(|source| source.module == path[..length])?;
    let exported = path.get(length).and_then(|name| sources[file].exports.get(name));
    match exported {
        // Exports that lead round are wrong code, which the compiler refuses.
        Some(exported) if nesting < 16 => {
            let whole: ModulePath = exported.iter().chain(&path[length + 1..]).cloned().collect();
            named_by(&whole, sources, nesting + 1)
        }
        // The root defines nothing that others may use.
        _ => (!sources[file].module.is_empty()).then_some(file),
    }
}

impl Source {
    fn read(module: ModulePath, text: &str, modules: &BTreeSet<ModulePath>) -> Self {
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        let text = text.split("#[cfg(test)]\npub(crate) mod ").next().unwrap_or_default();
        let tokens = tokens(text);
        let mut source = Self { module, ..Self::default() };
        let mut index = 0;
        // Whether the path stands in a `use` that exports.
        let (mut in_use, mut exports) = (false, false);
        // The modules within the file that the code is in, each with the depth of its braces.
        let (mut depth, mut within): (usize, Vec<(usize, String)>) = (0, Vec::new());
        while index < tokens.len() {
            let token = tokens[index].as_str();
            match token {
                "{" => {
                    depth += 1;
                    if index > 1 && tokens[index - 2] == "mod" {
                        within.push((depth, tokens[index - 1].clone()));
                    }
                }
                "}" => {
                    within.retain(|(at, _)| *at != depth);
                    depth = depth.saturating_sub(1);
                }
                "use" => {
                    in_use = true;
                    exports = index > 0 && (tokens[index - 1] == "pub" || tokens[index - 1] == ")");
                }
                ";" => (in_use, exports) = (false, false),
                _ => {}
            }
            let begins = index == 0 || tokens[index - 1] != "::";
            let follows = tokens.get(index + 1).is_some_and(|next| next == "::");
            if let Some(base) = source.base(token, &within, modules).filter(|_| begins && follows) {
                let mut found = Vec::new();
                index = read_path(&tokens, index + 1, base, &mut found);
                for (path, name) in found {
                    let own_child = path.len() > source.module.len() && path.starts_with(&source.module);
                    if in_use && exports {
                        source.exports.insert(name, path.clone());
                    }
                    if !(in_use && exports && own_child) {
                        source.paths.push(path);
                    }
                }
                continue;
            }
            index += 1;
        }
        source
    }

    /// Returns the module at which a path begins whose first name is `token`, in a module within
    /// the file.
    fn base(
        &self,
        token: &str,
        within: &[(usize, String)],
        modules: &BTreeSet<ModulePath>,
    ) -> Option<ModulePath> {
        let names = within.iter().map(|(_, name)| name);
        let mut here: ModulePath = self.module.iter().chain(names).cloned().collect();
        match token {
            "crate" => Some(Vec::new()),
            "self" => Some(here),
            "super" => {
                here.pop();
                Some(here)
            }
            _ => {
                let child: ModulePath = here.into_iter().chain([token.to_owned()]).collect();
                modules.contains(&child).then_some(child)
            }
        }
    }
}

/// Reads a path from its first `::` on, and collects the paths that it stands for, each with the
/// name that it is known by. Returns the index of the token after it.
fn read_path(
    tokens: &[String],
    mut index: usize,
    mut base: ModulePath,
    found: &mut Vec<(ModulePath, String)>,
) -> usize {
    while tokens.get(index).is_some_and(|token| token == "::") {
        index += 1;
        match tokens.get(index).map(String::as_str) {
            Some("super") => {
                base.pop();
                index += 1;
            }
            Some("{") => {
                index += 1;
                while index < tokens.len() && tokens[index] != "}" {
                    if tokens[index] == "," {
                        index += 1;
                    } else if tokens[index] == "self" {
                        let name = base.last().cloned().unwrap_or_default();
                        found.push((base.clone(), name));
                        index += 1;
                    } else {
                        let inner: ModulePath = base.iter().cloned().chain([tokens[index].clone()]).collect();
                        index = read_path(tokens, index + 1, inner, found).max(index + 1);
                    }
                }
                return index + 1;
            }
            Some(name) if is_name(name) => {
                base.push(name.to_owned());
                index += 1;
            }
            // A glob, or the types of a generic function.
            _ => break,
        }
    }
    let mut name = base.last().cloned().unwrap_or_default();
    if tokens.get(index).is_some_and(|token| token == "as") {
        name = tokens.get(index + 1).cloned().unwrap_or_default();
        index += 2;
    }
    found.push((base, name));
    index
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Returns names, `::` and single signs of code; comments, texts and characters are left out.
fn tokens(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let (mut index, mut found) = (0, Vec::new());
    while index < bytes.len() {
        let rest = &text[index..];
        let first = rest.chars().next().unwrap_or(' ');
        if rest.starts_with("//") {
            index += rest.find('\n').unwrap_or(rest.len());
        } else if let Some(raw) = ["r\"", "br\"", "r#\"", "br#\""].iter().find(|raw| rest.starts_with(**raw))
        {
            let end = if raw.contains('#') { "\"#" } else { "\"" };
            let inner = &rest[raw.len()..];
            index += raw.len() + inner.find(end).map_or(inner.len(), |at| at + end.len());
        } else if first == '"' {
            index += 1;
            while index < bytes.len() && bytes[index] != b'"' {
                index += if bytes[index] == b'\\' { 2 } else { 1 };
            }
            index += 1;
        } else if first == '\'' {
            index += character(rest);
        } else if rest.starts_with("::") {
            found.push("::".to_owned());
            index += 2;
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push(rest[..end].to_owned());
            index += end;
        } else {
            if !first.is_whitespace() {
                found.push(first.to_string());
            }
            index += first.len_utf8();
        }
    }
    found
}

/// Returns the length of a character, or of the sign before a lifetime's name.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match chars.next() {
        Some((_, '\\')) => {
            rest[2..].char_indices().skip(1).find(|(_, c)| *c == '\'').map_or(1, |(at, _)| at + 3)
        }
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

/// Returns the strongly connected components of a graph, each in order.
fn components(count: usize, arrows: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    let reached: Vec<BTreeSet<usize>> = (0..count).map(|from| reachable(from, arrows)).collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for node in 0..count {
        if found.iter().any(|component| component.contains(&node)) {
            continue;
        }
        let with = |other: &usize| {
            *other == node || (reached[node].contains(other) && reached[*other].contains(&node))
        };
        found.push((0..count).filter(with).collect());
    }
    found
}

fn reachable(from: usize, arrows: &BTreeSet<(usize, usize)>) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(node) = open.pop() {
        for (_, to) in arrows.range((node, 0)..(node + 1, 0)) {
            if reached.insert(*to) {
                open.push(*to);
            }
        }
    }
    reached
}

/// Returns the least number of arrows without which a circle is none, by trying every order of its
/// nodes: of each set of nodes the best order is found from those of the sets with one node less.
fn back_arrows(circle: &[usize], arrows: &BTreeSet<(usize, usize)>) -> Vec<(usize, usize)> {
    let count = circle.len();
    assert!(count <= 20, "{count} rooms in a circle: too many to try every order");
    // Of each node, the set of nodes that it uses.
    let uses: Vec<usize> = circle
        .iter()
        .map(|from| {
            let used = circle.iter().enumerate().filter(|(_, to)| arrows.contains(&(*from, **to)));
            used.fold(0, |set, (index, _)| set | 1 << index)
        })
        .collect();
    // Of each set of nodes that lie lowest: the number of arrows from them to nodes above each,
    // and the one that lies highest.
    let mut best = vec![(0_u32, 0_usize); 1 << count];
    for set in 1..1_usize << count {
        best[set] = (0..count)
            .filter(|node| set & 1 << node != 0)
            .map(|node| {
                let below = set & !(1 << node);
                (best[below].0 + (uses[node] & !set).count_ones(), node)
            })
            .min()
            .unwrap_or_default();
    }
    let (mut set, mut back) = ((1 << count) - 1, Vec::new());
    while set != 0 {
        let node = best[set].1;
        let above = (0..count).filter(|other| uses[node] & !set & 1 << other != 0);
        back.extend(above.map(|other| (circle[node], circle[other])));
        set &= !(1 << node);
    }
    back.sort_unstable();
    back
}

/// Returns the number of nodes on the longest way from a node, along arrows without a circle.
fn depth(node: usize, arrows: &BTreeSet<(usize, usize)>) -> usize {
    1 + arrows.range((node, 0)..(node + 1, 0)).map(|(_, to)| depth(*to, arrows)).max().unwrap_or(0)
}
