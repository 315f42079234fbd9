//! Scans the text before it is parsed: nesting too deep for a recursive parser is refused here.

use rustpython_ruff_text_size::{TextRange, TextSize};

/// Greatest nesting of brackets, and of blocks.
pub(crate) const NESTING_MAX: usize = 256;

/// Greatest number of operators, names and literals that follow each other without a comma, over
/// all open brackets. A parser may recurse once for each.
const CHAIN_MAX: usize = 4096;

/// Greatest number of lambdas in one statement: their commas separate parameters, so that a comma
/// ends no chain.
const LAMBDAS_MAX: usize = 64;

struct Level {
    opener: u8,
    chain: usize,
}

struct Guard<'a> {
    bytes: &'a [u8],
    at: usize,
    brackets: Vec<Level>,
    chain: usize,
    lambdas: usize,
    indents: Vec<usize>,
}

type Refused = (TextRange, String);

/// Checks the nesting of `text`; other errors are left to the parser.
pub(crate) fn check(text: &str) -> Result<(), Refused> {
    let mut guard = Guard {
        bytes: text.as_bytes(),
        at: 0,
        brackets: Vec::new(),
        chain: 0,
        lambdas: 0,
        indents: Vec::new(),
    };
    guard.run()
}

impl Guard<'_> {
    fn refuse(&self, message: String) -> Refused {
        let at = TextSize::try_from(self.at).unwrap_or_default();
        (TextRange::new(at, at), message)
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn run(&mut self) -> Result<(), Refused> {
        self.indentation()?;
        while self.at < self.bytes.len() {
            match self.peek(0) {
                b' ' | b'\t' | b'\x0c' => self.at += 1,
                b'\\' => self.at += if self.peek(1) == b'\r' && self.peek(2) == b'\n' { 3 } else { 2 },
                b'\n' | b'\r' => {
                    self.at += if self.peek(0) == b'\r' && self.peek(1) == b'\n' { 2 } else { 1 };
                    if self.brackets.is_empty() {
                        (self.chain, self.lambdas) = (0, 0);
                        self.indentation()?;
                    }
                }
                b'#' => self.skip_while(|byte| !matches!(byte, b'\n' | b'\r')),
                b'"' | b'\'' => self.string()?,
                byte if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => self.word()?,
                byte if byte.is_ascii_digit() => {
                    self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.');
                    self.link()?;
                }
                _ => self.symbol()?,
            }
        }
        Ok(())
    }

    fn skip_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.at < self.bytes.len() && wanted(self.bytes[self.at]) {
            self.at += 1;
        }
    }

    fn indentation(&mut self) -> Result<(), Refused> {
        let start = self.at;
        self.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\x0c'));
        if matches!(self.peek(0), b'\n' | b'\r' | b'#' | 0) {
            return Ok(());
        }
        let width = self.at - start;
        while self.indents.last().is_some_and(|outer| *outer > width) {
            self.indents.pop();
        }
        if width > self.indents.last().copied().unwrap_or(0) {
            self.indents.push(width);
        }
        if self.indents.len() > NESTING_MAX {
            return Err(self.refuse(format!("blocks nest deeper than {NESTING_MAX} levels")));
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), Refused> {
        let start = self.at;
        self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80);
        if matches!(self.peek(0), b'"' | b'\'') && self.at - start <= 2 {
            let prefix = &self.bytes[start..self.at];
            if prefix.iter().any(|byte| matches!(byte, b'f' | b'F' | b't' | b'T')) {
                self.at = start;
                let message = "formatted strings are no part of TVMScript; expected a plain string";
                return Err(self.refuse(message.to_owned()));
            }
            return self.string();
        }
        if &self.bytes[start..self.at] == b"lambda" {
            self.lambdas += 1;
            if self.lambdas > LAMBDAS_MAX {
                return Err(self.refuse(format!("more than {LAMBDAS_MAX} lambdas in one statement")));
            }
        }
        self.link()
    }

    fn string(&mut self) -> Result<(), Refused> {
        let quote = self.peek(0);
        let triple = self.peek(1) == quote && self.peek(2) == quote;
        self.at += if triple { 3 } else { 1 };
        while self.at < self.bytes.len() {
            match self.peek(0) {
                // Also in a raw string a backslash keeps the quote after it from ending the string.
                b'\\' => self.at += 2,
                b'\n' | b'\r' if !triple => break,
                byte if byte == quote && !triple => {
                    self.at += 1;
                    break;
                }
                byte if byte == quote && self.peek(1) == quote && self.peek(2) == quote => {
                    self.at += 3;
                    break;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.at.min(self.bytes.len());
        self.link()
    }

    fn link(&mut self) -> Result<(), Refused> {
        self.chain += 1;
        if self.chain > CHAIN_MAX {
            let message = format!(
                "this expression is longer than {CHAIN_MAX} names and operators; bind parts of it to variables"
            );
            return Err(self.refuse(message));
        }
        Ok(())
    }

    fn symbol(&mut self) -> Result<(), Refused> {
        let byte = self.peek(0);
        match byte {
            b'(' | b'[' | b'{' => {
                if self.brackets.len() >= NESTING_MAX {
                    return Err(self.refuse(format!("brackets nest deeper than {NESTING_MAX} levels")));
                }
                self.link()?;
                self.brackets.push(Level { opener: byte, chain: self.chain });
            }
            b')' | b']' | b'}' => {
                let opener = match byte {
                    b')' => b'(',
                    b']' => b'[',
                    _ => b'{',
                };
                if self.brackets.last().is_some_and(|level| level.opener == opener) {
                    self.chain = self.brackets.pop().map_or(0, |level| level.chain);
                }
            }
            b',' => {
                if let Some(level) = self.brackets.last() {
                    self.chain = level.chain;
                }
            }
            _ => self.link()?,
        }
        self.at += 1;
        Ok(())
    }
}
