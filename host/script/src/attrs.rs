//! Attributes: dictionaries of notes, and targets in them.

use std::sync::Arc;

use chipdock_ir::{AttrValue, Attrs, FloatBits};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::guard::NESTING_MAX;
use crate::parser::{Failed, Parser, Result};
use crate::value::Value;

impl Parser<'_> {
    /// A dictionary of attributes.
    pub(crate) fn attrs(&mut self, expr: &ast::Expr) -> Result<Attrs> {
        let ast::Expr::Dict(dict) = expr else {
            return Err(self.fail(expr, "expected a dictionary, as {\"name\": value}"));
        };
        let mut attrs = Attrs::new();
        for item in &dict.items {
            let (name, value) = self.attr_item(item)?;
            if attrs.contains_key(&name) {
                return Err(self.twice(item, &name));
            }
            attrs.insert(name, value);
        }
        Ok(attrs)
    }

    /// Reports a key that occurs twice: Python keeps the last value, and a reader of the file sees
    /// the first.
    fn twice(&mut self, item: &ast::DictItem, name: &str) -> Failed {
        self.fail(
            item.key.as_ref().unwrap_or(&item.value),
            format!("key {name:?} stands twice; keep one of them"),
        )
    }

    fn attr_item(&mut self, item: &ast::DictItem) -> Result<(Arc<str>, AttrValue)> {
        let Some(key) = &item.key else {
            return Err(self.fail(&item.value, "unpacking with ** is not supported; write the entries out"));
        };
        let name = self.string(key)?;
        let value = self.nested(item.value.range(), |parser| parser.attr_value(&item.value))?;
        Ok((name, value))
    }

    fn attr_value(&mut self, expr: &ast::Expr) -> Result<AttrValue> {
        match expr {
            ast::Expr::Dict(_) => return self.attrs(expr).map(AttrValue::Map),
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                let items = elts
                    .iter()
                    .map(|item| self.nested(item.range(), |parser| parser.attr_value(item)))
                    .collect::<Result<_>>()?;
                return Ok(AttrValue::List(items));
            }
            ast::Expr::Call(call) if self.path(&call.func).as_deref() == Some("T.target") => {
                return Ok(AttrValue::Target(Arc::new(self.target(call)?)));
            }
            _ => {}
        }
        let value = self.value(expr)?;
        self.noted(value, expr, 0)
    }

    /// Converts a value to one of an attribute.
    fn noted(&mut self, value: Value, at: &ast::Expr, depth: usize) -> Result<AttrValue> {
        Ok(match value {
            Value::None => AttrValue::None,
            Value::Bool(value) => AttrValue::Bool(value),
            Value::Int(value) => match i64::try_from(value) {
                Ok(value) => AttrValue::Int(value),
                Err(_) => return Err(self.fail(at, format!("{value} does not fit int64"))),
            },
            Value::Float(value) => AttrValue::Float(FloatBits::new(value)),
            Value::Str(text) => AttrValue::Str(text),
            Value::Expr(value) => AttrValue::Expr(value),
            // By the variable of its memory, which a pass replaces only everywhere at once.
            Value::Buffer(buffer) | Value::Scalar(buffer) => {
                AttrValue::Expr(buffer.data.expr().with_span(self.span(at)))
            }
            Value::List(items) if depth < NESTING_MAX => {
                let items = items.iter().map(|item| self.noted(item.clone(), at, depth + 1));
                AttrValue::List(items.collect::<Result<_>>()?)
            }
            Value::Failed => return Err(Failed),
            other => {
                let message = format!(
                    "expected a number, a string, None, a buffer, a list, a dictionary or a target, found {}",
                    other.describe()
                );
                return Err(self.fail(at, message));
            }
        })
    }

    /// A literal of Python's as JSON.
    pub(crate) fn json(&mut self, expr: &ast::Expr) -> Result<serde_json::Value> {
        self.nested(expr.range(), |parser| parser.json_inner(expr))
    }

    fn json_inner(&mut self, expr: &ast::Expr) -> Result<serde_json::Value> {
        match expr {
            ast::Expr::Dict(dict) => {
                let mut object = serde_json::Map::new();
                for item in &dict.items {
                    let Some(key) = &item.key else {
                        return Err(self.fail(dict, "unpacking with ** is not supported"));
                    };
                    let key = self.string(key)?;
                    let value = self.json(&item.value)?;
                    if object.contains_key(&*key) {
                        return Err(self.twice(item, &key));
                    }
                    object.insert(key.to_string(), value);
                }
                Ok(serde_json::Value::Object(object))
            }
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().map(|item| self.json(item)).collect::<Result<_>>().map(serde_json::Value::Array)
            }
            ast::Expr::Call(call) if self.path(&call.func).as_deref() == Some("T.target") => {
                Ok(self.target(call)?.to_json())
            }
            _ => match self.value(expr)? {
                Value::None => Ok(serde_json::Value::Null),
                Value::Bool(value) => Ok(value.into()),
                Value::Int(value) => match i64::try_from(value) {
                    Ok(value) => Ok(value.into()),
                    Err(_) => Err(self.fail(expr, format!("{value} does not fit int64"))),
                },
                Value::Float(value) => {
                    let message = format!(
                        "a target holds integers of 64 bits, found float {value:?}; write it as a string"
                    );
                    Err(self.fail(expr, message))
                }
                Value::Str(text) => Ok(text.to_string().into()),
                other => {
                    let message = format!(
                        "expected a number, a string, a list or a dictionary, found {}",
                        other.describe()
                    );
                    Err(self.fail(expr, message))
                }
            },
        }
    }
}
