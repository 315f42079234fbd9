//! Creates arguments and launches for a kernel from its declarations, with the results in the
//! interpreter.

use std::collections::HashMap;

use chipdock_interpret::{Arg, Array, Interpreter, Limits, Outcome};
use chipdock_ir::{
    AttrValue, Buffer, Child, DType, Expr, ExprKind, IrModule, Param, PrimFunc, Stmt, StmtKind, ThreadAxis,
    Var, attr, build,
};

/// Largest number of iterations of a trial, because the interpreter is slow.
const STEPS_MAX: u64 = 1_500_000;
/// Value of sizes in a trial.
pub const SIZE: i128 = 19;
/// Offset of tensors in their memory, in elements.
pub const OFFSET: i128 = 3;

/// A launch of a kernel.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Name of the kernel in the module.
    pub name: String,
    /// Arguments of the kernel.
    pub args: Vec<Arg>,
    /// Blocks on the axes x, y, z.
    pub grid: [i128; 3],
    /// Threads of a block on the axes x, y, z.
    pub block: [i128; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: i128,
}

/// Sequence of numbers that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

/// Returns the value of an integer expression over scalars.
fn value(e: &Expr, scalars: &HashMap<usize, (Var, i128)>) -> Option<i128> {
    let mut f = build::function("value").finish();
    f.ret = Some(e.dtype);
    let used: Vec<&(Var, i128)> = scalars.values().collect();
    f.params = used.iter().map(|(var, _)| Param::Var(var.clone())).collect();
    f.body = Stmt::new(StmtKind::Return(Some(e.clone())));
    f.attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    let module = build::module([f]);
    let mut args: Vec<Arg> = used.iter().map(|(_, value)| Arg::Int(*value)).collect();
    let outcome = Interpreter::new(&module).run("value", &mut args).ok()?;
    outcome.returned?.0.int(0)
}

fn array(dtype: DType, elements: usize, numbers: &mut Numbers) -> Array {
    let lanes = elements * usize::from(dtype.lanes);
    let values: Vec<f64> = (0..lanes)
        .map(|_| {
            let number = numbers.next();
            if dtype.is_float() { (number % 4001) as f64 / 1000.0 - 2.0 } else { (number % 5) as f64 }
        })
        .collect();
    let values: Vec<f64> =
        if dtype.is_bool() { values.iter().map(|value| f64::from(*value > 1.5)).collect() } else { values };
    Array::from_f64(dtype, &[elements], &values)
}

/// Creates a launch of each kernel of the module with made-up arguments; an error is the reason for
/// a kernel whose sizes cannot be determined.
#[must_use]
pub fn launches(module: &IrModule) -> Vec<Result<Launch, String>> {
    let is_kernel = |f: &&PrimFunc| f.attrs.get(attr::CALLING_CONV) == Some(&AttrValue::Int(2));
    module.functions.iter().filter(is_kernel).map(launch).collect()
}

/// Memory and threads that a kernel's body declares.
#[derive(Default)]
struct Declared {
    buffers: Vec<Buffer>,
    dynamic: Option<Buffer>,
    axes: Vec<(ThreadAxis, Expr)>,
}

fn declared(function: &PrimFunc) -> Declared {
    let mut found = Declared::default();
    function.body.walk(&mut |child| {
        let Child::Stmt(s) = child else { return };
        match &s.kind {
            StmtKind::DeclBuffer { buffer, data } => {
                let mut buffer = buffer.clone();
                if let Some(ExprKind::Var(var)) = data.as_ref().map(|data| &data.kind) {
                    buffer =
                        Buffer::from_node(chipdock_ir::BufferNode { data: var.clone(), ..(*buffer).clone() });
                }
                found.buffers.push(buffer);
            }
            StmtKind::AllocBuffer { buffer, .. } if buffer.scope.is_dynamic_shared() => {
                found.dynamic = Some(buffer.clone());
            }
            StmtKind::LaunchThread { axis, extent, .. } => found.axes.push((*axis, extent.clone())),
            _ => {}
        }
    });
    found
}

fn launch(function: &PrimFunc) -> Result<Launch, String> {
    let mut numbers = Numbers(function.name.len() as u64);
    let found = declared(function);
    let mut scalars = HashMap::new();
    for param in &function.params {
        let Param::Var(var) = param else { return Err(format!("{} has a buffer parameter", function.name)) };
        if var.dtype.is_integer() {
            let number = if var.name.ends_with("elem_offset") { OFFSET } else { SIZE };
            let number = if var.dtype.is_bool() { 1 } else { number };
            scalars.insert(var.address(), (var.clone(), number));
        }
    }
    let size = |buffer: &Buffer| {
        buffer.shape.iter().try_fold(1_i128, |size, extent| Some(size * value(extent, &scalars)?))
    };
    let mut args = Vec::with_capacity(function.params.len());
    for param in &function.params {
        let Param::Var(var) = param else { continue };
        if let Some((_, number)) = scalars.get(&var.address()) {
            args.push(Arg::Int(*number));
            continue;
        }
        if !var.dtype.is_handle() {
            args.push(Arg::Float(1.25));
            continue;
        }
        let element = var.pointer.as_ref().map(|pointer| pointer.element).ok_or("an untyped pointer")?;
        let views = found.buffers.iter().filter(|buffer| buffer.data == *var);
        let mut elements = 1;
        for view in views {
            let bytes = size(view).ok_or_else(|| format!("{}: the size of {}", function.name, view.name))?
                * view.dtype.size_bytes() as i128;
            elements = elements.max(bytes.div_euclid(element.size_bytes().max(1) as i128));
        }
        let elements = usize::try_from(elements + OFFSET).map_err(|error| error.to_string())?;
        args.push(Arg::Tensor(array(element, elements, &mut numbers)));
    }
    let (mut grid, mut block) = ([1; 3], [1; 3]);
    for (axis, extent) in &found.axes {
        let extent = value(extent, &scalars).ok_or_else(|| format!("{}: {axis}", function.name))?;
        match axis {
            ThreadAxis::BlockX => grid[0] = extent,
            ThreadAxis::BlockY => grid[1] = extent,
            ThreadAxis::BlockZ => grid[2] = extent,
            ThreadAxis::ThreadX => block[0] = extent,
            ThreadAxis::ThreadY => block[1] = extent,
            ThreadAxis::ThreadZ => block[2] = extent,
            _ => return Err(format!("{}: {axis}", function.name)),
        }
    }
    let dynamic_shared_bytes = match &found.dynamic {
        Some(buffer) => {
            let count =
                size(buffer).ok_or_else(|| format!("{}: the size of {}", function.name, buffer.name))?;
            count * buffer.dtype.size_bytes() as i128
        }
        None => 0,
    };
    Ok(Launch { name: function.name.to_string(), args, grid, block, dynamic_shared_bytes })
}

/// Runs a launch in the interpreter.
///
/// # Errors
///
/// The interpreter reports that the made-up arguments do not suit the kernel.
pub fn expected(module: &IrModule, launch: &Launch) -> Result<Outcome, String> {
    let mut args = launch.args.clone();
    let limits = Limits { steps_max: STEPS_MAX, ..Limits::default() };
    let interpreter = Interpreter::new(module).with_bounds().with_limits(limits);
    interpreter.run(&launch.name, &mut args).map_err(|error| format!("{}: {error}", launch.name))
}
