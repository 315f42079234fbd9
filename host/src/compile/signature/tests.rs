use chipdock_ir::{IrModule, Param, print};
use serde_json::json;

use super::*;
use crate::compile::artifact::Artifact;

const KERNEL: &str = "\
@T.prim_func
def scale(a: T.handle, B: T.Buffer((4, 8), \"float16\"), factor: T.float32, offset: T.int64):
    n = T.int32()
    A = T.match_buffer(a, (n, 2 * n + 1), \"float32\")
    for i in range(n):
        A[i, 0] = A[i, 0] * factor

@T.prim_func
def other(A: T.Buffer((4,), \"int8\")):
    A[0] = T.int8(1)
";

fn module() -> IrModule {
    chipdock_script::parse(KERNEL, "scale.py").unwrap()
}

fn artifact(functions: serde_json::Value) -> Artifact {
    let index = json!({"module_kind": "k", "own": [1, {"x": 2}], "format": "f", "functions": functions});
    Artifact::new(index.to_string(), "null".to_owned(), Vec::new(), Vec::new()).unwrap()
}

#[test]
fn names_types_and_shapes_come_back_and_bodies_do_not() {
    let functions = json!([
        {"name": "scale", "symbol": "s", "args": ["handle", "handle", "float32", "int64"], "more": 1},
        {"name": "scale_kernel", "symbol": "k", "args": ["handle"]},
        {"name": "other", "symbol": "o", "args": ["handle", "handle"]},
    ]);
    let plain = artifact(functions.clone());
    let made = artifact(functions).with_signatures(&module());
    // As a reader of the file sees it. A loader may check the index that the code generator wrote:
    // it stays as it was.
    assert_eq!(made.index_json(), plain.index_json());
    let made = Artifact::from_bytes(&made.to_bytes().unwrap()).unwrap();
    assert_eq!(made.index_json(), plain.index_json());
    let scale = made.signature("scale").unwrap().unwrap();
    let shown = |function: &PrimFunc| {
        let one = |param: &Param| match param {
            Param::Buffer(buffer) => {
                let shape: Vec<String> = buffer.shape.iter().map(print::expr).collect();
                format!("{}: {} [{}]", buffer.name, buffer.dtype, shape.join(", "))
            }
            Param::Var(var) => format!("{}: {}", var.name, var.dtype),
        };
        function.params.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(shown(&scale), shown(&module().functions[0]));
    assert_eq!(shown(&scale)[1..], ["B: float16 [4, 8]", "factor: float32", "offset: int64"]);
    let text = print::module(&IrModule { functions: vec![scale], ..IrModule::default() });
    assert!(!text.contains("range"), "{text}");
    // A kernel is no function of the module; an index that lists other arguments describes another
    // function.
    assert_eq!(made.signature("scale_kernel").unwrap(), None);
    assert_eq!(made.signature("other").unwrap(), None);
    assert_eq!(made.signatures()["scale"][VERSION], "1.0.0");
}

#[test]
fn an_index_without_functions_of_the_module_stays_as_it_was_written() {
    let text = "{ \"module_kind\": \"k\",\n \"format\": \"f\", \"functions\": [ ] }";
    let plain = Artifact::new(text.to_owned(), "null".to_owned(), Vec::new(), Vec::new()).unwrap();
    assert_eq!(plain.with_signatures(&module()).index_json(), text);
}

#[test]
fn a_signature_that_is_none_is_an_error() {
    let of = |signature: serde_json::Value| {
        let signatures = [("scale".to_owned(), signature)].into_iter().collect();
        let functions = json!([{"name": "scale", "symbol": "s"}]);
        artifact(functions).signed(signatures).signature("scale")
    };
    let good = document(&module().functions[0]).unwrap();
    assert!(of(good.clone()).unwrap().is_some());
    let mut newer = good.clone();
    newer[VERSION] = json!("1.999.0");
    assert_eq!(*of(newer).unwrap_err().kind(), ErrorKind::Unsupported);
    let both = serde_json::from_str(&wire::write(&module()).unwrap()).unwrap();
    for (wrong, says) in [(json!(1), "signature"), (json!({}), "signature"), (both, "expected one function")]
    {
        let error = of(wrong).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
}
