//! A host's use of device memory: pooled tensors, views of them, and workspace.

use std::ffi::c_void;

use chipdock_host::{Device, ErrorKind, Tensor};
use chipdock_ir::DType;
use chipdock_plugin_api as api;

use crate::bytes::{pattern, same_bytes};
use crate::stop::{Stop, ensure};
use crate::{Cases, Context, Group, Subject, Verdict};

type Body = fn(&Device) -> Verdict;

const SHAPES: [&[i64]; 12] = [
    &[],
    &[1],
    &[7],
    &[64],
    &[0],
    &[3, 0, 2],
    &[3, 5],
    &[2, 3, 4],
    &[1, 1, 1, 1, 1, 1, 1, 5],
    &[4097],
    &[65, 63],
    &[17, 1, 33],
];

pub(super) fn add(cases: &mut Cases) {
    for dtype in DType::SCALARS {
        let name = format!("tensor/{dtype}");
        cases.case(Group::Memory, name, "D.38", Subject::DeviceApi).run(move |c| round_trip(c, *dtype));
    }
    let bodies: [(&str, &str, Body); 8] = [
        ("tensor/slices", "D.38", slices),
        ("tensor/strides", "D.38", strides),
        ("tensor/copied-on-the-device", "D.38", copied),
        ("tensor/pool", "D.20", pool),
        ("tensor/pool-of-several-streams", "D.20", pool_of_streams),
        ("tensor/too-large", "D.26", too_large),
        ("workspace/stack", "D.20", workspace_stack),
        ("workspace/threads", "D.20", workspace_threads),
    ];
    for (name, clause, body) in bodies {
        cases.case(Group::Memory, name, clause, Subject::DeviceApi).run(move |c| body(&device(c)?));
    }
}

/// Returns the first device of a host.
fn device(c: &Context) -> Verdict<Device> {
    // Whether there is a device is known by now.
    c.device()?;
    Ok(c.host()?.device(c.registration(), 0)?)
}

fn size_of(shape: &[i64], dtype: DType) -> usize {
    let count: i64 = shape.iter().product();
    usize::try_from(count).unwrap_or(0) * dtype.size_bytes()
}

/// Returns a pattern number for a shape.
fn seed_of(shape: &[i64]) -> u64 {
    shape.iter().fold(shape.len() as u64, |seed, extent| seed * 131 + extent.unsigned_abs())
}

fn round_trip(c: &Context, dtype: DType) -> Verdict {
    let device = device(c)?;
    let cpu = c.host()?.device(api::cpu::NAME, 0)?;
    let mut tensors = Vec::new();
    for shape in SHAPES {
        let bytes = pattern(seed_of(shape), size_of(shape, dtype));
        tensors.push((Tensor::from_bytes(&device, shape, dtype, &bytes)?, bytes));
    }
    for (tensor, bytes) in &tensors {
        let what = format!("{dtype} tensor of shape {:?}", tensor.shape());
        same_bytes(&what, &tensor.to_bytes()?, bytes)?;
        let on_host = tensor.to_device(&cpu)?;
        same_bytes(&format!("{what}, in host memory"), &on_host.to_bytes()?, bytes)?;
        let back = on_host.to_device(&device)?;
        same_bytes(&format!("{what}, and back"), &back.to_bytes()?, bytes)?;
    }
    Ok(())
}

fn slices(device: &Device) -> Verdict {
    let (rows, columns) = (37_usize, 53_usize);
    let mut bytes = pattern(1, rows * columns * 2);
    let whole = Tensor::from_bytes(device, &[37, 53], DType::INT16, &bytes)?;
    for (start, extent) in [(0_usize, 1_usize), (1, 5), (36, 1), (3, 34)] {
        let some = whole.slice(0, start as i64, extent as i64)?;
        let range = start * columns * 2..(start + extent) * columns * 2;
        same_bytes("some rows", &some.to_bytes()?, &bytes[range.clone()])?;
        bytes[range.clone()].copy_from_slice(&pattern(start as u64 + 2, extent * columns * 2));
        some.copy_from_bytes(&bytes[range])?;
        same_bytes("all rows after some were written", &whole.to_bytes()?, &bytes)?;
    }
    let column = whole.slice(1, 7, 2)?;
    let expected: Vec<u8> =
        (0..rows).flat_map(|row| bytes[(row * columns + 7) * 2..][..4].to_vec()).collect();
    same_bytes("two columns", &column.to_bytes()?, &expected)?;
    column.copy_from_bytes(&vec![0xab; rows * 4])?;
    for row in 0..rows {
        bytes[(row * columns + 7) * 2..][..4].fill(0xab);
    }
    same_bytes("all after two columns were written", &whole.to_bytes()?, &bytes)?;
    let none = whole.slice(0, 37, 0)?;
    ensure(none.to_bytes()?.is_empty(), "no bytes of no rows", "some")
}

