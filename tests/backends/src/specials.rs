//! Programs over the special values of each type: NaN, infinities, zeros, subnormals, the ends of
//! floats and integers, and constants that are easy to read wrongly; for the compilers of every
//! language that code generators write.
//!
//! Their results are compared bit by bit, but that a NaN may be any.

use std::fmt::Write as _;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{DType, IrModule, Param, TypeCode};

use crate::Result;
use crate::launches::Launch;

/// A function of a program, and its arguments.
#[derive(Clone, Debug)]
pub struct Call {
    /// Name of the function.
    pub function: &'static str,
    /// Its arguments; tensors of zeros for results.
    pub args: Vec<Arg>,
    /// Contents of its tensors after the call.
    pub expected: Vec<Array>,
}

/// A program over the special values of one type.
#[derive(Clone, Debug)]
pub struct Program {
    /// The type, and whether float64 occurs.
    pub name: String,
    /// Text of the program.
    pub text: String,
    /// The same as a module.
    pub module: IrModule,
    /// A call of each of its functions.
    pub calls: Vec<Call>,
}

/// Float types, with the bits of their exponents.
const FLOATS: [(DType, u32); 4] =
    [(DType::FLOAT16, 5), (DType::BFLOAT16, 8), (DType::FLOAT32, 8), (DType::FLOAT64, 11)];

const INTEGERS: [DType; 8] = [
    DType::INT8,
    DType::UINT8,
    DType::INT16,
    DType::UINT16,
    DType::INT32,
    DType::UINT32,
    DType::INT64,
    DType::UINT64,
];

/// float32 numbers of whose decimals the shortest gives another number if it is rounded to float64
/// first, or is above the greatest.
const TRICKY_FLOATS: [u32; 4] = [0x15ae_43fd, 0x15ae_43fe, 0x7f7f_ffff, 0xff7f_ffff];

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

/// Bits of the special values of a float type, both signs of each.
fn float_bits(dtype: DType, exponent_bits: u32) -> Vec<u64> {
    let digits = u32::from(dtype.bits) - 1 - exponent_bits;
    let (unit, infinity) = (1_u64 << digits, ((1_u64 << exponent_bits) - 1) << digits);
    let one = ((1_u64 << (exponent_bits - 1)) - 1) << digits;
    let quiet_nan = infinity | unit >> 1;
    let mut all = vec![0, 1, unit - 1, unit, one, one + 1, infinity - 1, infinity, quiet_nan];
    all.extend(all.clone().iter().map(|bits| bits | 1_u64 << (dtype.bits - 1)));
    if dtype == DType::FLOAT32 {
        all.extend(TRICKY_FLOATS.map(u64::from));
    }
    all
}

fn array(dtype: DType, bits: &[u64]) -> Array {
    let size_bytes = dtype.size_bytes();
    let data = bits.iter().flat_map(|bits| bits.to_le_bytes()[..size_bytes].to_vec()).collect();
    Array { dtype, shape: vec![bits.len()], data }
}

/// The special values of an integer type.
fn integers(dtype: DType) -> Vec<i128> {
    let (least, most) = dtype.integer_range().unwrap_or_default();
    let mut all = vec![0, 1, 2, 100, most - 1, most, least, least + 1, most / 2 + 1];
    all.extend(dtype.is_int().then_some(-1));
    all
}

/// The constants of a type as TVMScript.
fn constants(values: &Array) -> Vec<String> {
    let dtype = values.dtype;
    let text = |lane: usize| match (values.int(lane), values.float(lane)) {
        (Some(value), _) if dtype.is_integer() => format!("T.{dtype}({value})"),
        (_, Some(value)) if value.is_nan() => format!("T.{dtype}(\"nan\")"),
        (_, Some(value)) if value.is_infinite() => {
            format!("T.{dtype}(\"{}inf\")", if value < 0.0 { "-" } else { "" })
        }
        (_, value) => format!("T.{dtype}({:?})", value.unwrap_or_default()),
    };
    (0..values.n_lanes()).map(text).collect()
}

/// The text of a function over the elements `vi` of its buffers, one statement a line.
fn function(name: &str, params: &[(&str, usize, DType)], count: usize, lines: &[String]) -> String {
    let params: Vec<String> = params
        .iter()
        .map(|(name, count, dtype)| format!("{name}: T.Buffer(({count},), \"{dtype}\")"))
        .collect();
    let mut text = format!(
        "    @T.prim_func(s_tir=True)\n    def {name}({}):\n        for i in range({count}):\n            \
         with T.sblock(\"{name}\"):\n                vi = T.axis.spatial({count}, i)\n",
        params.join(", ")
    );
    for line in lines {
        let _ = writeln!(text, "                {line}");
    }
    text
}

