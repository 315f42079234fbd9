//! Constants: `K = T.allocate_const([1, 2], "int32", [2])`.

use chipdock_ir::{Buffer, ConstantData, DType, Expr, ExprKind, Stmt, StmtKind, StorageScope, number};
use rustpython_ruff_python_ast as ast;

use crate::parser::{Parser, Result};
use crate::value::Value;

/// The call that makes a constant, as TVM names it.
pub(crate) const ALLOCATE: &str = "T.allocate_const";

/// Names of its arguments, in TVM's order.
const ARGS: [&str; 4] = ["data", "dtype", "extents", "annotations"];

/// A constant as a call states it.
struct Stated {
    data: ConstantData,
    dtype: DType,
    extents: Vec<Expr>,
}

impl Parser<'_> {
    /// `K = T.allocate_const(...)`: the name is the pointer, as in TVM, over which buffers are
    /// declared. A buffer of the constant's extents is declared with it.
    pub(crate) fn allocate_const(
        &mut self,
        name: &str,
        call: &ast::ExprCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Value> {
        let Stated { data, dtype, extents } = self.stated_const(call)?;
        let buffer = Buffer::new(name, extents, dtype, StorageScope::GLOBAL);
        let pointer = buffer.data.expr();
        let data = Some(Expr::constant_data(data).with_span(self.span(call)));
        out.push(Stmt::new(StmtKind::DeclBuffer { buffer, data }).with_span(self.span(call)));
        Ok(Value::Expr(pointer))
    }

    /// The constant itself, as the data of a declared buffer.
    pub(crate) fn const_expr(&mut self, call: &ast::ExprCall) -> Result<Value> {
        let Stated { data, .. } = self.stated_const(call)?;
        Ok(Value::Expr(Expr::constant_data(data).with_span(self.span(call))))
    }

    fn stated_const(&mut self, call: &ast::ExprCall) -> Result<Stated> {
        let [data, dtype, extents, annotations] = self.bind(call, ALLOCATE, ARGS, 3)?;
        if let Some(at) = annotations.filter(|at| !matches!(at, ast::Expr::NoneLiteral(_))) {
            return Err(self.fail(at, format!("{ALLOCATE}: annotations are not supported")));
        }
        let (data_at, dtype_at) = (self.required(data)?, self.required(dtype)?);
        let dtype = self.dtype(dtype_at)?;
        if dtype.is_handle() {
            return Err(self.fail(dtype_at, "a constant holds numbers or booleans, found pointers"));
        }
        let at = self.required(extents)?;
        let extents = self.shape(at)?;
        let count = extents.iter().try_fold(1_usize, |count, extent| {
            count.checked_mul(extent.as_int().and_then(|extent| usize::try_from(extent).ok())?)
        });
        let Some(count) = count else {
            return Err(self.fail(at, "the extents of a constant are numbers, 0 or more"));
        };
        let lanes = count.saturating_mul(usize::from(dtype.lanes));
        let data = match self.value(data_at)? {
            Value::Str(digits) => self.const_bytes(&digits, dtype, count, data_at)?,
            value => {
                let mut bits = Vec::new();
                self.const_lanes(&value, dtype.scalar(), data_at, &mut bits)?;
                if bits.len() != lanes {
                    let message =
                        format!("expected {lanes} values, as the extents say, found {}", bits.len());
                    return Err(self.fail(data_at, message));
                }
                ConstantData::pack(dtype.scalar(), bits)
            }
        };
        Ok(Stated { data, dtype, extents })
    }

    /// The bytes of a constant as hexadecimal digits.
    fn const_bytes(
        &mut self,
        digits: &str,
        dtype: DType,
        count: usize,
        at: &ast::Expr,
    ) -> Result<ConstantData> {
        let pairs = digits.as_bytes().chunks(2);
        let byte = |pair: &[u8]| {
            let text = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            let is_hex = text.bytes().all(|digit| digit.is_ascii_hexdigit());
            u8::from_str_radix(text, 16).ok().filter(|_| is_hex)
        };
        let Some(bytes) = pairs.map(byte).collect::<Option<Vec<u8>>>() else {
            return Err(self.fail(at, "expected a list of values, or the bytes in hexadecimal digits"));
        };
        match dtype.array_size_bytes(count) {
            Some(expected) if expected == bytes.len() => Ok(ConstantData::new(bytes)),
            _ => {
                let found = bytes.len();
                let message = format!("{count} elements of {dtype} do not have {found} bytes");
                Err(self.fail(at, message))
            }
        }
    }

    /// Collects the bits of values, in order; lists may nest.
    fn const_lanes(&mut self, value: &Value, dtype: DType, at: &ast::Expr, out: &mut Vec<u64>) -> Result<()> {
        if let Value::List(items) = value {
            let parts = match at {
                ast::Expr::List(list) => list.elts.as_slice(),
                ast::Expr::Tuple(tuple) => tuple.elts.as_slice(),
                _ => &[],
            };
            for (index, item) in items.iter().enumerate() {
                self.const_lanes(item, dtype, parts.get(index).unwrap_or(at), out)?;
            }
            return Ok(());
        }
        match lane_of(value, dtype) {
            Ok(bits) => out.push(bits),
            Err(expected) => {
                let found = value.describe();
                return Err(self.fail(at, format!("expected {expected}, found {found}")));
            }
        }
        Ok(())
    }
}