fn strides(device: &Device) -> Verdict {
    let bytes = pattern(1, 24 * 4);
    let whole = Tensor::from_bytes(device, &[4, 6], DType::FLOAT32, &bytes)?;
    let element = |index: usize| bytes[index * 4..][..4].to_vec();
    let views: [(&[i64], &[i64], i64); 5] = [
        (&[6, 4], &[1, 6], 0),
        (&[24], &[-1], 23),
        (&[4, 6], &[-6, -1], 23),
        (&[2, 3], &[12, 2], 1),
        (&[3, 3], &[0, 2], 4),
    ];
    for (shape, strides, offset) in views {
        let view = whole.strided(shape, strides, offset)?;
        let indices = |index: usize| -> usize {
            let (mut rest, mut place) = (index as i64, offset);
            for axis in (0..shape.len()).rev() {
                place += rest % shape[axis] * strides[axis];
                rest /= shape[axis];
            }
            usize::try_from(place).unwrap_or(0)
        };
        let expected: Vec<u8> =
            (0..size_of(shape, DType::UINT8)).flat_map(|index| element(indices(index))).collect();
        let what = format!("shape {shape:?}, strides {strides:?}, from element {offset}");
        same_bytes(&what, &view.to_bytes()?, &expected)?;
        let compact = view.to_device(device)?;
        same_bytes(&format!("{what}, made compact"), &compact.to_bytes()?, &expected)?;
    }
    same_bytes("the tensor that was viewed", &whole.to_bytes()?, &bytes)
}

fn copied(device: &Device) -> Verdict {
    for shape in SHAPES {
        let bytes = pattern(seed_of(shape), size_of(shape, DType::FLOAT64));
        let from = Tensor::from_bytes(device, shape, DType::FLOAT64, &bytes)?;
        let to = Tensor::zeros(device, shape, DType::FLOAT64)?;
        to.copy_from(&from)?;
        same_bytes(&format!("a copy of shape {shape:?}"), &to.to_bytes()?, &bytes)?;
    }
    // Parts at unaligned offsets.
    let bytes = pattern(9, 1000);
    let (from, to) = (
        Tensor::from_bytes(device, &[1000], DType::UINT8, &bytes)?,
        Tensor::from_bytes(device, &[1000], DType::UINT8, &pattern(10, 1000))?,
    );
    let mut expected = pattern(10, 1000);
    for (from_start, to_start, extent) in [(1_usize, 3_usize, 5_usize), (100, 201, 333), (667, 0, 1)] {
        to.slice(0, to_start as i64, extent as i64)?.copy_from(&from.slice(
            0,
            from_start as i64,
            extent as i64,
        )?)?;
        expected[to_start..to_start + extent].copy_from_slice(&bytes[from_start..from_start + extent]);
        same_bytes("parts that were copied", &to.to_bytes()?, &expected)?;
    }
    Ok(())
}

/// Creates and drops tensors in the host's pool, and checks that each holds its own bytes.
fn pool(device: &Device) -> Verdict {
    let mut live: Vec<(Tensor, Vec<u8>)> = Vec::new();
    for round in 0..200_u64 {
        let extent = (round * 7919 % 3001) as i64;
        let bytes = pattern(round, size_of(&[extent], DType::INT32));
        live.push((Tensor::from_bytes(device, &[extent], DType::INT32, &bytes)?, bytes));
        if live.len() > 20 {
            let (tensor, bytes) = live.swap_remove((round * 31 % 20) as usize);
            same_bytes(&format!("a tensor that goes in round {round}"), &tensor.to_bytes()?, &bytes)?;
        }
        if round % 50 == 49 {
            device.trim()?;
        }
    }
    for (tensor, bytes) in live {
        same_bytes("a tensor at the end", &tensor.to_bytes()?, &bytes)?;
    }
    Ok(device.trim()?)
}

/// Checks that memory used by work on one stream can be reused on another.
fn pool_of_streams(device: &Device) -> Verdict {
    let streams = [device.create_stream()?, device.create_stream()?, device.default_stream()];
    for round in 0..30_u64 {
        let stream = &streams[(round % 3) as usize];
        let guard = stream.enter()?;
        let bytes = pattern(round, 10_000);
        let tensor = Tensor::from_bytes(device, &[10_000], DType::UINT8, &bytes)?;
        let copy = tensor.to_device(device)?;
        drop(tensor);
        same_bytes(&format!("round {round}"), &copy.to_bytes()?, &bytes)?;
        drop(guard);
    }
    drop(streams);
    Ok(device.trim()?)
}

