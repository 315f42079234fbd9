//! Kernels on streams through a host: the current stream decides when they run (D.18).

use std::rc::Rc;
use std::sync::Arc;

use chipdock_host::artifact::Artifact;
use chipdock_host::{CompileOptions, Function, Module, Tensor};
use chipdock_ir::{DType, IrModule, build};
use chipdock_programs::Random;

use crate::stop::equal;
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};

/// Number of elements, large enough that a kernel takes longer than its launch.
const N: i32 = 4096;

pub(super) fn add(cases: &mut Cases) {
    let mut kernel = |name: &str, profile: Option<Profile>, body: fn(&Context) -> Verdict| {
        let draft = cases.case(Group::Stream, format!("kernel/{name}"), "D.18", Subject::TargetKind);
        draft.profile(profile).deadline(60).run(body);
    };
    let several = Some(Profile::SeveralStreams);
    kernel("chain/default", None, |c| chain(c, false));
    kernel("chain/created", several, |c| chain(c, true));
    kernel("then-copy/default", None, |c| then_copy(c, false));
    kernel("then-copy/created", several, |c| then_copy(c, true));
    kernel("between-streams", several, between);
    kernel("of-another-thread", several, other_thread);
}

/// Builds the kernel `B[i] = A[i] + C[i]`.
pub(in crate::group) fn add_kernel() -> IrModule {
    let mut f = build::function("add");
    let [a, c, b] = ["A", "C", "B"].map(|name| f.buffer(name, [N], DType::INT32));
    f.grid(["i"], [N], |f, [i]| {
        f.block("B", |f| {
            let vi = f.spatial("vi", N, &i);
            f.store(&b, [&vi], a.at([&vi]) + c.at([&vi]));
        });
    });
    build::module([f.finish()])
}

/// The loaded kernel with its device and its inputs.
pub(in crate::group) struct Add {
    pub(in crate::group) device: chipdock_host::Device,
    pub(in crate::group) artifact: Arc<Artifact>,
    function: Function,
    _module: Module,
}

impl Add {
    /// Compiles the kernel for the target kind that the case is about and loads it, once per
    /// worker.
    ///
    /// # Errors
    ///
    /// The kernel cannot be compiled here.
    pub(in crate::group) fn load(c: &Context) -> Verdict<Option<Rc<Self>>> {
        let made = c.cached("stream-add", || Self::make(c))?;
        match &*made {
            Ok(add) => Ok(Some(Rc::clone(add))),
            Err(why) => {
                c.not_run(why.as_str());
                Ok(None)
            }
        }
    }

    /// Compiles and loads the kernel, or returns the reason why it cannot be run here.
    fn make(c: &Context) -> Verdict<Result<Rc<Self>, String>> {
        let host = c.host()?;
        let target = c.target()?;
        let compiled = host.compile(&add_kernel(), &target, &CompileOptions::default())?;
        let module = host.load(&compiled.artifact)?;
        let kinds = host.target_kinds();
        let kind = kinds.iter().find(|(kind, _)| kind.name == target.kind().name);
        let Some((kind, _)) = kind else { return Err(Stop::suite("the host lost the target kind")) };
        let imports = || module.imports().iter().find_map(Module::missing_loader);
        if let Some(error) = module.missing_loader().or_else(imports) {
            return Ok(Err(format!("nobody here loads it: {error}")));
        }
        if !matches!(host.device_count(&kind.device), Ok(1..)) {
            return Ok(Err(format!("there is no device {} here", kind.device)));
        }
        let device = host.device(&kind.device, 0)?;
        let function = module.function("add")?;
        Ok(Ok(Rc::new(Self { device, artifact: compiled.artifact, function, _module: module })))
    }

    pub(in crate::group) fn tensor(&self, elements: &[i32]) -> Verdict<Tensor> {
        Ok(Tensor::from_slice(&self.device, &[i64::from(N)], elements)?)
    }

    /// Launches `to = a + c` on the current stream.
    pub(in crate::group) fn launch(&self, a: &Tensor, c: &Tensor, to: &Tensor) -> Verdict {
        self.function.call(&[a.into(), c.into(), to.into()])?;
        Ok(())
    }

