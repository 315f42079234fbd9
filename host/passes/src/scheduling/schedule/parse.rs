//! Reading of traces.

use std::str::FromStr;
use std::sync::Arc;

use chipdock_ir::FloatBits;

use super::ScheduleError;
use super::trace::{Step, Trace, Value};

impl FromStr for Trace {
    type Err = ScheduleError;

    /// Reads steps, one a line: `names = sch.step(values, key=value)`. Values are names, integers,
    /// floats, strings, `None`, `True`, `False`, and lists of them; a `#` starts a comment.
    ///
    /// # Errors
    ///
    /// Anything else, with line and column.
    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let mut reader = Reader { rest: text, line: 1, column: 1 };
        let mut trace = Self::default();
        loop {
            reader.skip(true);
            if reader.rest.is_empty() {
                return Ok(trace);
            }
            trace.push(reader.step()?);
            reader.skip(false);
            if !reader.rest.is_empty() && !reader.rest.starts_with(['\n', '\r']) {
                return Err(reader.expected("the end of the line"));
            }
        }
    }
}

/// Most levels of lists within lists.
const DEPTH_MAX: usize = 16;

struct Reader<'t> {
    rest: &'t str,
    line: usize,
    column: usize,
}

impl<'t> Reader<'t> {
    fn expected(&self, what: &str) -> ScheduleError {
        let found = match self.rest.chars().next() {
            None => "the end of the text".to_owned(),
            Some('\n' | '\r') => "the end of the line".to_owned(),
            Some(c) => format!("`{c}`"),
        };
        let (line, column) = (self.line, self.column);
        ScheduleError::new(format!("line {line}, column {column}: expected {what}, found {found}"))
    }

    fn take(&mut self, n_bytes: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(n_bytes);
        for c in taken.chars() {
            (self.line, self.column) =
                if c == '\n' { (self.line + 1, 1) } else { (self.line, self.column + 1) };
        }
        self.rest = rest;
        taken
    }

    /// Skips blanks and comments, and ends of lines where a text may go on.
    fn skip(&mut self, lines: bool) {
        loop {
            let blank = |c: char| c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'));
            let n_blank = self.rest.find(|c| !blank(c)).unwrap_or(self.rest.len());
            self.take(n_blank);
            if !self.rest.starts_with('#') {
                return;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        }
    }

    fn eat(&mut self, text: &str, lines: bool) -> bool {
        self.skip(lines);
        let found = self.rest.starts_with(text);
        if found {
            self.take(text.len());
        }
        found
    }

    fn wanted(&mut self, text: &str, lines: bool) -> Result<(), ScheduleError> {
        if self.eat(text, lines) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// A name; nothing is taken if there is none.
    fn name(&mut self) -> Option<&'t str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let starts = self.rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        (starts && end > 0).then(|| self.take(end))
    }

    fn step(&mut self) -> Result<Step, ScheduleError> {
        let mut names: Vec<Arc<str>> = Vec::new();
        let first = self.name().ok_or_else(|| self.expected("a step: sch.split(...)"))?;
        if self.rest.starts_with('.') && first == "sch" {
            return self.call(names);
        }
        names.push(first.into());
        while self.eat(",", false) {
            self.skip(false);
            match self.name() {
                Some(name) => names.push(name.into()),
                None => break,
            }
        }
        self.wanted("=", false)?;
        self.skip(false);
        if self.name() != Some("sch") {
            return Err(self.expected("a step after `=`: sch.split(...)"));
        }
        self.call(names)
    }

    /// What follows `sch`.
    fn call(&mut self, outputs: Vec<Arc<str>>) -> Result<Step, ScheduleError> {
        self.wanted(".", false)?;
        let op = self.name().ok_or_else(|| self.expected("the name of a step"))?.into();
        self.wanted("(", false)?;
        let (mut args, mut keys): (Vec<Value>, Vec<(Arc<str>, Value)>) = (Vec::new(), Vec::new());
        while !self.eat(")", true) {
            let value = self.value(0)?;
            match value {
                Value::Name(key) if self.eat("=", true) => keys.push((key, self.value(0)?)),
                value if keys.is_empty() => args.push(value),
                _ => return Err(self.expected("`=`: values without a name come first")),
            }
            if !self.eat(",", true) {
                self.wanted(")", true)?;
                break;
            }
        }
        Ok(Step { outputs, op, args, keys })
    }

    fn value(&mut self, depth: usize) -> Result<Value, ScheduleError> {
        self.skip(true);
        if let Some(name) = self.name() {
            return Ok(match name {
                "None" => Value::None,
                "True" => Value::Bool(true),
                "False" => Value::Bool(false),
                name => Value::Name(name.into()),
            });
        }
        match self.rest.chars().next() {
            Some('[') if depth < DEPTH_MAX => self.list(depth),
            Some(quote @ ('"' | '\'')) => self.string(quote),
            Some('-' | '0'..='9') => self.number(),
            _ => Err(self.expected("a value: a name, a number, a string, None, True, False or a list")),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, ScheduleError> {
        self.take(1);
        let mut values = Vec::new();
        while !self.eat("]", true) {
            values.push(self.value(depth + 1)?);
            if !self.eat(",", true) {
                self.wanted("]", true)?;
                break;
            }
        }
        Ok(Value::List(values))
    }

    fn number(&mut self) -> Result<Value, ScheduleError> {
        let mut before = ' ';
        let is_part = |c: char, before: char| {
            c.is_ascii_alphanumeric() || c == '.' || c == '_' || ("+-".contains(c) && " eE".contains(before))
        };
        let end = self.rest.find(|c| {
            let ends = !is_part(c, before);
            before = c;
            ends
        });
        let text = &self.rest[..end.unwrap_or(self.rest.len())];
        let value = match text.parse::<i64>() {
            Ok(int) => Some(Value::Int(int)),
            Err(_) if text.contains(['.', 'e', 'E']) => {
                text.parse::<f64>().ok().filter(|x| x.is_finite()).map(|x| Value::Float(FloatBits::new(x)))
            }
            Err(_) => None,
        };
        let value = value.ok_or_else(|| self.expected(&format!("a number of 64 bits in place of {text}")))?;
        self.take(text.len());
        Ok(value)
    }

    fn string(&mut self, quote: char) -> Result<Value, ScheduleError> {
        self.take(1);
        let mut text = String::new();
        loop {
            let Some(c) = self.rest.chars().next().filter(|c| *c != '\n') else {
                return Err(self.expected(&format!("the end of the string: {quote}")));
            };
            if c == '\\' {
                text.push(self.escape()?);
                continue;
            }
            self.take(c.len_utf8());
            if c == quote {
                return Ok(Value::Str(text.into()));
            }
            text.push(c);
        }
    }

    fn escape(&mut self) -> Result<char, ScheduleError> {
        let one = match self.rest[1..].chars().next() {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some(c @ ('\\' | '"' | '\'')) => c,
            Some('x') => {
                let digits = self.rest.get(2..4).filter(|text| text.bytes().all(|c| c.is_ascii_hexdigit()));
                let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                let code = code.ok_or_else(|| self.expected("two hexadecimal digits after \\x"))?;
                self.take(4);
                return Ok(char::from(code));
            }
            _ => return Err(self.expected("one of the escapes \\n \\t \\r \\\\ \\\" \\' \\xNN")),
        };
        self.take(2);
        Ok(one)
    }
}
