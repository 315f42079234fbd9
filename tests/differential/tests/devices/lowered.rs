//! Tests of device functions lowered by TVM: built as they are, launched by hand, and compared with
//! the kernels that they were lowered from.

use std::collections::HashMap;

use chipdock_host::{Any, AnyView, CompileOptions, Host, Tensor};
use chipdock_interpret::{Arg, Array};
use chipdock_ir::{BinaryOp, Child, Expr, ExprKind, IrModule, Op, Param, StmtKind, attr};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::run;
use chipdock_test_backends::{corpus, hold, host, on_each_device};
use chipdock_test_support::CorpusFile;
use chipdock_test_support::sample::Drawn;

use crate::corpus::Products;
use crate::misuse::pointer;

/// The one symbolic size; the corpus's own.
const N: i64 = 37;
/// Bytes of the one kernel with dynamic shared memory.
const DYNAMIC_BYTES: i64 = 1024;

fn file(path: String) -> CorpusFile {
    let files = chipdock_test_support::corpus().expect("the corpus");
    files.into_iter().find(|file| file.name == path).unwrap_or_else(|| panic!("no {path}"))
}

/// Returns true if the error refuses intrinsics of another target.
fn is_a_clear_refusal(error: &str) -> bool {
    ["warp", "shfl", "activemask"].iter().any(|word| error.contains(word))
}

/// An extent, the size being known.
fn extent(expr: &Expr) -> i64 {
    match &expr.kind {
        ExprKind::Int(value) => *value as i64,
        ExprKind::Var(_) => N,
        ExprKind::Binary(BinaryOp::Add, a, b) => extent(a) + extent(b),
        ExprKind::Call { callee, args } if *callee == chipdock_ir::Callee::Op(Op::ShiftRight) => {
            extent(&args[0]) >> extent(&args[1])
        }
        _ => panic!("another extent than expected: {expr:?}"),
    }
}

/// The extents of a kernel's axes by name.
fn extents(module: &IrModule, kernel: &str) -> HashMap<String, i64> {
    let mut found = HashMap::new();
    module.function(kernel).expect("the kernel").body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::LaunchThread { axis, extent: of_axis, .. } = &stmt.kind
        {
            found.insert(axis.name().to_owned(), extent(of_axis));
        }
    });
    found
}

/// Builds the functions as they are but for the target that they name, and launches the one kernel.
fn launched(
    host: &Host,
    backend: &Backend,
    module: &IrModule,
    name: &str,
    tensors: &[Tensor],
) -> Result<(), String> {
    let mut module = module.clone();
    for function in &mut module.functions {
        function.attrs.remove(attr::TARGET);
    }
    let compiled = host.compile(&module, &backend.target, &CompileOptions::default());
    let loaded = host.load(&compiled.map_err(|error| crate::words(&error))?.artifact);
    let loaded = loaded.map_err(|error| error.to_string())?;
    let kernel = format!("{name}_kernel");
    let extents = extents(&module, &kernel);
    let functions = loaded.imports().iter().flat_map(|import| &import.artifact().index().functions);
    let info = functions.clone().find(|info| info.name == kernel).expect("it stands in the index");
    let mut tensors = tensors.iter();
    let own = info.args.iter().map(|dtype| match dtype.as_str() {
        "handle" => pointer(tensors.next().expect("a tensor for each pointer").view().data()),
        _ => Any::from(N),
    });
    let of_launch = info.launch_params.iter().map(|param| match extents.get(param) {
        Some(extent) => Any::from(*extent),
        None => Any::from(DYNAMIC_BYTES),
    });
    let args: Vec<Any> = own.chain(of_launch).collect();
    let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
    let function = loaded.function(&kernel).map_err(|error| error.to_string())?;
    function.call(&views).map(drop).map_err(|error| error.to_string())
}

/// One kernel against the interpreter on what it was lowered from.
fn check(host: &Host, backend: &Backend, lowered: &CorpusFile, name: &str) -> Result<(), String> {
    let module = chipdock_script::parse(&lowered.text, &lowered.name).expect("the corpus is readable");
    if name == "g_matmul" {
        let products = Products::new();
        let tensors = products.tensors(backend);
        launched(host, backend, &module, name, &tensors)?;
        return products.check(&tensors[2]);
    }
    let origin = file(format!("tvm/{name}.py"));
    let (original, kernels) = corpus::kernels(&origin, |_| true);
    let kernel = kernels.into_iter().find(|kernel| kernel.name == name).expect("it can be interpreted");
    let arrays: Vec<&Array> = kernel
        .args
        .iter()
        .filter_map(|arg| if let Arg::Tensor(array) = arg { Some(array) } else { None })
        .collect();
    let tensors: Vec<Tensor> =
        arrays.iter().map(|array| run::upload_array(backend, array).expect("made")).collect();
    launched(host, backend, &module, name, &tensors)?;
    let n_buffers =
        original.functions[0].params.iter().filter(|param| matches!(param, Param::Buffer(_))).count();
    assert_eq!(n_buffers, tensors.len());
    let found = tensors.iter().zip(&arrays).map(|(tensor, array)| {
        let data = tensor.to_bytes().expect("read");
        Array { dtype: array.dtype, shape: array.shape.clone(), data }
    });
    hold(&kernel.outputs, &found.collect::<Vec<_>>())
}

/// A run takes one kernel in so many.
const SHARE: usize = 3;

/// Kernels with intrinsics of warps, which not every target has.
const OF_WARPS: &[&str] = &["cuda_g_sumred"];

#[test]
fn kernels_that_tvm_lowered_build_as_they_are_and_are_right() {
    let host = host();
    let files = chipdock_test_support::corpus().expect("the corpus");
    let kernels: Vec<_> = files
        .iter()
        .filter_map(|file| {
            let stem = file.name.strip_prefix("lowered/")?.strip_suffix(".py")?;
            Some((file, stem, stem.split_once("_g_")?.1))
        })
        .collect();
    assert_eq!(kernels.len(), 22);
    on_each_device(&host, |backend| {
        let (mut refused, mut wrong, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        let what = format!("kernels lowered by TVM, on {}", backend.name());
        let drawn = Drawn::of(&what, SHARE, kernels.iter().map(|(_, stem, _)| *stem));
        for (file, stem, name) in kernels.iter().filter(|(_, stem, _)| drawn.has(stem)) {
            match check(&host, backend, file, &format!("g_{name}")) {
                Ok(()) => lines.push(format!("{stem}: runs")),
                Err(error) if backend.may_refuse(&error) => lines.push(format!("{stem}: {error}")),
                Err(error) if is_a_clear_refusal(&error) => {
                    lines.push(format!("{stem}: {error}"));
                    refused.push((*stem).to_owned());
                }
                Err(error) => wrong.push(format!("{stem}: {error}")),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        backend.check_drawn("lowered", lines, &drawn).unwrap_or_else(|error| panic!("{error}"));
        assert!(refused.iter().all(|stem| OF_WARPS.contains(&stem.as_str())), "refused: {refused:?}");
    });
}
