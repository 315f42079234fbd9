//! Kernel launches through interface `launch` 1 of a module, if the module has it (K.6).

use chipdock_host::{Device, Kernel, LaunchArg, Module, Stream, Tensor};
use chipdock_ir::ThreadAxis;

use crate::execute::{Ready, build};
use crate::stop::equal;
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict, axes};

/// Number of elements: of threads, and on two axes of blocks and of threads in each.
const N: i32 = 32;
const BLOCKS: i32 = 4;
const ADDED: i32 = 70_001;

/// A kernel with a thread for each element, on the first axes of a grid and of a block that the
/// kind declares; without any, one thread runs through them.
struct Shape {
    text: String,
    axes: Vec<ThreadAxis>,
    grid: [u64; 3],
    block: [u64; 3],
}

impl Shape {
    fn from_axes(declared: &[ThreadAxis]) -> Self {
        let [grid, block] = axes::first(declared);
        let (blocks, threads) = match (grid, block) {
            (Some(_), Some(_)) => (BLOCKS, N / BLOCKS),
            (Some(_), None) => (N, 1),
            (None, Some(_)) => (1, N),
            (None, None) => (1, 1),
        };
        let bound = [("bx", grid, blocks), ("tx", block, threads)];
        let mut loops: Vec<String> = (bound.iter())
            .filter_map(|(name, axis, extent)| {
                Some(format!("for {name} in T.thread_binding({extent}, thread=\"{}\"):", (*axis)?))
            })
            .collect();
        let index = match (grid, block) {
            (Some(_), Some(_)) => format!("bx * {threads} + tx"),
            (Some(_), None) => "bx".to_owned(),
            (None, Some(_)) => "tx".to_owned(),
            (None, None) => {
                loops.push(format!("for i in range({N}):"));
                "i".to_owned()
            }
        };
        let axis = format!("v = T.axis.spatial({N}, {index})");
        let mut text =
            format!("@T.prim_func(s_tir=True)\ndef scaled(A: T.Buffer(({N},), \"int32\"), s: T.int32):\n");
        let inner =
            ["with T.sblock(\"A\"):".to_owned(), format!("    {axis}"), "    A[v] = A[v] * 3 + s".to_owned()];
        for (depth, line) in loops.iter().enumerate() {
            text += &format!("{}{line}\n", "    ".repeat(depth + 1));
        }
        for line in inner {
            text += &format!("{}{line}\n", "    ".repeat(loops.len() + 1));
        }
        let extents = |axis: Option<ThreadAxis>, extent: i32| {
            let mut extents = [1_u64; 3];
            if let Some(place) =
                axis.and_then(|axis| axis.name().chars().last()).and_then(|axis| "xyz".find(axis))
            {
                extents[place] = extent.unsigned_abs().into();
            }
            extents
        };
        let (grid_extents, block_extents) = (extents(grid, blocks), extents(block, threads));
        Self {
            text,
            axes: [grid, block].into_iter().flatten().collect(),
            grid: grid_extents,
            block: block_extents,
        }
    }
}

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, streams: Option<Profile>, body: fn(&Context, &Scene) -> Verdict| {
        let draft = cases.case(Group::Kernel, format_args!("launch/{name}"), "K.6", Subject::TargetKind);
        let draft = draft.profile(streams);
        draft.deadline(60).run(move |c| match Scene::prepare(c)? {
            Some(scene) => body(c, &scene),
            None => Ok(()),
        });
    };
    case("computes", None, computes);
    case("on-a-stream", Some(Profile::SeveralStreams), on_a_stream);
    case("as-the-packed-call", None, as_the_packed_call);
    case("values-are-read-before-it-returns", None, values_are_read);
}

struct Scene {
    shape: Shape,
    module: Module,
    kernel: Kernel,
    device: Device,
}

