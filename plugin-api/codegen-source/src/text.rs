//! Lines with their indentation.

/// Text under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    lines: Vec<(usize, String)>,
    depth: usize,
}

impl Text {
    /// Adds a statement or a brace at the current depth; a text of several lines keeps its own
    /// indentation too.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        for line in line.as_ref().lines() {
            self.lines.push((self.depth, line.to_owned()));
        }
    }

    /// Opens a block: `header {`.
    pub(crate) fn open(&mut self, header: &str) {
        self.line(if header.is_empty() { "{".to_owned() } else { format!("{header} {{") });
        self.depth += 1;
    }

    /// Closes a block: `}` and the text after it.
    pub(crate) fn close(&mut self, tail: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(format!("}}{tail}"));
    }

    /// Closes one block and opens the next: `} else {`.
    pub(crate) fn reopen(&mut self, middle: &str) {
        self.depth = self.depth.saturating_sub(1);
        self.line(format!("}} {middle} {{"));
        self.depth += 1;
    }

    /// The current number of lines.
    pub(crate) fn mark(&self) -> usize {
        self.lines.len()
    }

    /// Removes the lines from a mark on and returns them.
    pub(crate) fn take_from(&mut self, mark: usize) -> Lines {
        Lines { lines: self.lines.split_off(mark.min(self.lines.len())), depth: self.depth }
    }

    /// Puts removed lines back, at the current depth.
    pub(crate) fn put(&mut self, lines: Lines) {
        let depth = self.depth;
        let from = lines.depth;
        self.lines
            .extend(lines.lines.into_iter().map(|(at, line)| ((at + depth).saturating_sub(from), line)));
    }

    /// The whole text, with four spaces per level.
    pub(crate) fn finish(&self) -> String {
        let mut text = String::new();
        for (depth, line) in &self.lines {
            if !line.is_empty() {
                text.extend(std::iter::repeat_n("    ", *depth));
            }
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Lines taken out of a text.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: Vec<(usize, String)>,
    depth: usize,
}

impl Lines {
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}