/// Statements that store each term, 0 or 1, in R.
fn stored(terms: &[String], count: usize) -> Vec<String> {
    terms.iter().enumerate().map(|(row, term)| format!("R[{} + vi] = {term}", row * count)).collect()
}

/// Comparisons of the elements of A and B in each form in which compilers meet them.
fn compared() -> Vec<String> {
    let mut terms = Vec::new();
    for op in COMPARISONS {
        terms.push(format!("T.Select(A[vi] {op} B[vi], 1, 0)"));
        terms.push(format!("T.Select(T.Not(A[vi] {op} B[vi]), 1, 0)"));
        terms.push(format!("T.if_then_else(A[vi] {op} B[vi], 1, 0)"));
        terms.push(format!("T.Cast(\"int32\", A[vi] {op} B[vi])"));
        terms.push(format!("T.Select(A[vi] {op} A[vi], 1, 0)"));
        terms.push(format!("T.if_then_else(T.Not(A[vi] {op} A[vi]), 1, 0)"));
    }
    terms.push("T.Cast(\"int32\", T.Cast(\"bool\", A[vi]))".to_owned());
    terms.push("T.if_then_else(T.Cast(\"bool\", A[vi]), 1, 0)".to_owned());
    terms
}

/// Comparisons of the elements of A with each constant.
fn compared_with(constants: &[String]) -> Vec<String> {
    let with = |constant: &String| {
        let each = |op: &str| {
            [
                format!("T.Select(A[vi] {op} {constant}, 1, 0)"),
                format!("T.if_then_else(T.Not({constant} {op} A[vi]), 1, 0)"),
            ]
        };
        COMPARISONS.into_iter().flat_map(each).collect::<Vec<_>>()
    };
    constants.iter().flat_map(with).collect()
}

/// A function that compares the elements of A and B, four lanes at a time.
fn vectors(count: usize, dtype: DType) -> String {
    let mut text = format!(
        "    @T.prim_func(s_tir=True)\n    def vectors(A: T.Buffer(({count},), \"{dtype}\"), \
         B: T.Buffer(({count},), \"{dtype}\"), R: T.Buffer(({},), \"int32\")):\n        \
         for i in range({count_of_vectors}):\n            with T.sblock(\"R\"):\n                \
         vi = T.axis.spatial({count_of_vectors}, i)\n",
        2 * COMPARISONS.len() * count,
        count_of_vectors = count / 4
    );
    for (row, op) in COMPARISONS.iter().enumerate() {
        let test = format!("A[vi * 4:vi * 4 + 4] {op} B[vi * 4:vi * 4 + 4]");
        for (row, test) in [(2 * row, test.clone()), (2 * row + 1, format!("T.Not({test})"))] {
            let first = row * count;
            let _ = writeln!(
                text,
                "                R[{first} + vi * 4:{first} + vi * 4 + 4] = T.Select({test}, T.Broadcast(1, 4), \
                 T.Broadcast(0, 4))"
            );
        }
    }
    text
}

/// A program in the making.
struct Writer {
    name: String,
    text: String,
    calls: Vec<(&'static str, Vec<Arg>)>,
}

impl Writer {
    fn new(name: String) -> Self {
        Self { name, text: "@I.ir_module\nclass Module:\n".to_owned(), calls: Vec::new() }
    }

    /// Adds a function over `count` elements of inputs, with results of these types, of so many
    /// elements each.
    fn add(
        &mut self,
        name: &'static str,
        inputs: &[(&str, &Array)],
        results: &[(&str, usize, DType)],
        lines: &[String],
    ) {
        let count = inputs.first().map_or(1, |(_, array)| array.n_lanes());
        let of_inputs = inputs.iter().map(|(name, array)| (*name, array.n_lanes(), array.dtype));
        let params: Vec<_> = of_inputs.chain(results.iter().copied()).collect();
        self.text += &function(name, &params, count, lines);
        self.call(name, inputs, results);
    }

    fn call(&mut self, name: &'static str, inputs: &[(&str, &Array)], results: &[(&str, usize, DType)]) {
        let inputs = inputs.iter().map(|(_, array)| Arg::Tensor((*array).clone()));
        let results = results.iter().map(|(_, count, dtype)| Arg::Tensor(Array::zeros(*dtype, &[*count])));
        self.calls.push((name, inputs.chain(results).collect()));
    }

