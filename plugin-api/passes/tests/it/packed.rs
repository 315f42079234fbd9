use crate::kernels::*;
use chipdock_ir::print;
use chipdock_passes::{LowerOptions, lower};
use std::sync::Arc;

#[test]
fn show() {
    for m in [vector_add(), matmul(64, 64, 64), softmax(16, 77)] {
        let out = lower(&m, &LowerOptions::new(Arc::new(host()))).unwrap();
        println!("{}", print::module(&out.module));
    }
}