/// The bits of a value of a type; the error is what was expected.
fn lane_of(value: &Value, dtype: DType) -> std::result::Result<u64, String> {
    let expected = || match dtype.integer_range() {
        Some((least, greatest)) => format!("a value of {dtype}, {least} to {greatest}"),
        None => format!("a value of {dtype}"),
    };
    let (integer, float) = match value {
        Value::Int(value) => (Some(*value), *value as f64),
        Value::Bool(value) => (Some((*value).into()), f64::from(u8::from(*value))),
        Value::Float(value) => (None, *value),
        Value::Expr(expr) => match &expr.kind {
            ExprKind::Int(value) => (Some(*value), *value as f64),
            ExprKind::Float(bits) => (None, bits.value()),
            _ => return Err(expected()),
        },
        _ => return Err(expected()),
    };
    match dtype.integer_range() {
        Some((least, greatest)) => {
            // NumPy's lists of whole numbers may be written as floats.
            let whole = (float.fract() == 0.0 && float.abs() < 9.0e15).then_some(float as i128);
            let value = integer.or(whole).filter(|value| (least..=greatest).contains(value));
            value.map(|value| value as u64).ok_or_else(expected)
        }
        None => Ok(number::float_bits(float, dtype)),
    }
}

#[cfg(test)]
mod tests {
    use chipdock_ir::{Child, ConstantData, DType, IrModule, Stage, equal, print};

    /// A function that declares what `line` says.
    fn script(line: &str) -> String {
        format!("@T.prim_func\ndef f(B: T.Buffer((4,), \"float32\")):\n    {line}\n    T.evaluate(0)\n")
    }

    fn read(line: &str) -> Result<IrModule, String> {
        let text = format!("from tvm.script import tirx as T\n\n{}", script(line));
        crate::parse_at(&text, "k.py", Stage::Blocks).map_err(|errors| errors.to_string())
    }

    fn constants(module: &IrModule) -> Vec<(DType, ConstantData)> {
        let mut found = Vec::new();
        module.functions[0].body.walk(&mut |child| {
            if let Child::Stmt(stmt) = child
                && let Some((buffer, data)) = stmt.as_constant()
            {
                found.push((buffer.dtype, data.clone()));
            }
        });
        found
    }

    /// Reads the line, and what is printed of it: both times the same bytes.
    fn check(line: &str, dtype: DType, bytes: &[u8]) {
        let module = read(line).expect(line);
        let expected = vec![(dtype, ConstantData::new(bytes.to_vec()))];
        assert_eq!(constants(&module), expected, "{line}");
        let printed = print::module(&module);
        let again = crate::parse_at(&printed, "k.py", Stage::Blocks).expect(&printed);
        assert_eq!(equal::modules(&again, &module), Ok(()), "{printed}");
        assert_eq!(constants(&again), expected, "{printed}");
    }

    /// ir: IR-B8.
    #[test]
    fn a_constant_is_read_and_printed() {
        check("K = T.allocate_const([1, -1], \"int16\", [2])", DType::INT16, &[1, 0, 0xff, 0xff]);
        check(
            "K = T.allocate_const([[1, 2], [3, 4]], dtype=\"int8\", extents=[2, 2])",
            DType::INT8,
            &[1, 2, 3, 4],
        );
        check("K = T.allocate_const([-8, 7, -1], \"int4\", [3])", DType::INT4, &[0x78, 0x0f]);
        check("K = T.allocate_const([True, False], \"bool\", [2])", DType::BOOL, &[1, 0]);
        check("K = T.allocate_const([], \"float64\", [0])", DType::FLOAT64, &[]);
        let special = "K = T.allocate_const([float(\"-inf\"), -0.0, float(\"nan\")], \"float16\", (3,))";
        check(special, DType::FLOAT16, &[0x00, 0xfc, 0x00, 0x80, 0x00, 0x7e]);
        check(
            "K = T.allocate_const([0.1, T.float32(2.0)], \"float32\", [2])",
            DType::FLOAT32,
            &[0xcd, 0xcc, 0xcc, 0x3d, 0, 0, 0, 0x40],
        );
        // A NaN with a payload, which no list of numbers has.
        check("K = T.allocate_const(\"0100c07f\", \"float32\", [1])", DType::FLOAT32, &[1, 0, 0xc0, 0x7f]);
        let view = "K = T.decl_buffer((2,), \"uint8\", data=T.allocate_const([7, 9], \"uint8\", [2]))";
        check(view, DType::UINT8, &[7, 9]);
    }

    #[test]
    fn a_constant_that_does_not_fit_is_refused() {
        for (line, says) in [
            (
                "K = T.allocate_const([1, 2], \"int32\", [3])",
                "expected 3 values, as the extents say, found 2",
            ),
            ("K = T.allocate_const([128], \"int8\", [1])", "expected a value of int8, -128 to 127"),
            ("K = T.allocate_const([1.5], \"int8\", [1])", "expected a value of int8, -128 to 127"),
            ("K = T.allocate_const([8], \"int4\", [1])", "expected a value of int4, -8 to 7"),
            ("K = T.allocate_const(\"01\", \"float32\", [1])", "1 elements of float32 do not have 1 bytes"),
            ("K = T.allocate_const(\"0g\", \"int8\", [1])", "or the bytes in hexadecimal digits"),
            ("K = T.allocate_const([1], \"int8\", [1], {\"a\": 1})", "annotations are not supported"),
            ("K = T.allocate_const([1], \"int8\", [-1])", "the extents of a constant are numbers"),
        ] {
            let found = read(line).expect_err(line);
            assert!(found.contains(says), "{line}: expected {says}, found {found}");
        }
    }
}
