//! Target kinds, code generators and functions called by many threads.

use std::sync::{Mutex, PoisonError};

use chipdock_host::CompileOptions;
use chipdock_raw_host::Kind;

use super::together;
use crate::group::stream::kernel::{Add, add_kernel, numbers};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut at_once = |name: &str, n_threads: usize, body: fn(&Context, usize) -> Verdict| {
        let draft = cases.case(Group::Threads, format!("{name}/{n_threads}"), "P10.1", Subject::TargetKind);
        draft.deadline(60).run(move |c| body(c, n_threads));
    };
    at_once("canonicalize", 8, canonicalize);
    at_once("compile", 4, compile);
    at_once("load", 4, load);
    at_once("call", 8, call);
    at_once("call-on-own-streams", 8, call_on_streams);
}

fn canonicalize(c: &Context, n_threads: usize) -> Verdict {
    let kind =
        Kind::find(c.plugin()?, c.registration()).ok_or_else(|| Stop::suite("the target kind is gone"))?;
    let target = c.host()?.target(c.registration())?.json().to_owned();
    let expected = kind.canonicalize(&target)?;
    together(n_threads, |_| {
        (0..40).try_for_each(|_| equal("the canonical target", &kind.canonicalize(&target)?, &expected))
    })
}

/// Checks that all threads get the same artifact (C.1).
fn compile(c: &Context, n_threads: usize) -> Verdict {
    let (host, target) = (c.host()?, c.target()?);
    let artifacts = Mutex::new(Vec::new());
    together(n_threads, |_| {
        let compiled = host.compile(&add_kernel(), &target, &CompileOptions::default())?;
        let bytes = compiled.artifact.to_bytes()?;
        artifacts.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        Ok(())
    })?;
    let artifacts = artifacts.into_inner().unwrap_or_else(PoisonError::into_inner);
    let alike = artifacts.windows(2).all(|pair| pair[0] == pair[1]);
    ensure(alike, "the same artifact on every thread", "artifacts that differ")
        .map_err(|stop| stop.clause("C.1"))
}

/// Loads one artifact on all threads; each calls its own module's function and drops the module.
fn load(c: &Context, n_threads: usize) -> Verdict {
    let Some(add) = Add::load(c)? else { return Ok(()) };
    let add = &*add;
    let host = c.host()?;
    together(n_threads, |thread| {
        for round in 0..2 {
            let module = host.load(&add.artifact)?;
            let function = module.function("add")?;
            drop(module);
            let seed = (thread * 10 + round) as u64;
            let (a, b) = (numbers(seed), numbers(seed + 1000));
            let tensors = [add.tensor(&a)?, add.tensor(&b)?, add.tensor(&a)?];
            function.call(&[(&tensors[0]).into(), (&tensors[1]).into(), (&tensors[2]).into()])?;
            add.device.sync()?;
            let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            equal("the sum", &tensors[2].to_vec::<i32>()?, &expected)?;
        }
        Ok(())
    })
}

fn sums(add: &Add, thread: usize) -> Verdict {
    for round in 0..8 {
        let seed = (thread * 100 + round) as u64;
        let (a, b) = (numbers(seed), numbers(seed + 5000));
        let (first, second, to) = (add.tensor(&a)?, add.tensor(&b)?, add.tensor(&a)?);
        add.launch(&first, &second, &to)?;
        let expected: Vec<i32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        equal("the sum of this thread's tensors", &to.to_vec::<i32>()?, &expected)?;
    }
    Ok(())
}

/// Calls one function on the default stream, with tensors of each thread's own.
fn call(c: &Context, n_threads: usize) -> Verdict {
    let Some(add) = Add::load(c)? else { return Ok(()) };
    let add = &*add;
    together(n_threads, |thread| sums(add, thread))
}

/// Calls one function with a separate current stream for each thread, if there are several streams.
fn call_on_streams(c: &Context, n_threads: usize) -> Verdict {
    let Some(add) = Add::load(c)? else { return Ok(()) };
    let add = &*add;
    together(n_threads, |thread| {
        let stream = add.device.create_stream()?;
        let current = stream.enter()?;
        sums(add, thread)?;
        drop(current);
        Ok(stream.sync()?)
    })
}
