//! Tests of a language made of the shared base alone: plain C99 with vectors as structures. Its
//! text is compiled by `cc` and gives the interpreter's results.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail their test")]

use std::process::Command;

use chipdock_codegen_source::c_family::{CFamily, Spellings, contains_word, scalar};
use chipdock_codegen_source::{
    Allocation, Answer, Assertion, Barrier, Code, Dialect, Prelude, Refusal, Signature, unsupported,
    write_module,
};
use chipdock_interpret::{Arg, Array, Interpreter, compare};
use chipdock_ir::{
    AttrValue, BinaryOp, Buffer, DType, Expr, ExprKind, IrModule, Op, Param, Stmt, StmtKind, StorageRank,
    StorageScope, attr, build,
};

/// C99 and nothing else.
struct C99;

static SPELLINGS: Spellings = Spellings {
    popcount: Some(|bits| {
        let digits: Vec<String> = (0..bits).map(|digit| format!("(x >> {digit} & 1)")).collect();
        digits.join(" + ")
    }),
    ..Spellings::C99
};

fn no<T>(what: &str) -> Answer<T> {
    Err(Refusal::new(format!("has no {what}")))
}

impl CFamily for C99 {
    fn spellings(&self) -> &Spellings {
        &SPELLINGS
    }
    fn space(&self, scope: &StorageScope) -> Answer<&'static str> {
        if scope.rank == StorageRank::Global { Ok("") } else { no("scope but global") }
    }
}

impl Dialect for C99 {
    fn name(&self) -> &str {
        "c99"
    }
    fn is_reserved(&self, name: &str) -> bool {
        contains_word(SPELLINGS.words, name)
    }
    fn header(&self, _: &Prelude) -> String {
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n".to_owned()
    }
    fn allocation(&self, allocation: &Allocation<'_>, _: &mut Prelude) -> Answer<String> {
        let element = self.memory_type(allocation.buffer.dtype.scalar())?;
        Ok(format!("{element} {}[{}];", allocation.name, allocation.count))
    }
    fn barrier(&self, _: &Barrier<'_>, _: &mut Prelude) -> Answer<String> {
        no("barriers")
    }
    fn signature(&self, signature: &Signature, _: &mut Prelude) -> Answer<String> {
        let mut params = Vec::new();
        for param in &signature.params {
            let held = match &param.pointer {
                Some(pointer) => self.pointer(Some(pointer))?,
                None => scalar(self, param.dtype)?.to_owned(),
            };
            params.push(format!("{held} {}", param.name));
        }
        let ret = signature.ret.map_or(Ok("void"), |ret| scalar(self, ret))?;
        Ok(format!("static {ret} {}({})", signature.name, params.join(", ")))
    }
    fn assert(&self, _: &Assertion<'_>, _: &mut Prelude) -> Answer<String> {
        no("assertions")
    }
    fn call_extern(&self, _: &str, _: &[(Code, DType)], _: DType, _: &mut Prelude) -> Answer<Code> {
        no("functions of others")
    }
}

const N: usize = 24;

fn buffer(name: &str, dtype: DType) -> Buffer {
    Buffer::new(name.to_owned(), vec![Expr::i32(N as i32)], dtype, StorageScope::GLOBAL)
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr) -> Expr {
    let dtype = a.dtype;
    Expr::new(ExprKind::Binary(op, a.clone(), b.clone()), dtype)
}

/// A buffer and what is stored in it, from an integer and a float.
type Stored<'r> = (Buffer, &'r dyn Fn(&Expr, &Expr) -> Expr);

