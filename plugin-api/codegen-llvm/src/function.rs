//! Functions: signatures, parameters, what is allocated at their start.

use chipdock_ir::{DType, Param};

use crate::module::calling_conv;
use crate::value::Value;
use crate::writer::Writer;
use crate::{CallingConv, types};

impl Writer<'_> {
    /// Writes the function at hand: its whole definition.
    pub(crate) fn function(&mut self) -> String {
        let function = self.function;
        let convention = calling_conv(function);
        let keyword = match self.target.calling_convention(convention) {
            Ok(keyword) => keyword,
            Err(refusal) => {
                self.report(chipdock_ir::Span::NONE, String::new(), refusal.0);
                ""
            }
        };
        let mut params = Vec::with_capacity(function.params.len());
        for (number, param) in function.params.iter().enumerate() {
            let (var, dtype) = match param {
                Param::Buffer(buffer) => (&buffer.data, DType::HANDLE),
                Param::Var(var) => (var, var.dtype),
            };
            let name = format!("%p{number}");
            params.push(format!("{} {name}", types::register(dtype)));
            self.positions.bind(var);
            self.know(var, Value::new(name, dtype));
        }
        let body = &function.body;
        self.stmt(body);
        if self.is_open() {
            // The validator has seen that a function that returns a value does so on every path.
            let text = if function.ret.is_some() { "unreachable" } else { "ret void" };
            self.terminate(text);
        }
        let ret = function.ret.map_or_else(|| "void".to_owned(), types::register);
        let linkage = if convention == CallingConv::Internal { "internal " } else { "" };
        let keyword = if keyword.is_empty() { String::new() } else { format!("{keyword} ") };
        let symbol = self.symbols.get(&function.name).cloned().unwrap_or_default();
        format!(
            "define {linkage}{keyword}{ret} @{symbol}({}) #0 {{\nentry:\n{}  br label %body\n{}}}\n",
            params.join(", "),
            self.entry,
            self.text
        )
    }
}