    /// Adds what every type has: its constants, comparisons, minimum and maximum. `values` are
    /// distinct ones.
    fn add_common(&mut self, values: &Array) {
        let dtype = values.dtype;
        let constants = constants(values);
        let stores: Vec<String> =
            constants.iter().enumerate().map(|(index, text)| format!("Z[{index} + vi] = {text}")).collect();
        self.add("constants", &[], &[("Z", constants.len(), dtype)], &stores);

        let n = values.n_lanes();
        let size_bytes = dtype.size_bytes();
        let picked = |index: &dyn Fn(usize) -> usize| {
            let data = (0..n * n).flat_map(|pair| {
                let at = index(pair) * size_bytes;
                values.data[at..at + size_bytes].to_vec()
            });
            Array { dtype, shape: vec![n * n], data: data.collect() }
        };
        let (a, b) = (picked(&|pair| pair / n), picked(&|pair| pair % n));
        let pairs = [("A", &a), ("B", &b)];
        let terms = compared();
        let rows = [("R", terms.len() * n * n, DType::INT32)];
        self.add("pairs", &pairs, &rows, &stored(&terms, n * n));
        let ends = ["min", "max"].into_iter().enumerate();
        let ends: Vec<String> =
            ends.map(|(row, op)| format!("Z[{} + vi] = T.{op}(A[vi], B[vi])", row * n * n)).collect();
        self.add("ends", &pairs, &[("Z", 2 * n * n, dtype)], &ends);
        let terms = compared_with(&constants);
        self.add(
            "with_constants",
            &[("A", values)],
            &[("R", terms.len() * n, DType::INT32)],
            &stored(&terms, n),
        );
        if (n * n).is_multiple_of(4) {
            self.text += &vectors(n * n, dtype);
            self.call("vectors", &pairs, &[("R", 2 * COMPARISONS.len() * n * n, DType::INT32)]);
        }
    }

    /// Adds a function that converts the values to each type.
    fn add_casts(&mut self, name: &'static str, values: &Array, types: &[DType]) {
        let n = values.n_lanes();
        let names: Vec<String> = types.iter().map(|dtype| format!("Z_{dtype}")).collect();
        let results: Vec<_> =
            names.iter().zip(types).map(|(name, dtype)| (name.as_str(), n, *dtype)).collect();
        let lines: Vec<String> =
            types.iter().map(|dtype| format!("Z_{dtype}[vi] = T.Cast(\"{dtype}\", A[vi])")).collect();
        self.add(name, &[("A", values)], &results, &lines);
    }

    fn finish(self) -> Result<Program> {
        let (name, text) = (self.name, self.text);
        let module = chipdock_script::parse(&text, &name).map_err(|errors| format!("{errors}\n{text}"))?;
        let mut calls = Vec::new();
        for (function, args) in self.calls {
            let mut given = args.clone();
            let found = Interpreter::new(&module).run(function, &mut given);
            found.map_err(|error| format!("{name}: {function}: {error}"))?;
            let tensors = given.into_iter().filter_map(|arg| match arg {
                Arg::Tensor(array) => Some(array),
                _ => None,
            });
            calls.push(Call { function, args, expected: tensors.collect() });
        }
        Ok(Program { name, text, module, calls })
    }
}

/// The programs: one for each type, and for conversions from and to float64 another, which a target
/// without it refuses.
///
/// # Errors
///
/// A program is wrong.
pub fn programs() -> Result<Vec<Program>> {
    let mut all = Vec::new();
    let narrow: Vec<DType> = FLOATS.iter().map(|(dtype, _)| *dtype).filter(|dtype| dtype.bits < 64).collect();
    let all_values = FLOATS.iter().map(|(dtype, bits)| array(*dtype, &float_bits(*dtype, *bits)));
    let all_values = all_values.chain(INTEGERS.iter().map(|dtype| {
        let values = integers(*dtype);
        Array::from_int(*dtype, &[values.len()], &values)
    }));
    for values in all_values {
        let dtype = values.dtype;
        let is_double = dtype.code == TypeCode::Float && dtype.bits == 64;
        let mut one = Writer::new(dtype.to_string());
        one.add_common(&values);
        one.add_casts("to_integers", &values, &INTEGERS[..6]);
        one.add_casts("to_long_integers", &values, &INTEGERS[6..]);
        one.add_casts("to_floats", &values, &narrow);
        all.push(one.finish()?);
        if !is_double {
            let mut other = Writer::new(format!("{dtype} to float64"));
            other.add_casts("to_double", &values, &[DType::FLOAT64]);
            all.push(other.finish()?);
        }
    }
    Ok(all)
}

/// The launch of the kernel that a call's function was lowered to, with the call's arguments.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The launch.
    pub launch: Launch,
    /// For each argument of the call, its position among the launch's tensors.
    positions: Vec<usize>,
}