/// Results of each type from integers `I` and floats `F`: scalars one by one, or three lanes at a
/// time.
fn module(results: &[Stored<'_>], lanes: u16, is_lowered: bool) -> IrModule {
    let (i, f) = (buffer("I", DType::INT32), buffer("F", DType::FLOAT32));
    let mut function = build::function("f");
    for buffer in [&i, &f].into_iter().chain(results.iter().map(|(buffer, _)| buffer)) {
        function.param(buffer.clone());
    }
    function.range("k", N as i32 / i32::from(lanes), |body, k| {
        let at = k * Expr::i32(lanes.into());
        let at = if lanes == 1 { at } else { at.ramp(Expr::i32(1), lanes) };
        let (x, y) = (Expr::load(&i, vec![at.clone()]), Expr::load(&f, vec![at.clone()]));
        for (buffer, value) in results {
            body.push(Stmt::new(StmtKind::Store {
                buffer: buffer.clone(),
                indices: vec![at.clone()],
                value: value(&x, &y),
                predicate: None,
            }));
        }
    });
    let mut function = function.finish();
    function.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    if is_lowered {
        // Code generators get pointers.
        for param in &mut function.params {
            if let Param::Buffer(buffer) = param {
                *param = Param::Var(buffer.data.clone());
            }
        }
        function.s_tir = false;
    }
    build::module([function])
}

fn integers() -> Array {
    let least = i128::from(i32::MIN);
    let values = [0, 1, -1, 7, -7, least, least + 1, -least - 1, 3, 65_519, 65_520, 16_777_217];
    let values: Vec<i128> = values.into_iter().chain(values.map(|value| value / 3 - 2)).collect();
    Array::from_int(DType::INT32, &[N], &values)
}

fn floats() -> Array {
    let values = [0.0, -0.0, 1.5, -2.5, 1e10, -1e10, f32::NAN, f32::INFINITY, 255.9, 65_520.0, 3e-8, 6.1e-5];
    let values: Vec<f32> = values.into_iter().chain(values.map(|value| -value * 1.0009766)).collect();
    Array::from_f32(&[N], &values)
}

/// A program that calls `f` and prints the bytes of its results, one buffer a line.
fn program(text: &str, results: &[Stored<'_>]) -> String {
    let bytes = |array: &Array| {
        let bytes: Vec<String> = array.data.iter().map(u8::to_string).collect();
        bytes.join(", ")
    };
    let mut body = format!(
        "#include <stdio.h>\n{text}\nstatic _Alignas(8) unsigned char I[] = {{{}}};\n\
         static _Alignas(8) unsigned char F[] = {{{}}};\n",
        bytes(&integers()),
        bytes(&floats())
    );
    let (mut args, mut prints) = (vec!["(void*)I".to_owned(), "(void*)F".to_owned()], String::new());
    for (number, (buffer, _)) in results.iter().enumerate() {
        let size_bytes = buffer.dtype.lane_size_bytes() * N;
        body.push_str(&format!("static _Alignas(8) unsigned char O{number}[{size_bytes}];\n"));
        args.push(format!("(void*)O{number}"));
        prints.push_str(&format!(
            "    for (int i = 0; i < {size_bytes}; ++i) printf(\"%u \", O{number}[i]);\n    printf(\"\\n\");\n"
        ));
    }
    format!("{body}int main(void) {{\n    f({});\n{prints}    return 0;\n}}\n", args.join(", "))
}

fn check(results: &[Stored<'_>], lanes: u16) {
    let module = module(results, lanes, false);
    let source = write_module(&self::module(results, lanes, true), &C99).unwrap();
    let folder = std::env::temp_dir().join(format!("chipdock-c99-{}-{lanes}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, binary) = (folder.join("f.c"), folder.join("f"));
    std::fs::write(&file, program(&source.text, results)).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-O1", "-Wall", "-Werror", "-ffp-contract=off"]);
    let compiled = compiler.arg("-o").arg(&binary).arg(&file).output().unwrap();
    assert!(compiled.status.success(), "{}\n{}", String::from_utf8_lossy(&compiled.stderr), source.text);
    let output = String::from_utf8(Command::new(&binary).output().unwrap().stdout).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let zeros = results.iter().map(|(buffer, _)| Array::zeros(buffer.dtype, &[N]));
    let mut args: Vec<Arg> = [integers(), floats()].into_iter().chain(zeros).map(Arg::Tensor).collect();
    let outcome = Interpreter::new(&module).run("f", &mut args).unwrap();
    assert_eq!(output.lines().count(), results.len());
    for (line, (buffer, _)) in output.lines().zip(results) {
        let data = line.split_whitespace().map(|byte| byte.parse().unwrap()).collect();
        let found = Array { dtype: buffer.dtype, shape: vec![N], data };
        compare(&found, outcome.output(&buffer.name).unwrap())
            .unwrap_or_else(|mismatch| panic!("{}: {mismatch}\n{}", buffer.name, source.text));
    }
}

fn all(lanes: u16) {
    let three = |x: &Expr| {
        let three = Expr::int(3, x.dtype.scalar());
        if x.dtype.is_scalar() { three } else { three.broadcast(x.dtype.lanes) }
    };
    let floordiv = |x: &Expr, _: &Expr| binary(BinaryOp::FloorDiv, x, &three(x));
    let by_zero = |x: &Expr, _: &Expr| binary(BinaryOp::Div, x, &(x.clone() - x.clone()));
    let wrapped = |x: &Expr, _: &Expr| x.clone() * x.clone() + x.clone();
    let abs = |x: &Expr, _: &Expr| Expr::call(Op::Abs, vec![x.clone()], x.dtype);
    let bits = |x: &Expr, _: &Expr| Expr::call(Op::Popcount, vec![x.clone()], x.dtype);
    let cast = |dtype: DType| move |_: &Expr, y: &Expr| y.clone().cast(dtype.with_lanes(y.dtype.lanes));
    let of_integer = |dtype: DType| move |x: &Expr, _: &Expr| x.clone().cast(dtype.with_lanes(x.dtype.lanes));
    let sum = |dtype: DType| {
        move |_: &Expr, y: &Expr| {
            let half = y.clone().cast(dtype.with_lanes(y.dtype.lanes));
            half.clone() + half
        }
    };
    let least = |x: &Expr, y: &Expr| {
        binary(BinaryOp::Min, &x.clone().cast(DType::FLOAT32.with_lanes(x.dtype.lanes)), y)
    };
    let raw = |_: &Expr, y: &Expr| {
        Expr::call(Op::Reinterpret, vec![y.clone()], DType::UINT32.with_lanes(y.dtype.lanes))
    };
    check(
        &[
            (buffer("A", DType::INT32), &floordiv),
            (buffer("B", DType::INT32), &by_zero),
            (buffer("C", DType::INT32), &wrapped),
            (buffer("D", DType::INT32), &abs),
            (buffer("E", DType::INT32), &bits),
            (buffer("G", DType::UINT8), &cast(DType::UINT8)),
            (buffer("H", DType::INT64), &cast(DType::INT64)),
            (buffer("J", DType::BOOL), &cast(DType::BOOL)),
            (buffer("K", DType::FLOAT16), &sum(DType::FLOAT16)),
            (buffer("L", DType::BFLOAT16), &sum(DType::BFLOAT16)),
            (buffer("M", DType::FLOAT16), &of_integer(DType::FLOAT16)),
            (buffer("N", DType::BFLOAT16), &of_integer(DType::BFLOAT16)),
            (buffer("O", DType::FLOAT32), &least),
            (buffer("P", DType::UINT32), &raw),
        ],
        lanes,
    );
}

#[test]
fn cf2_to_cf5_scalars_are_the_interpreters() {
    all(1);
}

#[test]
fn cf7_vectors_as_structures_are_the_interpreters() {
    all(3);
}

#[test]
fn cf9_an_op_without_a_row_is_refused_by_name() {
    let root = |_: &Expr, y: &Expr| Expr::call(Op::Sqrt, vec![y.clone()], y.dtype);
    let found = unsupported(&module(&[(buffer("A", DType::FLOAT32), &root)], 1, true), &C99);
    assert!(found.iter().any(|found| found.message == "target c99: has no sqrt of float32"), "{found:?}");
}
