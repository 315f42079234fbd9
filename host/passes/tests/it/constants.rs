//! IR-B8 and STAGE-D17: a constant goes along into each kernel that reads it, and is no argument.

use std::sync::Arc;

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::validate::validate;
use chipdock_ir::{Child, ConstantData, DType, Expr, IrModule, Param, PrimFunc, Stage, build};
use chipdock_passes::{LowerOptions, lower};

use crate::capabilities::{device, host};

/// Two kernels that read one constant of four bits, one through a view of other extents.
fn module() -> IrModule {
    let mut f = build::function("f");
    let (b, c) = (f.buffer("B", [6], DType::INT32), f.buffer("C", [6], DType::FLOAT32));
    let k = f.constant("K", [6], DType::INT4, ConstantData::pack(DType::INT4, [8, 7, 15, 0, 1, 2]));
    let l = f.constant("L", [2, 3], DType::FLOAT32, ConstantData::pack(DType::FLOAT32, [1, 2, 3, 4, 5, 6]));
    let flat = f.view("M", [6], DType::FLOAT32, &l.data);
    f.range("i", 6, |f, i| f.store(&b, [i.clone()], Expr::load(&k, vec![i.clone()]).cast(DType::INT32)));
    f.range("j", 6, |f, j| f.store(&c, [j.clone()], Expr::load(&flat, vec![Expr::i32(5) - j.clone()])));
    build::module([f.finish()])
}

fn constants(function: &PrimFunc) -> usize {
    let mut count = 0;
    function.body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child {
            count += usize::from(stmt.as_constant().is_some());
        }
    });
    count
}

#[test]
fn a_kernel_declares_the_constants_that_it_reads() {
    let lowered = lower(&module(), &LowerOptions::new(Arc::new(device()))).unwrap();
    let kernels = lowered.device.unwrap();
    assert_eq!(validate(&kernels, Stage::Device), Ok(()));
    assert_eq!(kernels.functions.len(), 2);
    for kernel in &kernels.functions {
        assert_eq!(constants(kernel), 1, "{}", kernel.name);
        let pointers =
            kernel.params.iter().filter(|param| matches!(param, Param::Var(v) if v.dtype.is_handle()));
        assert_eq!(pointers.count(), 1, "{}", kernel.name);
    }
    assert!(lowered.module.functions.iter().all(|function| constants(function) == 0));
}

#[test]
fn a_host_function_computes_the_same_with_constants_at_each_stage() {
    let run = |module: &IrModule| {
        let mut args = [DType::INT32, DType::FLOAT32].map(|dtype| Arg::Tensor(Array::zeros(dtype, &[6])));
        Interpreter::new(module).run("f", &mut args).unwrap();
        args.map(|arg| match arg {
            Arg::Tensor(tensor) => tensor.data,
            _ => Vec::new(),
        })
    };
    let expected = run(&module());
    assert_eq!(expected[1][..8], [6, 0, 0, 0, 5, 0, 0, 0]);
    for stage in [Stage::Scheduled, Stage::Flattened] {
        let lowered =
            lower(&module(), &LowerOptions { stage, ..LowerOptions::new(Arc::new(host())) }).unwrap();
        assert_eq!(validate(&lowered.module, stage), Ok(()));
        assert_eq!(run(&lowered.module), expected, "{stage}");
    }
}
