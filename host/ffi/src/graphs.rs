//! Graphs: launches and copies of a thread that are recorded once, and replayed.

use std::sync::Arc;

use chipdock_host::{Host, Recording, Tensor};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind};

use crate::hosts::device_of;
use crate::objects::{GraphObject, StreamObject, object, of, raised};
use crate::streams;
use crate::tensors::tensor_of;

/// Returns the tensors of the arguments from a position on.
fn tensors_of(host: &Host, args: &[AnyView<'_>]) -> Result<Vec<Tensor>, Error> {
    args.iter().enumerate().map(|(at, arg)| tensor_of(host, *arg, &format!("argument {at}"))).collect()
}

fn no_recording() -> Error {
    Error::new(ErrorKind::WRONG_STATE, "this thread records no graph: call record_begin first")
}

/// Keeps a tensor for the graph that this thread records; `None` where it records none.
fn keep(tensor: &Tensor) -> Option<Result<(), Error>> {
    let recording = Recording::of_this_thread()?;
    let kept = recording.keep(tensor).map_err(raised);
    recording.leave();
    Some(kept)
}

/// Keeps a tensor that a call allocated while this thread records a graph, for the graph's kernels.
pub(crate) fn keep_where_recorded(tensor: &Tensor) -> Result<(), Error> {
    keep(tensor).unwrap_or(Ok(()))
}

pub(crate) fn record_begin(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "device")?;
    let parameters = tensors_of(host, &args[2..])?;
    let parameters: Vec<&Tensor> = parameters.iter().collect();
    device.begin_recording(&parameters).map_err(raised)?.leave();
    Ok(Any::NONE)
}

pub(crate) fn record_keep(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let tensor = tensor_of(host, args[1], "tensor")?;
    keep(&tensor).unwrap_or_else(|| Err(no_recording())).map(|()| Any::NONE)
}

pub(crate) fn record_end(_args: &[AnyView<'_>]) -> Result<Any, Error> {
    let recording = Recording::of_this_thread().ok_or_else(no_recording)?;
    Ok(object(GraphObject(recording.finish().map_err(raised)?)))
}

pub(crate) fn record_give_up(_args: &[AnyView<'_>]) -> Result<Any, Error> {
    drop(Recording::of_this_thread());
    Ok(Any::NONE)
}

pub(crate) fn graph_replay(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let graph: &GraphObject = of(args[0], "graph")?;
    let device = graph.0.device();
    let arguments = tensors_of(device.host(), &args[2..])?;
    let arguments: Vec<&Tensor> = arguments.iter().collect();
    let stream = match args[1].is_none() {
        true => streams::current(device)?,
        false => Some(Arc::clone(&of::<StreamObject>(args[1], "stream")?.0)),
    };
    match stream {
        Some(stream) => streams::replay(&graph.0, &stream, &arguments)?,
        None => streams::replay(&graph.0, &device.default_stream(), &arguments)?,
    }
    Ok(Any::NONE)
}

pub(crate) fn graph_device(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let graph: &GraphObject = of(args[0], "graph")?;
    Ok(graph.0.device().number().into())
}

pub(crate) fn graph_size(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let graph: &GraphObject = of(args[0], "graph")?;
    Ok(i64::try_from(graph.0.len()).unwrap_or(i64::MAX).into())
}
