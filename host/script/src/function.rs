//! Functions: parameters, declarations in the body, and the body.

use std::sync::Arc;

use chipdock_ir::{AttrValue, DType, Param, PrimFunc, Var, attr};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::names;
use crate::parser::{FunctionOptions, Parser, Result, Slot};
use crate::regions::widened;
use crate::source::placed;
use crate::value::Value;

impl Parser<'_> {
    /// Reads a function. Names that it defines stay in the scope that the caller opened.
    pub(crate) fn function(
        &mut self,
        function: &ast::StmtFunctionDef,
        options: FunctionOptions,
    ) -> Result<PrimFunc> {
        self.function.s_tir = options.s_tir;
        self.copied_symbols(function)?;
        for (name, dtype) in self.symbols.clone() {
            let var = Var::new(Arc::clone(&name), dtype);
            self.scopes.define(name, Value::Expr(var.expr()));
        }
        self.type_params(function)?;
        self.collect_declared(function);
        let params = self.params(function);
        let ret = match &function.returns {
            Some(returns) => self.returns(returns),
            None => Ok(None),
        };
        self.function.ret = ret.unwrap_or(None);
        self.function.ret_unsaid = function.returns.is_none();
        // The body is still read, for its own errors.
        let body = self.body(&function.body);
        let name: Arc<str> = Arc::from(function.name.id.as_str());
        let (body, added) = if options.s_tir { widened(&body, &name) } else { (body, Vec::new()) };
        self.warnings.extend(added);
        let body = placed(&body, self.span(&function.name));
        params?;
        ret?;
        let state = std::mem::take(&mut self.function);
        let mut attrs = state.attrs;
        if options.private {
            attrs.insert(attr::IS_GLOBAL_FUNC.into(), AttrValue::Bool(false));
        }
        let params = state
            .slots
            .into_iter()
            .map(|slot| match slot {
                Slot::Param(param) => param,
                Slot::Handle(var) => Param::Var(var),
            })
            .collect();
        Ok(PrimFunc {
            name,
            params,
            ret: state.ret,
            attrs,
            s_tir: options.s_tir,
            alloc_buffers: state.alloc_buffers,
            body,
        })
    }

    /// `def f[n](...)`: sizes of type int64.
    fn type_params(&mut self, function: &ast::StmtFunctionDef) -> Result<()> {
        let Some(params) = &function.type_params else { return Ok(()) };
        for param in &params.type_params {
            let ast::TypeParam::TypeVar(param) = param else {
                return Err(self.fail(param, "expected a plain name as a type parameter"));
            };
            let var = Var::new(param.name.id.as_str(), DType::INT64);
            self.scopes.define(param.name.id.as_str(), Value::Expr(var.expr()));
        }
        Ok(())
    }

    /// Records `n = T.int64()` at the top of the body, which declares the type of a size that the
    /// parameters name.
    fn collect_declared(&mut self, function: &ast::StmtFunctionDef) {
        for stmt in &function.body {
            let ast::Stmt::Assign(assign) = stmt else { continue };
            let [target] = assign.targets.as_slice() else { continue };
            let pairs: Vec<(&ast::Expr, &ast::Expr)> = match (target, &*assign.value) {
                (ast::Expr::Tuple(names), ast::Expr::Tuple(values)) => {
                    names.elts.iter().zip(&values.elts).collect()
                }
                (name, value) => vec![(name, value)],
            };
            for (name, value) in pairs {
                if let (ast::Expr::Name(name), Some(dtype)) = (name, self.declaration(value)) {
                    self.function.declared.insert(name.id.to_string(), dtype);
                }
            }
        }
    }

    /// The type of `T.int32()` and its like.
    pub(crate) fn declaration(&self, value: &ast::Expr) -> Option<DType> {
        let ast::Expr::Call(call) = value else { return None };
        let path = self.path(&call.func)?;
        call.arguments.is_empty().then(|| names::dtype(path.strip_prefix("T.")?)).flatten()
    }

    fn returns(&mut self, returns: &ast::Expr) -> Result<Option<DType>> {
        if returns.is_none_literal_expr() {
            return Ok(None);
        }
        let dtype = match self.value(returns)? {
            Value::DType(dtype) => dtype,
            Value::Handle(_) => DType::HANDLE,
            Value::None => return Ok(None),
            other => {
                let message = format!("expected a type such as T.int32, found {}", other.describe());
                return Err(self.fail(returns, message));
            }
        };
        Ok(Some(dtype))
    }

    fn params(&mut self, function: &ast::StmtFunctionDef) -> Result<()> {
        let params = &function.parameters;
        // Defined, so that the body reports nothing about a parameter that has an error of its own.
        for param in params.iter() {
            self.scopes.define(param.name().as_str(), Value::Failed);
        }
        let odd = params.vararg.as_ref().or(params.kwarg.as_ref());
        if let Some(odd) = odd {
            return Err(self.fail(&**odd, "* and ** parameters are not supported"));
        }
        if let Some(odd) = params.kwonlyargs.first() {
            return Err(self.fail(odd, "keyword-only parameters are not supported"));
        }
        let all: Vec<&ast::ParameterWithDefault> = params.posonlyargs.iter().chain(&params.args).collect();
        // A scalar parameter may come after the buffer whose size it is.
        for param in &all {
            if let Some(annotation) = &param.parameter.annotation
                && let Some(dtype) = self.scalar_annotation(annotation)
            {
                let name = param.parameter.name.id.as_str();
                let var = Var::new(name, dtype).expr().with_span(self.span(&param.parameter));
                self.scopes.define(name, Value::Expr(var));
            }
        }
        // An unquoted size that the body declares.
        let mut declared: Vec<(String, DType)> =
            self.function.declared.iter().map(|(name, dtype)| (name.clone(), *dtype)).collect();
        declared.sort();
        for (name, dtype) in declared {
            if self.scopes.find(&name).is_none() {
                let var = Var::new(name.as_str(), dtype);
                self.scopes.define(name, Value::Expr(var.expr()));
            }
        }
        let read: Vec<Result<()>> = all.into_iter().map(|param| self.param(param)).collect();
        read.into_iter().collect()
    }

    fn scalar_annotation(&self, annotation: &ast::Expr) -> Option<DType> {
        names::dtype(self.path(annotation)?.strip_prefix("T.")?)
    }

    fn param(&mut self, param: &ast::ParameterWithDefault) -> Result<()> {
        let name = param.parameter.name.id.as_str();
        let slot = self.param_slot(param)?;
        if self.function.param_names.insert(name.to_owned(), self.function.slots.len()).is_some() {
            return Err(self.fail(&param.parameter, format!("two parameters are named {name}")));
        }
        self.function.slots.push(slot);
        Ok(())
    }

    fn param_slot(&mut self, param: &ast::ParameterWithDefault) -> Result<Slot> {
        if let Some(default) = &param.default {
            return Err(self.fail(&**default, "parameters take no default"));
        }
        let name = param.parameter.name.id.as_str();
        let Some(annotation) = &param.parameter.annotation else {
            let message = format!(
                "{name} needs a type: T.Buffer((...), \"float32\"), a scalar such as T.int32, or T.handle"
            );
            return Err(self.fail(&param.parameter, message));
        };
        if let ast::Expr::Call(call) = &**annotation
            && self.path(&call.func).as_deref() == Some("T.Buffer")
        {
            let buffer = self.buffer_param(name, call)?;
            self.scopes.define(name, Value::Buffer(buffer.clone()));
            return Ok(Slot::Param(Param::Buffer(buffer)));
        }
        match self.value(annotation)? {
            // Defined above already.
            Value::DType(_) => match self.scopes.find(name) {
                Some(Value::Expr(expr)) => match &expr.kind {
                    chipdock_ir::ExprKind::Var(var) => Ok(Slot::Param(Param::Var(var.clone()))),
                    _ => Err(crate::parser::Failed),
                },
                _ => Err(crate::parser::Failed),
            },
            Value::Handle(pointer) => {
                let typed = pointer.is_some();
                let var = match pointer {
                    Some(pointer) => Var::pointer(name, pointer.element, pointer.scope),
                    None => Var::new(name, DType::HANDLE),
                };
                self.scopes.define(name, Value::Expr(var.expr()));
                Ok(if typed { Slot::Param(Param::Var(var)) } else { Slot::Handle(var) })
            }
            other => {
                let message = format!(
                    "expected T.Buffer((...), \"float32\"), a scalar type such as T.int32, or T.handle, found {}",
                    other.describe()
                );
                Err(self.fail(annotation.range(), message))
            }
        }
    }
}