/// Requests too much: the host trims its pool, retries, and reports the error; then everything
/// works as before.
fn too_large(device: &Device) -> Verdict {
    let bytes = pattern(1, 4000);
    let before = Tensor::from_bytes(device, &[1000], DType::FLOAT32, &bytes)?;
    drop(Tensor::zeros(device, &[5000], DType::FLOAT32)?);
    for extent in [1_i64 << 55, 1 << 58] {
        match Tensor::empty(device, &[extent], DType::FLOAT32) {
            Err(error) if *error.kind() == ErrorKind::OutOfMemory => {}
            Err(error) => return Err(Stop::from(error)),
            Ok(_) => return Err(Stop::failed(format!("OutOfMemory for {extent} elements"), "a tensor")),
        }
        same_bytes("a tensor that was there before", &before.to_bytes()?, &bytes)
            .map_err(|stop| stop.clause("P7.7"))?;
        let after = Tensor::from_bytes(device, &[1000], DType::FLOAT32, &bytes)?;
        same_bytes("a tensor made afterwards", &after.to_bytes()?, &bytes)
            .map_err(|stop| stop.clause("P7.7"))?;
    }
    Ok(())
}

/// Workspace of a host, requested as compiled code does.
struct Workspace<'a> {
    device: &'a Device,
    data: *mut c_void,
    size: usize,
}

impl<'a> Workspace<'a> {
    fn new(device: &'a Device, size: usize) -> Verdict<Self> {
        let env = device.host().environment();
        // SAFETY: the environment belongs to the host, which is never freed.
        let data = unsafe {
            let number = device.number();
            (env.allocate_workspace)(env, number.device_type, number.device_id, size as u64)
        };
        ensure(!data.is_null(), format!("workspace of {size} bytes"), "null")?;
        Ok(Self { device, data, size })
    }

    /// Returns the workspace as a tensor, for copies.
    fn tensor(&self) -> Verdict<Tensor> {
        let parts = api::TensorParts {
            data: self.data,
            device: self.device.number(),
            dtype: api::ChipdockDataType { code: chipdock_abi::CHIPDOCK_DTYPE_UINT, bits: 8, lanes: 1 },
            shape: &[self.size as i64],
            strides: None,
            byte_offset: 0,
        };
        // SAFETY: the memory has that size and outlives the tensor: only `free` frees it, and takes
        // it last.
        let value = unsafe { api::Tensor::from_owner(parts, ()) }?;
        Ok(Tensor::from_value(self.device.host(), value)?)
    }

    fn free(self) -> Verdict {
        let env = self.device.host().environment();
        // SAFETY: the workspace was allocated by the same environment on this thread, and is freed
        // once.
        let status = unsafe {
            let number = self.device.number();
            (env.free_workspace)(env, number.device_type, number.device_id, self.data)
        };
        ensure(status == 0, "workspace that is freed", format!("status {status}"))
    }
}

/// Frees workspaces in reverse order, as kernels do; those that remain keep their bytes.
fn workspace_stack(device: &Device) -> Verdict {
    for round in 0..3_u64 {
        let sizes = [1_usize, 100, 4096, 4097, 0, 65_537, 64];
        let stack = sizes.iter().map(|size| Workspace::new(device, *size)).collect::<Verdict<Vec<_>>>()?;
        for (number, workspace) in stack.iter().enumerate() {
            workspace.tensor()?.copy_from_bytes(&pattern(round * 10 + number as u64, workspace.size))?;
            if device.is_host_memory() {
                let address = workspace.data.addr();
                let expected = format!("workspace {number} at a multiple of 64");
                ensure(address.is_multiple_of(64), expected, format!("{address:#x}"))
                    .map_err(|stop| stop.clause("D.4"))?;
            }
        }
        for (number, workspace) in stack.into_iter().enumerate().rev() {
            let expected = pattern(round * 10 + number as u64, workspace.size);
            let what = format!("workspace {number} of round {round}");
            same_bytes(&what, &workspace.tensor()?.to_bytes()?, &expected)?;
            workspace.free()?;
        }
    }
    Ok(device.trim()?)
}

/// Checks that each thread has workspace of its own.
fn workspace_threads(device: &Device) -> Verdict {
    let one = |thread: u64| -> Verdict {
        for round in 0..20 {
            let bytes = pattern(thread * 1000 + round, 5000);
            let (first, second) = (Workspace::new(device, 5000)?, Workspace::new(device, 3)?);
            first.tensor()?.copy_from_bytes(&bytes)?;
            second.tensor()?.copy_from_bytes(&bytes[..3])?;
            same_bytes(&format!("thread {thread}"), &first.tensor()?.to_bytes()?, &bytes)?;
            second.free()?;
            first.free()?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || one(thread))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err(Stop::suite("a thread of the case panicked")))
        })
    })?;
    Ok(device.trim()?)
}
