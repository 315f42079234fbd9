//! Output of a child's pipes: whole lines of a bounded length, and the end of its printed text
//! (CHILD-V4, CHILD-V5).

/// Number of bytes of a child's printed text that are kept.
pub const TAIL_BYTES: usize = 64 << 10;

/// Splits a stream of bytes into lines.
#[derive(Debug)]
pub struct Lines {
    line_bytes_max: usize,
    bytes: Vec<u8>,
    /// Number of bytes at the start of `bytes` without an end of line.
    searched: usize,
    /// Whether the stream is within a line that is too long.
    skipping: bool,
}

impl Lines {
    /// Makes a splitter that drops longer lines, in bytes with their end.
    #[must_use]
    pub fn new(line_bytes_max: usize) -> Self {
        Self { line_bytes_max, bytes: Vec::new(), searched: 0, skipping: false }
    }

    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Keeps the buffer small even when no line is requested: a whole line may wait after it.
        if self.bytes.len() > self.line_bytes_max && !self.bytes[self.searched..].contains(&b'\n') {
            self.bytes.clear();
            self.searched = 0;
            self.skipping = true;
        }
    }

    /// Returns the next whole line, without its end.
    #[expect(clippy::should_implement_trait, reason = "more may be pushed after it answered nothing")]
    pub fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            let end = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|end| self.searched + end) else {
                self.searched = self.bytes.len();
                return None;
            };
            let mut line: Vec<u8> = self.bytes.drain(..=end).collect();
            self.searched = 0;
            if std::mem::take(&mut self.skipping) || line.len() > self.line_bytes_max {
                continue;
            }
            line.pop();
            return Some(line);
        }
    }
}

/// The end of a stream of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * TAIL_BYTES {
            self.bytes.drain(..self.bytes.len() - TAIL_BYTES);
        }
    }

    /// Returns true if it contains a text.
    #[must_use]
    pub fn has(&self, text: &str) -> bool {
        self.bytes.windows(text.len().max(1)).any(|window| window == text.as_bytes())
    }

    /// Returns the kept bytes as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns the last lines as one, of at most that many bytes.
    #[must_use]
    pub fn last_lines(&self, bytes_max: usize) -> String {
        let from = self.bytes.len().saturating_sub(bytes_max);
        let text = String::from_utf8_lossy(&self.bytes[from..]);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines.join(" / ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: &mut Lines) -> Vec<String> {
        std::iter::from_fn(|| lines.next()).map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
    }

    /// CHILD-V4: lines come whole, in whatever pieces they are read.
    #[test]
    fn lines_come_whole() {
        let mut lines = Lines::new(100);
        lines.push(b"one\ntw");
        assert_eq!(all(&mut lines), ["one"]);
        lines.push(b"o\n\n");
        assert_eq!(all(&mut lines), ["two", ""]);
    }

    /// CHILD-V4, CHILD-V5: nothing that is written makes us hold more than so much, and what
    /// follows a line too long is read.
    #[test]
    fn kept_entries_are_bounded() {
        let mut lines = Lines::new(1000);
        let mut tail = Tail::default();
        for _ in 0..200 {
            lines.push(&[b'x'; 16 << 10]);
            tail.push(&[b'y'; 16 << 10]);
            assert!(lines.next().is_none());
            assert!(lines.bytes.len() <= 1000 + (16 << 10));
            assert!(tail.bytes.len() <= 3 * TAIL_BYTES);
        }
        lines.push(b"\nshort\n");
        tail.push(b"\n\n the end\nof it\n");
        assert_eq!(all(&mut lines), ["short"]);
        assert!(tail.has("the end"));
        assert_eq!(tail.last_lines(17), "the end / of it");
    }
}
