//! The tables of the published minors. They are frozen: a node, a field or an op that is added
//! belongs to a new minor, whose table is made of the one before.

use std::sync::OnceLock;

use super::{Field, Format, NodeFormat, Shape, Sort};
use crate::Op;
use crate::limits::LANES_MAX;

/// Makes a list of required fields.
macro_rules! fields {
    ($($name:ident: $shape:expr),* $(,)?) => {
        vec![$(Field { name: stringify!($name), shape: $shape, optional: false }),*]
    };
}

const KINDS: &[&str] = &["serial", "parallel", "vectorized", "unrolled", "thread_binding"];
const ITERS: &[&str] = &["spatial", "reduce", "scan", "opaque"];
const AXES: &[&str] = &[
    "blockIdx.x",
    "blockIdx.y",
    "blockIdx.z",
    "threadIdx.x",
    "threadIdx.y",
    "threadIdx.z",
    "vthread.x",
    "vthread.y",
    "vthread.z",
];
const PAIRS: &[&str] = &[
    "Add", "Sub", "Mul", "Div", "Mod", "FloorDiv", "FloorMod", "Min", "Max", "EQ", "NE", "LT", "LE", "GT",
    "GE", "And", "Or",
];
/// Lists the ops that a minor introduced, in the order of the table of ops (OP2).
fn ops_since(minor: u64) -> impl Iterator<Item = &'static str> {
    Op::ALL.iter().map(|op| op.info()).filter(move |op| op.wire_minor == minor).map(|op| op.name)
}