impl Placed {
    /// Finds the kernel of a call in the lowered module of its program.
    ///
    /// # Errors
    ///
    /// There is not exactly one, or it has other parameters.
    pub fn new(program: &Program, call: &Call, kernels: &IrModule) -> Result<Self> {
        let all = crate::launches::launches(kernels);
        let missing = || {
            let names: Vec<_> = all.iter().map(|one| one.as_ref().map(|one| one.name.clone())).collect();
            format!("{}: expected one kernel of {}, found {names:?}", program.name, call.function)
        };
        let prefix = format!("{}_kernel", call.function);
        let mut of_call = all.iter().flatten().filter(|launch| launch.name.starts_with(&prefix));
        let mut launch = of_call.next().filter(|_| of_call.next().is_none()).cloned().ok_or_else(missing)?;
        let kernel = kernels.function(&launch.name).ok_or_else(missing)?;
        let function = program.module.function(call.function).ok_or_else(missing)?;
        let is_tensor = |param: &&Param| matches!(param, Param::Var(var) if var.dtype.is_handle());
        let tensors: Vec<&Param> = kernel.params.iter().filter(is_tensor).collect();
        let mut positions = Vec::new();
        for (param, arg) in function.params.iter().zip(&call.args) {
            let Param::Buffer(buffer) = param else { return Err(missing()) };
            let is_of = |param: &&Param| matches!(param, Param::Var(var) if *var.name == *buffer.name);
            let place = kernel.params.iter().position(|param| is_of(&param)).ok_or_else(missing)?;
            launch.args[place] = arg.clone();
            positions.push(tensors.iter().position(is_of).ok_or_else(missing)?);
        }
        // The others are offsets of tensors in their memory.
        for (param, arg) in kernel.params.iter().zip(&mut launch.args) {
            if !is_tensor(&param) {
                *arg = Arg::Int(0);
            }
        }
        if positions.len() == tensors.len() { Ok(Self { launch, positions }) } else { Err(missing()) }
    }

    /// The tensors of the launch in the order of the call.
    #[must_use]
    pub fn in_order(&self, tensors: &[Array]) -> Vec<Array> {
        self.positions.iter().filter_map(|position| tensors.get(*position).cloned()).collect()
    }
}

/// Returns true if the program needs a target with float64.
#[must_use]
pub fn needs_double(program: &Program) -> bool {
    program.name.contains("float64")
}

/// Compares the results of a call bit by bit; a NaN may be any.
///
/// # Errors
///
/// The first elements that differ, with the inputs that belong to them.
pub fn hold_bits(call: &Call, found: &[Array]) -> Result<()> {
    if found.len() != call.expected.len() {
        return Err(format!(
            "{}: expected {} tensors, found {}",
            call.function,
            call.expected.len(),
            found.len()
        ));
    }
    let mut wrong = Vec::new();
    for (position, (expected, found)) in call.expected.iter().zip(found).enumerate() {
        for lane in 0..expected.n_lanes() {
            let size_bytes = expected.dtype.size_bytes();
            let of = |array: &Array| {
                array.data.get(lane * size_bytes..(lane + 1) * size_bytes).map(<[u8]>::to_vec)
            };
            let are_nan = [expected, found].iter().all(|array| array.float(lane).is_some_and(f64::is_nan));
            if of(expected) != of(found) && !(expected.dtype.is_float() && are_nan) {
                let values = [expected, found].map(|array| (array.float(lane), array.int(lane)));
                wrong.push(format!(
                    "tensor {position}, element {lane}: expected {:?}, found {:?}",
                    values[0], values[1]
                ));
            }
        }
    }
    match wrong.as_slice() {
        [] => Ok(()),
        [..] => Err(format!(
            "{}: {} wrong\n{}",
            call.function,
            wrong.len(),
            wrong[..wrong.len().min(12)].join("\n")
        )),
    }
}
