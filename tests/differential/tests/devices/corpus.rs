//! Runs every kernel of the corpus, bound to threads by hand or by the default schedule.

use std::collections::HashMap;

use chipdock_host::{AnyView, Host, Module, Tensor};
use chipdock_ir::{Callee, Child, ExprKind, IrModule};
use chipdock_test_backends::backends::Backend;
use chipdock_test_backends::corpus::{self, Kernel};
use chipdock_test_backends::run;
use chipdock_test_backends::{hold, host, on_each_device, outputs};
use chipdock_test_support::sample::{self, Drawn};

/// A run takes one file of the corpus in so many.
const SHARE: usize = 5;

/// Functions of the corpus that no device runs, with the reason.
const OMITTED: &[(&str, &str)] = &[
    ("construct/calls.py:twice", "a private function is no function of the compiled module"),
    ("construct/addresses.py:aligned", "an address is a number on a host alone"),
];

/// Its functions pass tensors to functions of the host, which a device's target refuses.
const RUN_ON_THE_HOST: &str = "construct/sorts.py";

/// The function and those that it calls.
fn with_callees(module: &IrModule, name: &str) -> IrModule {
    let (mut wanted, mut at) = (vec![name.to_owned()], 0);
    while let Some(function) = wanted.get(at).and_then(|name| module.function(name)) {
        function.body.walk(&mut |child| {
            if let Child::Expr(expr) = child
                && let ExprKind::Call { callee: Callee::Global(callee), .. } = &expr.kind
                && !wanted.iter().any(|name| **name == **callee)
            {
                wanted.push(callee.to_string());
            }
        });
        at += 1;
    }
    let functions = module.functions.iter().filter(|f| wanted.iter().any(|name| **name == *f.name));
    IrModule { functions: functions.cloned().collect(), attrs: module.attrs.clone() }
}

/// Each kernel of a file with the module that has it: the whole file's, or, where some function of
/// it is refused, one of its own.
fn built(
    host: &Host,
    backend: &Backend,
    module: &IrModule,
    kernels: &[Kernel],
) -> HashMap<String, Result<Module, String>> {
    let whole = run::build(host, backend, module);
    let one = |kernel: &Kernel| {
        let module = match &whole {
            Ok(module) => Ok(module.clone()),
            Err(_) => run::build(host, backend, &with_callees(module, &kernel.name)),
        };
        (kernel.name.clone(), module)
    };
    kernels.iter().map(one).collect()
}

fn ran(backend: &Backend, module: &Module, kernel: &Kernel) -> Result<(), String> {
    let function = module.function(&kernel.name).map_err(|error| error.to_string())?;
    hold(&kernel.outputs, &outputs(backend, &function, &kernel.args)?)
}

#[test]
fn corpus_agrees_with_the_interpreter_on_devices() {
    let host = host();
    let mut files = chipdock_test_support::corpus().expect("the corpus");
    // The examples have a test of their own, what is split already another.
    files.retain(|file| {
        !["kernels/", "digits/", "lowered/"].iter().any(|folder| file.name.starts_with(folder))
    });
    on_each_device(&host, |backend| {
        let what = format!("files of the corpus, on {}", backend.name());
        let drawn = Drawn::of(&what, SHARE, files.iter().map(|file| file.name.as_str()));
        let (mut by_hand, mut by_default, mut by_host) = (0, 0, 0);
        let (mut refused, mut wrong, mut by_name, mut lines) = (Vec::new(), Vec::new(), 0, Vec::new());
        for file in files.iter().filter(|file| drawn.has(&file.name)) {
            let (module, kernels) = corpus::kernels(file, |_| true);
            let built = built(&host, backend, &module, &kernels);
            for kernel in &kernels {
                let name = format!("{}:{}", file.name, kernel.name);
                if OMITTED.iter().any(|(omitted, _)| *omitted == name) {
                    continue;
                }
                let function = module.function(&kernel.name).expect("it was run");
                let module = match &built[&kernel.name] {
                    Ok(module) => module,
                    Err(error) if RUN_ON_THE_HOST == file.name && error.contains("runs on the host") => {
                        by_host += 1;
                        continue;
                    }
                    Err(error) if backend.may_refuse(error) => {
                        lines.push(format!("{name}: {error}"));
                        by_name += 1;
                        continue;
                    }
                    Err(error) => {
                        refused.push(format!("{name} {error}"));
                        continue;
                    }
                };
                *(if corpus::is_for_host(function) { &mut by_default } else { &mut by_hand }) += 1;
                match ran(backend, module, kernel) {
                    Ok(()) => lines.push(format!("{name}: runs")),
                    Err(error) => wrong.push(format!("{name} {error}")),
                }
            }
        }
        assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
        assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
        backend.check_drawn("corpus", lines, &drawn).unwrap_or_else(|error| panic!("{error}"));
        let n_by_host = if drawn.has(RUN_ON_THE_HOST) { 5 } else { 0 };
        assert_eq!(
            by_host, n_by_host,
            "functions of {RUN_ON_THE_HOST} that are refused for what runs on the host"
        );
        if sample::is_whole_run() {
            assert_eq!(by_hand + by_default + by_name, 92, "kernels, with those that are refused by name");
            let refuses_none = backend.refuses.is_empty();
            assert!(
                !refuses_none || (by_hand, by_default) == (22, 70),
                "kernels bound by hand and by default"
            );
        }
        assert!(by_hand + by_default + by_name + by_host > 0, "no kernel was drawn");
    });
}

