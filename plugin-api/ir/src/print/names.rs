//! Names: valid Python identifiers, unique among those in scope.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{Buffer, Var};

/// Python's keywords, and the names that the printed text itself uses.
pub(crate) const RESERVED: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "I",
    "Module", "T", "float", "metadata", "range",
];

/// Returns true for a text that is valid as a name in the printed text.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic())
        && chars.all(|c| c == '_' || c.is_ascii_alphanumeric())
        && !RESERVED.contains(&name)
}

/// Returns the nearest identifier.
pub(crate) fn identifier(name: &str) -> String {
    if is_identifier(name) {
        return name.to_owned();
    }
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let text: String = name.chars().map(plain).take(64).collect();
    if text.is_empty() || RESERVED.contains(&text.as_str()) || text.starts_with(|c: char| c.is_ascii_digit())
    {
        format!("v_{text}")
    } else {
        text
    }
}

/// The names in scope.
pub(super) struct Names {
    vars: HashMap<Var, Arc<str>>,
    buffers: HashMap<Buffer, Arc<str>>,
    /// Number of uses of each name in scope.
    used: HashMap<Arc<str>, u32>,
    next: HashMap<String, u32>,
    scopes: Vec<Vec<ScopedName>>,
}

enum ScopedName {
    Var(Var),
    Buffer(Buffer),
    Name(Arc<str>),
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            vars: HashMap::new(),
            buffers: HashMap::new(),
            used: HashMap::new(),
            next: HashMap::new(),
            scopes: vec![Vec::new()],
        }
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn close(&mut self) {
        for entry in self.scopes.pop().unwrap_or_default() {
            match entry {
                ScopedName::Var(var) => {
                    self.vars.remove(&var);
                }
                ScopedName::Buffer(buffer) => {
                    self.buffers.remove(&buffer);
                }
                ScopedName::Name(name) => {
                    self.used.remove(&name);
                    self.next.remove(&*name);
                }
            }
        }
        if self.scopes.is_empty() {
            self.scopes.push(Vec::new());
        }
    }

    /// Returns a name similar to `preferred` that is not used in scope; it is taken until the scope
    /// closes.
    pub(super) fn take(&mut self, preferred: &str) -> Arc<str> {
        self.take_at(preferred, self.scopes.len() - 1)
    }

    fn take_at(&mut self, preferred: &str, scope: usize) -> Arc<str> {
        let base = identifier(preferred);
        let mut name: Arc<str> = base.as_str().into();
        while self.used.contains_key(&name) {
            let next = self.next.entry(base.clone()).or_insert(0);
            *next += 1;
            name = format!("{base}_{next}").into();
        }
        self.used.insert(Arc::clone(&name), 0);
        self.scopes[scope].push(ScopedName::Name(Arc::clone(&name)));
        name
    }

    /// Names a variable until the scope closes.
    pub(super) fn bind(&mut self, var: &Var) -> Arc<str> {
        let name = self.take(&var.name);
        self.bind_as(var, Arc::clone(&name));
        name
    }

    fn bind_as(&mut self, var: &Var, name: Arc<str>) {
        if self.vars.insert(var.clone(), name).is_none()
            && let Some(scope) = self.scopes.last_mut()
        {
            scope.push(ScopedName::Var(var.clone()));
        }
    }

    /// Names a buffer until the scope closes, and its pointer with it, unless that has a name
    /// already.
    pub(super) fn declare(&mut self, buffer: &Buffer) -> Arc<str> {
        let name = self.take(&buffer.name);
        if self.buffers.insert(buffer.clone(), Arc::clone(&name)).is_none()
            && let Some(scope) = self.scopes.last_mut()
        {
            scope.push(ScopedName::Buffer(buffer.clone()));
        }
        if !self.vars.contains_key(&buffer.data) {
            self.bind_as(&buffer.data, format!("{name}.data").into());
        }
        name
    }

    /// Returns true for a variable that has a name.
    pub(super) fn knows(&self, var: &Var) -> bool {
        self.vars.contains_key(var)
    }

    /// Returns the name of a variable; a free one gets one for good.
    pub(super) fn var(&mut self, var: &Var) -> Arc<str> {
        if let Some(name) = self.vars.get(var) {
            return Arc::clone(name);
        }
        let name = self.take_at(&var.name, 0);
        self.vars.insert(var.clone(), Arc::clone(&name));
        self.scopes[0].push(ScopedName::Var(var.clone()));
        name
    }

    /// Returns the name of a buffer; a free one gets one for good.
    pub(super) fn buffer(&mut self, buffer: &Buffer) -> Arc<str> {
        if let Some(name) = self.buffers.get(buffer) {
            return Arc::clone(name);
        }
        let name = self.take_at(&buffer.name, 0);
        self.buffers.insert(buffer.clone(), Arc::clone(&name));
        self.scopes[0].push(ScopedName::Buffer(buffer.clone()));
        name
    }
}
