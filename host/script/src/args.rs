//! Arguments of calls, assigned to their parameters.

use rustpython_ruff_python_ast as ast;

use crate::error::nearest;
use crate::names::ignores_dtype;
use crate::parser::{Failed, Parser, Result};

impl Parser<'_> {
    /// Arguments of `call` in the order of `names`; the first `required` must be there.
    pub(crate) fn bind<'a, const N: usize>(
        &mut self,
        call: &'a ast::ExprCall,
        function: &str,
        names: [&str; N],
        required: usize,
    ) -> Result<[Option<&'a ast::Expr>; N]> {
        let mut bound = [None; N];
        for (index, arg) in call.arguments.args.iter().enumerate() {
            if let ast::Expr::Starred(_) = arg {
                return Err(self.fail(arg, "unpacking with * is not supported; write the arguments out"));
            }
            match bound.get_mut(index) {
                Some(slot) => *slot = Some(arg),
                None => {
                    let takes = names.join(", ");
                    let noun = if N == 1 { "argument" } else { "arguments" };
                    let message = format!("{function} takes at most {N} {noun} ({takes})");
                    return Err(self.fail(arg, message));
                }
            }
        }
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return Err(self.fail(keyword, "unpacking with ** is not supported; write the arguments out"));
            };
            let Some(index) = names.iter().position(|known| *known == name.id.as_str()) else {
                if name.id == "dtype" && ignores_dtype(function) {
                    continue;
                }
                return Err(self.unknown_keyword(keyword, function, &names));
            };
            if bound[index].is_some() {
                let message = format!("{function}: argument {} is given twice", name.id);
                return Err(self.fail(keyword, message));
            }
            bound[index] = Some(&keyword.value);
        }
        if let Some(missing) = (0..required).find(|index| bound[*index].is_none()) {
            let message =
                format!("{function} needs the argument {}; it takes ({})", names[missing], names.join(", "));
            return Err(self.fail(call, message));
        }
        Ok(bound)
    }

    pub(crate) fn unknown_keyword(
        &mut self,
        keyword: &ast::Keyword,
        function: &str,
        names: &[&str],
    ) -> Failed {
        let found = keyword.arg.as_ref().map(|name| name.id.to_string()).unwrap_or_default();
        let hint = match nearest(&found, names.iter().copied()) {
            Some(near) => format!("; did you mean {near}?"),
            None if names.is_empty() => "; it takes none".to_owned(),
            None => format!("; it takes {}", names.join(", ")),
        };
        self.fail(keyword, format!("{function} has no argument {found}{hint}"))
    }

    /// Returns an argument that [`Parser::bind`] found to be present.
    pub(crate) fn required<'a>(&self, arg: Option<&'a ast::Expr>) -> Result<&'a ast::Expr> {
        arg.ok_or(Failed)
    }
}
