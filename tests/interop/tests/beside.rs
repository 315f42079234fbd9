//! Two Chipdock hosts and stock libtvm_ffi in one process, with one exported library, at once:
//! LIB-6 of `host/src/library` and EXPORT-R5 of `host/src/export`.
//!
//! The test is a process of its own (as nextest runs it): a process has at most one libtvm_ffi.

use std::path::Path;
use std::ptr::NonNull;
use std::sync::Barrier;

use chipdock_abi::{
    CHIPDOCK_TYPE_DLTENSOR_PTR, ChipdockAny, ChipdockAnyValue, ChipdockDataType, ChipdockDevice,
    ChipdockObject, ChipdockStr, ChipdockTensor,
};
use chipdock_host::{AnyView, Function, Module};
use chipdock_plugin_api::{self as api, ObjectRef, Str};
use chipdock_test_interop::libraries::{EXPORTERS, build, kernels};
use chipdock_test_interop::tvm::{Tvm, host};
use chipdock_test_support::command::Scratch;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

const THREADS: usize = 6;
const ROUNDS: usize = 150;

/// libtvm_ffi as a program uses it that knows nothing of Chipdock.
struct Stock {
    get_global: unsafe extern "C" fn(*const ChipdockStr, *mut *mut ChipdockObject) -> i32,
    take: unsafe extern "C" fn(*mut *mut ChipdockObject),
}

impl Stock {
    /// Opens it for the whole process, as Python does.
    fn open(path: &Path) -> Self {
        // SAFETY: the library of a Python package, whose initialisers run.
        let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.expect("libtvm_ffi");
        // SAFETY: c_api.h declares both with these types; the library is never closed.
        let stock = unsafe {
            Self {
                get_global: *library.get(b"TVMFFIFunctionGetGlobal\0").expect("there"),
                take: *library.get(b"TVMFFIErrorMoveFromRaised\0").expect("there"),
            }
        };
        std::mem::forget(library);
        stock
    }

    fn global(&self, name: &str) -> api::Function {
        let text = ChipdockStr { data: name.as_ptr().cast(), size: name.len() };
        let mut object = std::ptr::null_mut();
        // SAFETY: a text that lives for the call, and a place for an owned object.
        assert_eq!(unsafe { (self.get_global)(&text, &mut object) }, 0, "{name}");
        let object = NonNull::new(object).unwrap_or_else(|| panic!("nobody registered {name}"));
        // SAFETY: a function object that we own.
        unsafe { api::Function::from_object(ObjectRef::from_raw(object)) }
    }

    /// Takes this thread's error.
    fn error(&self) -> Option<api::Error> {
        let mut error = std::ptr::null_mut();
        // SAFETY: a place for an owned object or null.
        unsafe { (self.take)(&mut error) };
        // SAFETY: an error object that we own.
        NonNull::new(error).map(|error| unsafe { api::Error::from_object(ObjectRef::from_raw(error)) })
    }

    fn call(&self, function: &api::Function, args: &[AnyView<'_>]) -> Result<api::Any, api::Error> {
        let mut result = api::Any::NONE.into_raw();
        let (self_, count) = (function.object().as_ptr().cast(), i32::try_from(args.len()).expect("few"));
        // SAFETY: a packed function with its object as `self`; the result is None before the call.
        let status = unsafe { (function.safe_call().0)(self_, args.as_ptr().cast(), count, &mut result) };
        if status != 0 {
            return Err(self.error().expect("an error where the call failed"));
        }
        // SAFETY: owned by the caller of a call that succeeded.
        Ok(unsafe { api::Any::from_raw(result) })
    }

    fn function(&self, module: &api::Any, name: &str) -> api::Function {
        let found = self.call(
            &self.global("ffi.ModuleGetFunction"),
            &[module.view(), Str::new(name).as_any_view(), false.into()],
        );
        // SAFETY: a function object; the reference is ours.
        unsafe { api::Function::from_object(found.expect("asked").view().object().expect("an object")) }
    }
}

/// A function, and who has loaded it.
enum Loaded<'a> {
    Host(Function),
    Stock(&'a Stock, api::Function),
}

impl Loaded<'_> {
    /// Calls it; an error is its kind and message.
    fn call(&self, args: &[AnyView<'_>]) -> Result<(), (String, String)> {
        match self {
            Self::Host(function) => function
                .call(args)
                .map(drop)
                .map_err(|error| (error.kind().as_str().to_owned(), error.message().to_owned())),
            Self::Stock(stock, function) => stock
                .call(function, args)
                .map(drop)
                .map_err(|error| (error.kind().as_str().to_owned(), error.message().to_string())),
        }
    }
}

/// A vector of float32 as an argument of a packed call.
struct Vector {
    data: Vec<f32>,
    shape: [i64; 1],
}

impl Vector {
    fn new(data: Vec<f32>) -> Self {
        Self { shape: [data.len() as i64], data }
    }

