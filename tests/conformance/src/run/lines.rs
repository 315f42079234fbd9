//! What comes out of a worker's pipes, as far as it counts: messages with its token, and the end of what it printed.

use super::{Message, Signed};

/// A longer line is nobody's message (S12).
const LINE_BYTES: usize = 512 << 10;
/// So much of what a worker printed is kept.
const TAIL_BYTES: usize = 64 << 10;

/// What was heard.
#[derive(Debug)]
pub(super) enum Heard {
    /// The next message.
    Said(Message),
    /// A message, but not the next: one is missing.
    Garbled,
}

/// Messages out of a stream of bytes that others may write into (S11).
#[derive(Debug)]
pub(super) struct Lines {
    token: String,
    number: u64,
    bytes: Vec<u8>,
    /// How far `bytes` has no end of line.
    searched: usize,
    /// Within a line that is too long.
    skipping: bool,
}

impl Lines {
    pub(super) fn new(token: String) -> Self {
        Self { token, number: 0, bytes: Vec::new(), searched: 0, skipping: false }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Keeps what is held small even when nobody asks: a whole line may wait behind it.
        if self.bytes.len() > LINE_BYTES && !self.bytes[self.searched..].contains(&b'\n') {
            self.bytes.clear();
            self.searched = 0;
            self.skipping = true;
        }
    }

    pub(super) fn next(&mut self) -> Option<Heard> {
        loop {
            let end = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n');
            let Some(end) = end.map(|end| self.searched + end) else {
                self.searched = self.bytes.len();
                return None;
            };
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            self.searched = 0;
            if std::mem::take(&mut self.skipping) || line.len() > LINE_BYTES {
                continue;
            }
            let Ok(signed) = serde_json::from_slice::<Signed>(&line) else { continue };
            // Without the token it is nobody's; what was heard before comes from a copy.
            if signed.token != self.token || signed.number < self.number {
                continue;
            }
            let heard = match signed.number == self.number {
                true => Heard::Said(signed.message),
                false => Heard::Garbled,
            };
            self.number = signed.number + 1;
            return Some(heard);
        }
    }
}

/// The end of a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * TAIL_BYTES {
            self.bytes.drain(..self.bytes.len() - TAIL_BYTES);
        }
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(token: &str, number: u64) -> Vec<u8> {
        let message = Message::Begin { index: usize::try_from(number).unwrap() };
        let signed = Signed { token: token.to_owned(), number, message };
        [b"\n", serde_json::to_vec(&signed).unwrap().as_slice(), b"\n"].concat()
    }

    fn heard(lines: &mut Lines) -> Vec<String> {
        let all = std::iter::from_fn(|| lines.next());
        let text = |heard| match heard {
            Heard::Said(Message::Begin { index }) => index.to_string(),
            Heard::Said(other) => format!("{other:?}"),
            Heard::Garbled => "garbled".to_owned(),
        };
        all.map(text).collect()
    }

    /// S11: what has no token, a wrong one, or was heard before does not count.
    #[test]
    fn foreign_lines_are_passed_over() {
        let mut lines = Lines::new("mine".to_owned());
        lines.push(b"garbage without an end");
        lines.push(&line("mine", 0));
        lines.push(&line("theirs", 1));
        lines.push(b"{\"token\":\"mine\",\"number\":1,\"event\":\"nonsense\"}\n\xff\xfe\n");
        lines.push(&line("mine", 0));
        let second = line("mine", 1);
        let (head, tail) = second.split_at(9);
        lines.push(head);
        assert_eq!(heard(&mut lines), ["0"]);
        lines.push(tail);
        assert_eq!(heard(&mut lines), ["1"]);
    }

    /// S11: a message that is missing is noticed.
    #[test]
    fn a_missing_message_is_noticed() {
        let mut lines = Lines::new("mine".to_owned());
        lines.push(&line("mine", 0));
        lines.push(&line("mine", 2));
        assert_eq!(heard(&mut lines), ["0", "garbled"]);
    }

    /// S12: nothing that is written makes us hold more than so much.
    #[test]
    fn what_is_held_is_bounded() {
        let mut lines = Lines::new("mine".to_owned());
        let mut tail = Tail::default();
        for _ in 0..200 {
            lines.push(&[b'x'; 16 << 10]);
            tail.push(&[b'y'; 16 << 10]);
            assert!(lines.next().is_none());
            assert!(lines.bytes.len() <= LINE_BYTES + (16 << 10));
            assert!(tail.bytes.len() <= 3 * TAIL_BYTES);
        }
        lines.push(&line("mine", 0));
        tail.push(b"the end");
        assert_eq!(heard(&mut lines), ["0"]);
        assert!(tail.has("the end"));
    }
}