/// Matrix products too large for the interpreter. All sums of small integers are exact, so C x must
/// equal A (B x).
pub(crate) struct Products {
    a: Vec<i64>,
    b: Vec<i64>,
    x: Vec<i64>,
    expected: Vec<i64>,
}

impl Products {
    const N: usize = 512;

    pub(crate) fn new() -> Self {
        let number = |seed: usize| ((seed.wrapping_mul(2_654_435_761) >> 7) % 5) as i64 - 2;
        let table =
            |seed: usize| -> Vec<i64> { (0..Self::N * Self::N).map(|at| number(at ^ seed)).collect() };
        let (a, b) = (table(0x5eed), table(0xfeed));
        let x: Vec<i64> = (0..Self::N).map(|at| number(at * 31) * 1000 + at as i64).collect();
        let expected = Self::times(&a, &Self::times(&b, &x));
        Self { a, b, x, expected }
    }

    fn times(rows: &[i64], x: &[i64]) -> Vec<i64> {
        rows.chunks(Self::N).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// Returns A, B and a C of zeros.
    pub(crate) fn tensors(&self, backend: &Backend) -> [Tensor; 3] {
        let tensor = |values: &[i64]| {
            let values: Vec<f32> = values.iter().map(|value| *value as f32).collect();
            Tensor::from_slice(&backend.device, &[Self::N as i64; 2], &values).expect("made")
        };
        [tensor(&self.a), tensor(&self.b), tensor(&vec![0; Self::N * Self::N])]
    }

    pub(crate) fn check(&self, c: &Tensor) -> Result<(), String> {
        let found: Vec<i64> = c.to_vec::<f32>().expect("read").iter().map(|value| *value as i64).collect();
        let wrong = Self::times(&found, &self.x).iter().zip(&self.expected).filter(|(a, b)| a != b).count();
        if wrong == 0 { Ok(()) } else { Err(format!("{wrong} rows of the product are wrong")) }
    }
}

#[test]
fn large_products_are_exact_on_integers() {
    let host = host();
    let products = Products::new();
    on_each_device(&host, |backend| {
        for name in ["g_matmul", "matmul"] {
            let path = chipdock_test_support::printed_by_tvm().join(format!("{name}.py"));
            let text = std::fs::read_to_string(path).expect("the corpus");
            let module = chipdock_script::parse(&text, name).expect("the corpus is readable");
            let loaded = match run::build(&host, backend, &module) {
                Err(error) if backend.may_refuse(&error) => continue,
                built => built.unwrap_or_else(|error| panic!("{name}: {error}")),
            };
            let tensors = products.tensors(backend);
            let args: Vec<AnyView<'_>> = tensors.iter().map(AnyView::from).collect();
            loaded.function(name).expect("there").call(&args).expect("a good call");
            products.check(&tensors[2]).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    });
}