    /// Calls `body` with the vectors as arguments.
    fn lend<R>(vectors: &mut [&mut Self], body: impl FnOnce(&[AnyView<'_>]) -> R) -> R {
        let mut strides = [1_i64];
        let mut tensors: Vec<ChipdockTensor> = Vec::new();
        for vector in vectors.iter_mut() {
            tensors.push(ChipdockTensor {
                data: vector.data.as_mut_ptr().cast(),
                device: ChipdockDevice { device_type: 1, device_id: 0 },
                ndim: 1,
                dtype: ChipdockDataType { code: 2, bits: 32, lanes: 1 },
                shape: vector.shape.as_mut_ptr(),
                strides: strides.as_mut_ptr(),
                byte_offset: 0,
            });
        }
        let view = |tensor: &mut ChipdockTensor| {
            let value = ChipdockAnyValue { v_ptr: std::ptr::from_mut(tensor).cast() };
            let raw = ChipdockAny { type_index: CHIPDOCK_TYPE_DLTENSOR_PTR, small_length: 0, value };
            // SAFETY: the tensor lives until `body` returns.
            unsafe { AnyView::from_raw(raw) }
        };
        let views: Vec<AnyView<'_>> = tensors.iter_mut().map(view).collect();
        body(&views)
    }
}

/// What one thread does: each loader in turn, right and wrong; `number` makes its values its own.
fn work(stock: &Stock, add: &[Loaded<'_>], parallel: &[Loaded<'_>], number: usize) {
    for round in 0..ROUNDS {
        let (own, length) = (number * ROUNDS + round, 40 + number);
        let who = (number + round) % add.len();
        let mut a = Vector::new(vec![own as f32; length]);
        let mut b = Vector::new((0..length).map(|index| index as f32).collect());
        let mut c = Vector::new(vec![0.0; length]);
        let done = Vector::lend(&mut [&mut a, &mut b, &mut c], |args| add[who].call(args));
        done.unwrap_or_else(|error| panic!("{who}: {error:?}"));
        assert!(c.data.iter().enumerate().all(|(index, value)| *value == (own + index) as f32), "{who}");
        let mut d = Vector::new(vec![0.0; length]);
        let done = Vector::lend(&mut [&mut c, &mut d], |args| parallel[who].call(args));
        done.unwrap_or_else(|error| panic!("{who}: {error:?}"));
        assert!(d.data.iter().zip(&c.data).all(|(after, before)| *after == before + 1.0), "{who}");
        // Two that fail, one after the other: each error is that of its own call.
        let wrong = |who: usize, length: usize| {
            let mut c = Vector::new(vec![-1.0; length]);
            let (mut a, mut b) = (Vector::new(a.data.clone()), Vector::new(b.data.clone()));
            let error = Vector::lend(&mut [&mut a, &mut b, &mut c], |args| add[who].call(args));
            let (kind, message) = error.expect_err("another length");
            assert_eq!(kind, "ValueError", "{who}: {message}");
            assert!(message.contains(&format!("but got {length}")), "{who}, {length}: {message}");
            assert!(c.data.iter().all(|value| *value == -1.0), "{who}: nothing was written");
            // libtvm_ffi's slot has an error only after a call of its own, and that was taken.
            assert!(stock.error().is_none(), "{who}");
        };
        wrong(who, 1000 + own);
        wrong((who + 1) % add.len(), 9000 + own);
    }
}

#[test]
fn two_hosts_and_stock_tvm_ffi_serve_one_library_at_once() {
    let Some(tvm) = Tvm::found() else { return };
    let folder = Scratch::new();
    for exporter in EXPORTERS.iter().filter(|exporter| exporter.is_whole) {
        let path = build(&folder, *exporter, &kernels(), None);
        let (stock, one, two) = (Stock::open(&tvm.library), host(None), host(None));
        let name = Str::new(path.to_str().expect("text"));
        let module = stock.call(&stock.global("ffi.ModuleLoadFromFile"), &[name.as_any_view()]);
        let module = module.expect("loaded by libtvm_ffi");
        let (first, second) = (one.open(&path).expect("opened"), two.open(&path).expect("opened"));
        let of = |name: &str| {
            let of_host = |module: &Module| Loaded::Host(module.function(name).expect("there"));
            [of_host(&first), Loaded::Stock(&stock, stock.function(&module, name)), of_host(&second)]
        };
        let (add, parallel) = (of("add"), of("in_parallel"));
        let start = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for number in 0..THREADS {
                let (stock, add, parallel, start) = (&stock, &add, &parallel, &start);
                scope.spawn(move || {
                    start.wait();
                    work(stock, add, parallel, number);
                });
            }
        });
        // The others work on when one is gone.
        let [of_one, of_stock, of_two] = add;
        drop((of_one, parallel, first, one));
        let mut vectors = [1.0, 2.0, 0.0].map(|value| Vector::new(vec![value; 3]));
        let [a, b, c] = &mut vectors;
        for left in [of_stock, of_two] {
            c.data.fill(0.0);
            Vector::lend(&mut [a, b, c], |args| left.call(args)).expect("computed");
            assert_eq!(c.data, [3.0; 3], "{}", exporter.name);
        }
    }
    let maps = std::fs::read_to_string("/proc/self/maps").expect("the maps");
    let mut files: Vec<&str> = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).collect();
    files.retain(|file| file.ends_with("libtvm_ffi.so"));
    files.dedup();
    assert_eq!(files.len(), 1, "{files:?}");
}
