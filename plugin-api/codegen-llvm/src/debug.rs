//! Debug information (rule LLVM-V11): a unit, a subprogram for each function, a location for each
//! instruction.

use chipdock_ir::{AttrValue, Span, Stmt, attr};

use crate::writer::Writer;

/// The DWARF version in use.
const DWARF_VERSION: u32 = 4;

/// Numbers of the metadata nodes for debug information.
#[derive(Debug, Default)]
pub(crate) struct Debug {
    unit: Option<usize>,
    file: usize,
    /// The subprogram of the current function.
    scope: Option<usize>,
    /// The line of the current function.
    line: u32,
}

impl Debug {
    /// The named metadata of a module, with that of debug information if the module has it.
    pub(crate) fn names(&self, flags: usize) -> String {
        match self.unit {
            Some(unit) => {
                format!("!llvm.dbg.cu = !{{!{unit}}}\n!llvm.module.flags = !{{!{flags}, !{}}}\n", flags + 1)
            }
            None => String::new(),
        }
    }

    /// The module flags for debug information, in order.
    pub(crate) fn flags(&self) -> Vec<String> {
        if self.unit.is_none() {
            return Vec::new();
        }
        vec![
            "!{i32 2, !\"Debug Info Version\", i32 3}".to_owned(),
            format!("!{{i32 7, !\"Dwarf Version\", i32 {DWARF_VERSION}}}"),
        ]
    }
}

/// The first source line of a statement within this one; 0 if none is known.
pub(crate) fn first_line(body: &Stmt) -> u32 {
    let (mut stmts, mut first) = (vec![body], u32::MAX);
    let mut seen = std::collections::HashSet::new();
    while let Some(stmt) = stmts.pop() {
        if !seen.insert(stmt.address()) {
            continue;
        }
        if stmt.span != Span::NONE {
            first = first.min(stmt.span.line);
        }
        stmt.for_each_child(&mut |child| {
            if let chipdock_ir::Child::Stmt(stmt) = child {
                stmts.push(stmt);
            }
        });
    }
    if first == u32::MAX { 0 } else { first }
}

/// A string within metadata.
fn quoted(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\{byte:02X}")),
        }
    }
    literal.push('"');
    literal
}

impl Writer<'_> {
    /// Begins the debug information of the current function: ` !dbg !7`, or nothing.
    pub(crate) fn subprogram(&mut self) -> String {
        if !self.options.debug {
            return String::new();
        }
        let unit = self.unit();
        let function = self.function;
        let name = self.source_name();
        let symbol = self.symbols.get(&function.name).cloned().unwrap_or_default();
        let line = first_line(&function.body);
        let none = self.around.metadata("!{}".to_owned());
        let signature = self.around.metadata(format!("!DISubroutineType(types: !{none})"));
        let file = self.lines.file;
        let scope = self.around.metadata(format!(
            "distinct !DISubprogram(name: {}, linkageName: {}, scope: !{file}, file: !{file}, line: {line}, \
             type: !{signature}, scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{unit})",
            quoted(&name),
            quoted(&symbol)
        ));
        self.lines.scope = Some(scope);
        self.lines.line = line;
        self.locate();
        format!(" !dbg !{scope}")
    }

    /// The name of the kernel that the function computes, or else its own name.
    fn source_name(&self) -> String {
        match self.function.attrs.get(attr::SOURCE_NAME) {
            Some(AttrValue::Str(name)) => name.to_string(),
            _ => {
                let name = &self.function.name;
                name.strip_suffix("_compute_").unwrap_or(name).to_owned()
            }
        }
    }

    fn unit(&mut self) -> usize {
        if let Some(unit) = self.lines.unit {
            return unit;
        }
        let path = self.options.file.unwrap_or("kernel.py");
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let file = format!("!DIFile(filename: {}, directory: {})", quoted(name), quoted(folder));
        let file = self.around.metadata(file);
        let unit = self.around.metadata(format!(
            "distinct !DICompileUnit(language: DW_LANG_C11, file: !{file}, producer: \"chipdock\", isOptimized: true, \
             runtimeVersion: 0, emissionKind: LineTablesOnly)"
        ));
        self.lines.file = file;
        self.lines.unit = Some(unit);
        unit
    }

    /// Sets the debug location of the next instructions to the current statement.
    pub(crate) fn locate(&mut self) {
        let Some(scope) = self.lines.scope.filter(|_| self.options.debug) else { return };
        let (line, column) = if self.place == Span::NONE {
            (self.lines.line, 0)
        } else {
            (self.place.line, self.place.column.min(u16::MAX.into()))
        };
        let location = format!("!DILocation(line: {line}, column: {column}, scope: !{scope})");
        self.debug = format!(", !dbg !{}", self.around.metadata(location));
    }
}
