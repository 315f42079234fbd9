//! Timelines of devices.

use std::time::Duration;

use chipdock_host::Host;
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind};

use crate::hosts::device_of;
use crate::objects::{StreamObject, TimelineObject, arg, object, of, raised};

/// Reads a value of a timeline; those of TVM-FFI have a sign.
fn value_of(view: AnyView<'_>, at: &str) -> Result<u64, Error> {
    let value: i64 = arg(view, at)?;
    u64::try_from(value).map_err(|_| {
        Error::new(ErrorKind::VALUE_ERROR, format!("{at}: expected a value of 0 or more, found {value}"))
    })
}

pub(crate) fn timeline(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let device = device_of(host, args[1], "device")?;
    let timeline = device.create_timeline(value_of(args[2], "initial")?).map_err(raised)?;
    Ok(object(TimelineObject(timeline)))
}

pub(crate) fn timeline_value(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let timeline: &TimelineObject = of(args[0], "timeline")?;
    let value = timeline.0.value().map_err(raised)?;
    Ok(i64::try_from(value).unwrap_or(i64::MAX).into())
}

pub(crate) fn timeline_set(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let timeline: &TimelineObject = of(args[0], "timeline")?;
    timeline.0.set(value_of(args[1], "value")?).map_err(raised)?;
    Ok(Any::NONE)
}

pub(crate) fn timeline_wait(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let timeline: &TimelineObject = of(args[0], "timeline")?;
    let value = value_of(args[1], "value")?;
    let timeout = match args[2].is_none() {
        true => None,
        false => Some(Duration::from_nanos(value_of(args[2], "timeout_ns")?)),
    };
    Ok(timeline.0.wait(value, timeout).map_err(raised)?.into())
}

pub(crate) fn timeline_device(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let timeline: &TimelineObject = of(args[0], "timeline")?;
    Ok(timeline.0.device().number().into())
}

pub(crate) fn stream_signal(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let stream: &StreamObject = of(args[0], "stream")?;
    let timeline: &TimelineObject = of(args[1], "timeline")?;
    stream.0.signal(&timeline.0, value_of(args[2], "value")?).map_err(raised)?;
    Ok(Any::NONE)
}

pub(crate) fn stream_wait(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let stream: &StreamObject = of(args[0], "stream")?;
    let timeline: &TimelineObject = of(args[1], "timeline")?;
    stream.0.wait(&timeline.0, value_of(args[2], "value")?).map_err(raised)?;
    Ok(Any::NONE)
}
