//! `FILE[:FUNC]`: reads a kernel file and chooses a function of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chipdock_host::files::read_regular_text;
use chipdock_ir::{AttrValue, Diagnostic, Expr, IrModule, PrimFunc, Target, attr};
use chipdock_script::{Cause, Script, ScriptErrors};

use crate::report::{self, Exit, Failure, Mark, Problem, Result, quoted};

/// Greatest size of a kernel file in bytes.
const SIZE_BYTES_MAX: u64 = 16 << 20;

/// A kernel file that was read.
#[derive(Debug)]
pub(crate) struct KernelFile {
    /// Path of the file as it was given.
    pub(crate) path: PathBuf,
    /// Name of the requested function, if one was given.
    pub(crate) function: Option<String>,
    /// Text of the file.
    pub(crate) text: String,
    /// Module of the file.
    pub(crate) module: IrModule,
    /// Corrections made while reading.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl KernelFile {
    /// Reads `FILE[:FUNC]`.
    ///
    /// # Errors
    ///
    /// Exit code 2 with file, line and column.
    pub(crate) fn read(argument: &str) -> Result<Self> {
        let (path, function) = split(argument);
        let name = path.display().to_string();
        let _span = tracing::info_span!("read", file = name).entered();
        let wrong = |what: String| Failure::input(what).at(name.clone());
        let text = read_regular_text(&path, SIZE_BYTES_MAX)
            .map_err(|error| wrong(format!("cannot read the kernel file: {}", error.message())))?;
        let read = chipdock_script::parse_with_warnings(&text, &name);
        let Script { module, warnings } = read.map_err(|errors| script_failure(&errors))?;
        Ok(Self { path, function, text, module, warnings })
    }

    /// Returns the function to run: the requested one, the only one, the one marked as entry, or
    /// `main`.
    ///
    /// # Errors
    ///
    /// Exit code 2 with the names of the functions.
    pub(crate) fn chosen(&self) -> Result<&PrimFunc> {
        let functions = &self.module.functions;
        let names = || quoted(functions.iter().map(|function| function.name.to_string()));
        let wrong = |what: String| Failure::input(what).in_file(&self.path);
        if let Some(name) = &self.function {
            return self
                .module
                .function(name)
                .ok_or_else(|| wrong(format!("no function \"{name}\"; the file has {}", names())));
        }
        let is_entry = |function: &&PrimFunc| {
            matches!(function.attrs.get(attr::IS_ENTRY_FUNC), Some(AttrValue::Bool(true)))
        };
        match functions.as_slice() {
            [] => Err(wrong("the file has no function".to_owned())),
            [only] => Ok(only),
            several => {
                let entry = several.iter().find(is_entry).or_else(|| self.module.function("main"));
                entry.ok_or_else(|| {
                    let first = &several[0].name;
                    wrong(format!("the file has several functions: {}", names()))
                        .help(format!("name one, as in {}:{first}", self.path.display()))
                })
            }
        }
    }

    /// Returns the module with `function` and those that it calls, and nothing else.
    pub(crate) fn module_of(&self, function: &PrimFunc) -> IrModule {
        let mut kept: Vec<Arc<str>> = vec![Arc::clone(&function.name)];
        let mut next = 0;
        while let Some(name) = kept.get(next).cloned() {
            next += 1;
            let Some(caller) = self.module.function(&name) else { continue };
            caller.body.walk_exprs(&mut |expr: &Expr| {
                if let Some(callee) = expr.called().filter(|callee| !kept.contains(callee)) {
                    kept.push(Arc::clone(callee));
                }
            });
        }
        let functions = self.module.functions.iter().filter(|function| kept.contains(&function.name));
        IrModule { functions: functions.cloned().collect(), attrs: self.module.attrs.clone() }
    }

    /// Returns the target that a function names, if it names one.
    pub(crate) fn target_of(function: &PrimFunc) -> Option<&Arc<Target>> {
        match function.attrs.get(attr::TARGET) {
            Some(AttrValue::Target(target)) => Some(target),
            _ => None,
        }
    }

    /// Returns the errors of the module as problems with their lines.
    pub(crate) fn problems(&self, diagnostics: &[Diagnostic]) -> Vec<Problem> {
        let name = self.path.display().to_string();
        let problem = |diagnostic: &Diagnostic| {
            let mut what = diagnostic.message.clone();
            if !diagnostic.function.is_empty() {
                what = format!("in {}: {what}", diagnostic.function);
            }
            if !diagnostic.node.is_empty() {
                what = format!("{what} (`{}`)", diagnostic.node);
            }
            let mark = Mark::new(&self.text, diagnostic.span);
            Problem { what, place: report::place(&name, diagnostic.span), mark }
        };
        diagnostics.iter().map(problem).collect()
    }
}

/// Splits off the name after the last colon, if it is one and the whole is no file.
pub(crate) fn split(argument: &str) -> (PathBuf, Option<String>) {
    if let Some((path, name)) = argument.rsplit_once(':')
        && is_name(name)
        && !path.is_empty()
        && !Path::new(argument).exists()
    {
        return (path.into(), Some(name.to_owned()));
    }
    (argument.into(), None)
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

fn script_failure(errors: &ScriptErrors) -> Failure {
    /// Greatest number of errors that are shown.
    const SHOWN_MAX: usize = 10;
    let all = errors.errors();
    let problems = all.iter().take(SHOWN_MAX).map(|error| Problem {
        what: error.message.clone(),
        place: format!("{}:{}:{}", error.file, error.line, error.column),
        mark: Some(Mark {
            line: error.line,
            column: error.column,
            length: error.length,
            text: error.source_line.clone(),
        }),
    });
    let exit = match errors.cause() {
        Cause::Script => Exit::Input,
        Cause::Environment | Cause::Internal => Exit::Work,
    };
    let mut failure = Failure { exit, problems: problems.collect(), help: String::new() };
    if all.len() > SHOWN_MAX {
        failure.help = format!("{} more errors follow; mend these first", all.len() - SHOWN_MAX);
    }
    failure
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_function_follows_the_last_colon() {
        for (argument, path, function) in [
            ("k.py", "k.py", None),
            ("k.py:add", "k.py", Some("add")),
            ("a:b/k.py:add", "a:b/k.py", Some("add")),
            ("a:b/k.py", "a:b/k.py", None),
            (":add", ":add", None),
            ("k.py:", "k.py:", None),
            ("k.py:1x", "k.py:1x", None),
        ] {
            assert_eq!(split(argument), (path.into(), function.map(str::to_owned)), "{argument}");
        }
    }

    #[test]
    fn a_file_with_a_colon_in_its_name_is_itself() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k:add");
        fs::write(&path, "").unwrap();
        assert_eq!(split(path.to_str().unwrap()), (path.clone(), None));
    }
}