fn words(words: &[&'static str]) -> Shape {
    Shape::Word(words.to_vec())
}

fn list(shape: Shape) -> Shape {
    Shape::List(Box::new(shape))
}

fn or_null(shape: Shape) -> Shape {
    Shape::Nullable(Box::new(shape))
}

fn expr() -> Shape {
    Shape::Id(Sort::Expr)
}

fn stmt() -> Shape {
    Shape::Id(Sort::Stmt)
}

fn var() -> Shape {
    Shape::Id(Sort::Var)
}

fn buffer() -> Shape {
    Shape::Id(Sort::Buffer)
}

fn attrs() -> Shape {
    list(Shape::Tuple(vec![Shape::Text, Shape::Id(Sort::Attr)]))
}

fn region() -> Shape {
    Shape::Object(fields! { buffer: buffer(), region: list(Shape::Tuple(vec![expr(), expr()])) })
}

fn node(name: &'static str, sort: Sort, fields: Vec<Field>) -> NodeFormat {
    NodeFormat { name, sort, fields }
}

fn leaves() -> Vec<NodeFormat> {
    let pointer = Shape::Object(fields! { element: Shape::AnyDType, scope: Shape::Text });
    let number = || Shape::Number(0, u32::MAX.into());
    vec![
        node(
            "Var",
            Sort::Var,
            fields! { name: Shape::Text, dtype: Shape::AnyDType, pointer: or_null(pointer) },
        ),
        node(
            "Buffer",
            Sort::Buffer,
            fields! {
                name: Shape::Text, dtype: Shape::AnyDType, shape: list(expr()), strides: list(expr()),
                elem_offset: or_null(expr()), data: var(), scope: Shape::Text, data_alignment_bytes: number(),
                offset_factor: number(),
            },
        ),
    ]
}

fn reducer() -> NodeFormat {
    let fields = fields! { lhs: list(var()), rhs: list(var()), result: list(expr()), identity: list(expr()) };
    node("Reducer", Sort::Reducer, fields)
}

/// Positions (WIRE-W8).
fn positions() -> Field {
    let number = || Shape::Number(1, u32::MAX.into());
    let place = Shape::Tuple(vec![Shape::Id(Sort::Placed), number(), number()]);
    let positions = fields! { file: or_null(Shape::Text), nodes: list(place) };
    Field { name: "positions", shape: Shape::Object(positions), optional: true }
}

fn expressions() -> Vec<NodeFormat> {
    let lanes = || Shape::Number(2, LANES_MAX.into());
    let ops = Shape::Word(ops_since(0).collect());
    let dtype = || Shape::AnyDType;
    let of = |name, fields| node(name, Sort::Expr, fields);
    let pair = |name: &&'static str| of(*name, fields! { dtype: dtype(), a: expr(), b: expr() });
    let mut nodes = vec![
        of("Int", fields! { dtype: dtype(), value: Shape::Integer }),
        of("Float", fields! { dtype: dtype(), bits: Shape::Bits }),
        of("Str", fields! { value: Shape::Text }),
        of("ConstantData", fields! { section: Shape::Digest, size_bytes: Shape::Integer }),
        of("Cast", fields! { dtype: dtype(), value: expr() }),
        of("Not", fields! { dtype: dtype(), value: expr() }),
    ];
    nodes.extend(PAIRS.iter().map(pair));
    nodes.extend([
        of("Select", fields! { dtype: dtype(), condition: expr(), then: expr(), otherwise: expr() }),
        of(
            "Load",
            fields! { dtype: dtype(), buffer: buffer(), indices: list(expr()), predicate: or_null(expr()) },
        ),
        of("Ramp", fields! { dtype: dtype(), base: expr(), stride: expr(), lanes: lanes() }),
        of("Broadcast", fields! { dtype: dtype(), value: expr(), lanes: lanes() }),
        of(
            "Shuffle",
            fields! {
                dtype: dtype(), vectors: list(expr()), indices: list(Shape::Number(0, u16::MAX.into())),
            },
        ),
        of("Let", fields! { dtype: dtype(), var: var(), value: expr(), body: expr() }),
        of("CallOp", fields! { dtype: dtype(), op: ops, args: list(expr()) }),
        of("CallGlobal", fields! { dtype: dtype(), function: Shape::Text, args: list(expr()) }),
        of(
            "CallExtern",
            fields! { dtype: dtype(), name: Shape::Text, pure: Shape::Bool, args: list(expr()) },
        ),
    ]);
    nodes
}

fn statements() -> Vec<NodeFormat> {
    let of = |name, fields| node(name, Sort::Stmt, fields);
    vec![
        of("Seq", fields! { stmts: list(stmt()) }),
        of("Bind", fields! { var: var(), value: expr() }),
        of(
            "Store",
            fields! { buffer: buffer(), indices: list(expr()), value: expr(), predicate: or_null(expr()) },
        ),
        of("AllocBuffer", fields! { buffer: buffer(), annotations: attrs() }),
        of("DeclBuffer", fields! { buffer: buffer(), data: or_null(expr()) }),
        of(
            "For",
            fields! {
                var: var(), min: expr(), extent: expr(), kind: words(KINDS), thread: or_null(words(AXES)),
                step: or_null(expr()), annotations: attrs(), body: stmt(),
            },
        ),
        of("While", fields! { condition: expr(), body: stmt() }),
        of("If", fields! { condition: expr(), then: stmt(), otherwise: or_null(stmt()) }),
        block(),
        of("Evaluate", fields! { value: expr() }),
        of("Assert", fields! { condition: expr(), kind: Shape::Text, message: list(expr()) }),
        of(
            "Attr",
            fields! {
                about: or_null(Shape::Id(Sort::About)), key: Shape::Text, value: expr(), body: stmt(),
            },
        ),
        of("LaunchThread", fields! { var: var(), axis: words(AXES), extent: expr(), body: stmt() }),
        of("Return", fields! { value: or_null(expr()) }),
        of("Break", Vec::new()),
        of("Continue", Vec::new()),
    ]
}

fn block() -> NodeFormat {
    let axis = fields! { var: var(), min: expr(), extent: expr(), kind: words(ITERS) };
    let view = fields! { buffer: buffer(), source: region() };
    let fields = fields! {
        iter_values: list(expr()), predicate: expr(), name: Shape::Text, iter_vars: list(Shape::Object(axis)),
        reads: or_null(list(region())), writes: or_null(list(region())), init: or_null(stmt()),
        alloc_buffers: list(buffer()), match_buffers: list(Shape::Object(view)), annotations: attrs(), body: stmt(),
    };
    node("BlockRealize", Sort::Stmt, fields)
}

fn values() -> Vec<NodeFormat> {
    let of = |name, fields| node(name, Sort::Attr, fields);
    vec![
        of("AttrNone", Vec::new()),
        of("AttrBool", fields! { value: Shape::Bool }),
        of("AttrInt", fields! { value: Shape::Integer }),
        of("AttrFloat", fields! { bits: Shape::Bits }),
        of("AttrStr", fields! { value: Shape::Text }),
        of("AttrList", fields! { items: list(Shape::Id(Sort::Attr)) }),
        of("AttrMap", fields! { items: attrs() }),
        of("AttrTarget", fields! { target: Shape::Target }),
        of("AttrExpr", fields! { value: expr() }),
    ]
}

/// Returns the table of 1.0.
pub(in crate::wire) fn v1_0() -> &'static Format {
    static FORMAT: OnceLock<Format> = OnceLock::new();
    FORMAT.get_or_init(|| {
        let function = fields! {
            name: Shape::Text, params: list(Shape::Id(Sort::Param)), ret: or_null(Shape::DType), attrs: attrs(),
            s_tir: Shape::Bool, alloc_buffers: list(buffer()), body: stmt(),
        };
        let nodes = [leaves(), expressions(), statements(), values(), vec![reducer()]].concat();
        let mut document = fields! { functions: list(Shape::Object(function)), attrs: attrs() };
        document.push(positions());
        Format::new(nodes, document)
    })
}
