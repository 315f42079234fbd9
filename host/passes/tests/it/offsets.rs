//! Tests of tensor offsets, before and after `flatten_buffers`.

use chipdock_interpret::{Arg, Array, Interpreter};
use chipdock_ir::{
    Buffer, BufferNode, DType, Expr, IrModule, Param, Stmt, StorageScope, TargetCapabilities, build,
};
use chipdock_passes::flatten_buffers;

fn stored(module: &IrModule) -> Result<Vec<i128>, String> {
    let mut args = [Arg::Tensor(Array::zeros(DType::INT32, &[2]))];
    let run = Interpreter::new(module).run("f", &mut args);
    run.map(|outcome| outcome.outputs[0].array.to_int()).map_err(|error| error.to_string())
}

/// PASS-L3: a tensor that is to begin elsewhere is refused, flat or not; one that begins at its
/// data is not.
#[test]
fn a_constant_offset_is_held_to_the_argument() {
    for offset in [0, 4] {
        let plain = Buffer::new("A", vec![Expr::i32(2)], DType::INT32, StorageScope::GLOBAL);
        let elem_offset = Some(Expr::i32(offset));
        let a = Buffer::from_node(BufferNode { elem_offset, ..BufferNode::clone(&plain) });
        let mut f = build::function("f").finish();
        f.params = vec![Param::Buffer(a.clone())];
        f.body = Stmt::store(&a, vec![Expr::i32(1)], Expr::i32(7));
        let module = build::module([f]);
        let flat = flatten_buffers(&module, &TargetCapabilities::host("host")).unwrap();
        let (before, after) = (stored(&module), stored(&flat));
        assert_eq!(before, after);
        match before {
            Ok(found) => assert_eq!((offset, found), (0, vec![0, 7])),
            Err(error) => assert!(offset == 4 && error.contains("begins at element 4"), "{error}"),
        }
    }
}
