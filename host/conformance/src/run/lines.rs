//! Parses the messages of a worker: lines with its token, in order.

use super::{Message, Signed};

/// Maximum length of a message in bytes; a longer line is ignored (SUITE-S12).
pub(super) const LINE_BYTES: usize = 512 << 10;

/// Result of reading a line.
#[derive(Debug)]
pub(super) enum Heard {
    /// The next message.
    Said(Message),
    /// A later message: at least one is missing.
    Garbled,
}

/// Filter that extracts a worker's messages from lines that others may write too (SUITE-S11).
#[derive(Debug)]
pub(super) struct Messages {
    token: String,
    number: u64,
}

impl Messages {
    pub(super) fn new(token: String) -> Self {
        Self { token, number: 0 }
    }

    /// Parses a line; returns `None` if it is no message of this worker.
    pub(super) fn hear(&mut self, line: &[u8]) -> Option<Heard> {
        let signed = serde_json::from_slice::<Signed>(line).ok()?;
        // A line without the token is no message; a number already read comes from a copy of the
        // process.
        if signed.token != self.token || signed.number < self.number {
            return None;
        }
        let heard = match signed.number == self.number {
            true => Heard::Said(signed.message),
            false => Heard::Garbled,
        };
        self.number = signed.number + 1;
        Some(heard)
    }
}

#[cfg(test)]
mod tests {
    use chipdock_supervise::Lines;

    use super::*;

    fn line(token: &str, number: u64) -> Vec<u8> {
        let message = Message::Begin { index: usize::try_from(number).unwrap() };
        let signed = Signed { token: token.to_owned(), number, message };
        [b"\n", serde_json::to_vec(&signed).unwrap().as_slice(), b"\n"].concat()
    }

    fn heard(messages: &mut Messages, lines: &mut Lines) -> Vec<String> {
        let all = std::iter::from_fn(|| lines.next());
        let text = |heard| match heard {
            Heard::Said(Message::Begin { index }) => index.to_string(),
            Heard::Said(other) => format!("{other:?}"),
            Heard::Garbled => "garbled".to_owned(),
        };
        all.filter_map(|line| messages.hear(&line)).map(text).collect()
    }

    /// SUITE-S11: what has no token, a wrong one, or was heard before does not count.
    #[test]
    fn foreign_lines_are_passed_over() {
        let (mut messages, mut lines) = (Messages::new("mine".to_owned()), Lines::new(LINE_BYTES));
        lines.push(b"garbage without an end");
        lines.push(&line("mine", 0));
        lines.push(&line("theirs", 1));
        lines.push(b"{\"token\":\"mine\",\"number\":1,\"event\":\"nonsense\"}\n\xff\xfe\n");
        lines.push(&line("mine", 0));
        let second = line("mine", 1);
        let (head, tail) = second.split_at(9);
        lines.push(head);
        assert_eq!(heard(&mut messages, &mut lines), ["0"]);
        lines.push(tail);
        assert_eq!(heard(&mut messages, &mut lines), ["1"]);
    }

    /// SUITE-S11: a message that is missing is noticed.
    #[test]
    fn a_missing_message_is_noticed() {
        let (mut messages, mut lines) = (Messages::new("mine".to_owned()), Lines::new(LINE_BYTES));
        lines.push(&line("mine", 0));
        lines.push(&line("mine", 2));
        assert_eq!(heard(&mut messages, &mut lines), ["0", "garbled"]);
    }
}