impl Scene {
    /// Compiles and loads the kernel; none where nothing is launched, which shows nothing of
    /// streams either.
    fn prepare(c: &Context) -> Verdict<Option<Self>> {
        let shape = Shape::from_axes(&axes::declared(c)?);
        let module = chipdock_script::parse(&shape.text, "scaled");
        let module = module.map_err(|errors| Stop::suite(errors.to_string()))?;
        let (module, device) = match build(c, &module)? {
            Ready::Callable(module, device) => (module, device),
            Ready::Built(why) => {
                c.not_run(why);
                return Ok(None);
            }
        };
        let names = module.imports().iter().flat_map(Module::function_names).map(str::to_owned).next();
        let Some(name) = names else {
            c.not_run("its modules have no part for the device, so no kernel to launch");
            c.shows_nothing_of(vec![Profile::SeveralStreams]);
            return Ok(None);
        };
        match module.kernel(&name) {
            Ok(kernel) => Ok(Some(Self { shape, module, kernel, device })),
            Err(error) if *error.kind() == chipdock_host::ErrorKind::NotFound => {
                c.not_run("its modules do not answer interface `launch` 1, which is optional");
                c.shows_nothing_of(vec![Profile::SeveralStreams]);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn tensor(&self) -> Verdict<Tensor> {
        Ok(Tensor::from_slice(&self.device, &[i64::from(N)], &(0..N).collect::<Vec<i32>>())?)
    }

    /// Launches on a stream; the memory of the scalar values changes right after the call.
    fn launch(&self, stream: &Stream, tensor: &Tensor) -> Verdict {
        let described = self.kernel.described();
        equal("its axes", &described.axes, &self.shape.axes)?;
        let mut values = vec![0_u8; 8 * described.args.len()];
        let mut is_first = true;
        for (place, dtype) in values.chunks_exact_mut(8).zip(&described.args) {
            // The other integers are the offset of the tensor.
            if dtype.code == chipdock_abi::CHIPDOCK_DTYPE_INT && std::mem::take(&mut is_first) {
                place[..4].copy_from_slice(&ADDED.to_le_bytes());
            }
        }
        let args: Vec<LaunchArg<'_>> = (described.args.iter().zip(values.chunks_exact(8)))
            .map(|(dtype, value)| match dtype.code {
                chipdock_abi::CHIPDOCK_DTYPE_HANDLE => LaunchArg::Tensor(tensor),
                _ => LaunchArg::Scalar(&value[..usize::from(dtype.bits / 8)]),
            })
            .collect();
        // SAFETY: there are as many threads as elements, and nothing else uses the tensor.
        unsafe { self.kernel.launch(stream, self.shape.grid, self.shape.block, 0, &args) }?;
        Ok(())
    }
}

/// Returns the expected contents after a number of launches.
fn expected(launches: u32) -> Vec<i32> {
    (0..N).map(|first| (0..launches).fold(first, |value, _| value * 3 + ADDED)).collect()
}

fn computes(_c: &Context, scene: &Scene) -> Verdict {
    let (stream, tensor) = (scene.device.default_stream(), scene.tensor()?);
    for launches in 1..=3 {
        scene.launch(&stream, &tensor)?;
        stream.sync()?;
        equal("the elements after a launch", &tensor.to_vec::<i32>()?, &expected(launches))?;
    }
    Ok(())
}

/// Queues several launches on a stream that is nowhere the current one.
fn on_a_stream(_c: &Context, scene: &Scene) -> Verdict {
    let (stream, tensor) = (scene.device.create_stream()?, scene.tensor()?);
    if stream.raw().is_null() {
        return Err(Stop::Unsupported("create_stream answers the default stream".to_owned()));
    }
    for _ in 0..5 {
        scene.launch(&stream, &tensor)?;
    }
    stream.sync()?;
    equal("the elements after 5 launches", &tensor.to_vec::<i32>()?, &expected(5))
}

fn as_the_packed_call(_c: &Context, scene: &Scene) -> Verdict {
    let (stream, launched, called) = (scene.device.default_stream(), scene.tensor()?, scene.tensor()?);
    scene.launch(&stream, &launched)?;
    scene.module.function("scaled")?.call(&[(&called).into(), i64::from(ADDED).into()])?;
    stream.sync()?;
    equal("what a launch leaves", &launched.to_vec::<i32>()?, &called.to_vec::<i32>()?)?;
    equal("the elements", &called.to_vec::<i32>()?, &expected(1))
}

/// Checks that the values may be freed as soon as `launch` returns (K.7).
fn values_are_read(_c: &Context, scene: &Scene) -> Verdict {
    let (stream, tensors) = (scene.device.default_stream(), (0..64).map(|_| scene.tensor()));
    let tensors: Vec<Tensor> = tensors.collect::<Verdict<_>>()?;
    for tensor in &tensors {
        scene.launch(&stream, tensor)?;
    }
    stream.sync()?;
    for tensor in &tensors {
        equal("the elements after a launch", &tensor.to_vec::<i32>()?, &expected(1))?;
    }
    Ok(())
}