    fn stream(&self, created: bool) -> Verdict<chipdock_host::Stream> {
        if !created {
            return Ok(self.device.default_stream());
        }
        let stream = self.device.create_stream()?;
        if stream.raw().is_null() {
            return Err(Stop::Unsupported("create_stream answers the default stream".to_owned()));
        }
        Ok(stream)
    }
}

/// Returns numbers generated from a seed.
pub(in crate::group) fn numbers(seed: u64) -> Vec<i32> {
    let mut random = Random::new(seed);
    (0..N).map(|_| (random.bits() % 1000) as i32).collect()
}

/// Returns `a + times * b` for each element.
fn sum(a: &[i32], b: &[i32], times: i32) -> Vec<i32> {
    a.iter().zip(b).map(|(a, b)| a + times * b).collect()
}

/// Launches kernels that each read what the previous one wrote.
fn chain(c: &Context, created: bool) -> Verdict {
    let Some(add) = Add::load(c)? else { return Ok(()) };
    let stream = add.stream(created)?;
    let (a, b) = (numbers(1), numbers(2));
    let step = add.tensor(&b)?;
    let tensors = (0..8).map(|_| add.tensor(&a)).collect::<Verdict<Vec<_>>>()?;
    {
        let _current = stream.enter()?;
        for index in 1..=24 {
            add.launch(&tensors[(index - 1) % 8], &step, &tensors[index % 8])?;
        }
    }
    stream.sync()?;
    equal("the sum after 24 kernels", &tensors[0].to_vec::<i32>()?, &sum(&a, &b, 24))
}

/// Checks that a copy on the stream sees the results of the kernels before it, without a sync in
/// between.
fn then_copy(c: &Context, created: bool) -> Verdict {
    let Some(add) = Add::load(c)? else { return Ok(()) };
    let stream = add.stream(created)?;
    let (a, b) = (numbers(3), numbers(4));
    let (first, step, to, other) = (add.tensor(&a)?, add.tensor(&b)?, add.tensor(&b)?, add.tensor(&b)?);
    let _current = stream.enter()?;
    for round in 0..4 {
        let a = numbers(10 + round);
        first.copy_from_bytes(&a.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>())?;
        add.launch(&first, &step, &other)?;
        for _ in 0..4 {
            add.launch(&other, &step, &to)?;
            add.launch(&to, &step, &other)?;
        }
        equal("what a copy after 9 kernels reads", &other.to_vec::<i32>()?, &sum(&a, &b, 9))?;
    }
    Ok(())
}

/// Launches a chain of kernels that moves from one stream to another.
fn between(c: &Context) -> Verdict {
    let Some(add) = Add::load(c)? else { return Ok(()) };
    let streams = [add.stream(true)?, add.stream(true)?];
    let (a, b) = (numbers(5), numbers(6));
    let step = add.tensor(&b)?;
    let tensors = [add.tensor(&a)?, add.tensor(&a)?];
    for round in 0..16 {
        let on = &streams[round % 2];
        on.wait_for(&streams[(round + 1) % 2])?;
        let _current = on.enter()?;
        add.launch(&tensors[round % 2], &step, &tensors[(round + 1) % 2])?;
    }
    streams[1].sync()?;
    let found = tensors[0].to_vec::<i32>()?;
    streams[0].sync()?;
    equal("the sum after 16 kernels on two streams", &found, &sum(&a, &b, 16))
}

/// Checks that the current stream is per thread: another thread's kernels do not run on it.
fn other_thread(c: &Context) -> Verdict {
    let Some(add) = Add::load(c)? else { return Ok(()) };
    let stream = add.stream(true)?;
    let (a, b) = (numbers(7), numbers(8));
    let (first, step, mine, other) = (add.tensor(&a)?, add.tensor(&b)?, add.tensor(&a)?, add.tensor(&a)?);
    let _current = stream.enter()?;
    let add = &*add;
    add.launch(&first, &step, &mine)?;
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| -> Verdict {
            add.launch(&step, &step, &other)?;
            add.device.default_stream().sync()?;
            equal("the other thread's sum", &other.to_vec::<i32>()?, &sum(&b, &b, 1))
        });
        thread.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")))
    })?;
    stream.sync()?;
    equal("this thread's sum", &mine.to_vec::<i32>()?, &sum(&a, &b, 1))
}
