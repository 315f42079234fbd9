//! The devices of Vulkan: how they are found and opened, their memory, their streams.
//!
//! Files: `discovery`, `attributes`, `memory` (data spaces), `queue` (streams), `staging` and
//! `copy` (copies), `mark` (timestamps), `reached` (points), `hardware` (all of it, for one host).
//! What calls Vulkan is in the folder `driver`: the library, instances and the validation layer
//! (`entry`), what a device supports (`limits`, `features`), the logical device (`gpu`), command
//! buffers, semaphores and fences.
//!
//! # Rules
//!
//! ## Devices
//!
//! * **VK-D1** *Order.* The devices are those of Vulkan 1.1 or later with a queue that computes:
//!   discrete GPUs, integrated ones, virtual ones, others, processors; within each sort in the
//!   order of the drivers. A driver that cannot be opened hides no device of another.
//! * **VK-D2** *Absence.* Without a library, a driver, an instance or a usable device every call is
//!   `Unavailable`, with what was tried, why each device was left out, and the package that brings
//!   what is missing. So it is with raised privileges: the loader then ignores variables that name
//!   drivers, drivers do not ignore theirs.
//! * **VK-D3** *One logical device* each, made by the first call that needs it; of the family of
//!   compute queues that has most of them, at most four. Whatever is made from it keeps it alive.
//! * **VK-D4** *One table* (`features`) maps SPIR-V's capabilities to features and properties. It
//!   decides what `has_capability` answers, and which features the logical device enables: all of
//!   the table that the device supports. An extension is enabled where the device's version does
//!   not contain it.
//! * **VK-D5** *Attributes* have the boundary's names, else those of the target's options. The warp
//!   size is that of a subgroup where kernels can shuffle and vote by ballot, otherwise 1.
//! * **VK-D6** *Errors* name the attempted operation and Vulkan's result. Once the driver has lost
//!   the device every call is `DeviceLost` (P7.6). `reset` makes another logical device: data
//!   spaces, streams and marks made before are gone (D.40); the old device is destroyed when
//!   nothing made from it lives.
//! * **VK-D7** *Locks.* A stream is locked while its work is recorded and submitted, not while the
//!   host waits for it, unless too many batches are under way or its staging memory is full. A
//!   device is locked while it is opened.
//!
//! ## Memory
//!
//! * **VK-D8** *Kinds.* `Device` is device-local; `Pinned` is host memory, cached where there is
//!   such; `HostVisible` is device-local and mapped; `Unified` is that, where buffers have the
//!   host's addresses. All mapped memory is coherent. A kind for which there is no type of memory
//!   is `Unsupported`, one whose memory is full `OutOfMemory`: nothing is substituted (D.9).
//! * **VK-D9** *Handles.* That of kind `Device` is opaque; the others' is their address, and an
//!   address within one, given as host memory, is the data space's (D.31).
//! * **VK-D10** *Buffers.* Each data space is a buffer of its own, a whole number of words long and
//!   at least one, for kernels and for copies. What the device can no longer give by blocks is
//!   allocated for the buffer alone.
//! * **VK-D11** *Lifetime.* Work keeps what it uses until it has ended; a freed data space that
//!   queued work uses is destroyed then. Nothing is dropped under the lock of a stream.
//!
//! ## Streams
//!
//! * **VK-D12** *Order.* Before each command is a barrier, so that it sees what all commands before
//!   it on its stream wrote; after the last of a batch is one for the host. Streams share the
//!   queues in turn.
//! * **VK-D13** *Batches.* Commands are recorded, and submitted together: at 128 commands, before
//!   the host waits, before another stream waits, with a mark, and with each part of a long copy.
//!   At most 32 batches of a stream are under way; the next waits for the oldest. A launch of the
//!   pipeline that its batch launched last does not bind it again.
//! * **VK-D14** *Waiting.* A batch sets the next value of its stream's timeline semaphore, or a
//!   fence where there are none. The host waits a second at a time, so that a lost device ends the
//!   wait. The semaphore of a freed stream is a later stream's, and is destroyed once the device is
//!   idle: lavapipe of Mesa 22.3 touches a semaphore for which a batch waited after it has shown
//!   that the batch has ended.
//! * **VK-D15** *Between streams* the device waits: for the value that the other stream's last
//!   batch sets, or for a semaphore made for this wait. All that work waits for is submitted before
//!   it, so cycles end (D.16).
//!
//! ## Copies
//!
//! * **VK-D16** *Host memory.* It is read before `copy_data` returns, and written before the
//!   synchronisation returns of that stream or of one that waited for it. A copy that reads or
//!   writes host memory first completes those that have still to write to it, on whichever stream.
//! * **VK-D17** *Staging.* Memory that the host cannot reach is copied through a ring of 16 MiB for
//!   each stream that needs one, in parts of at most 4 MiB: the device copies one part while the
//!   host copies another. A ring of which nothing is taken is used from its start, so that short
//!   copies touch little of it. Rings are used again.
//! * **VK-D18** *Direct.* Where the data space is mapped the host copies: to it if the stream is
//!   idle, from it after the stream's work, if the memory is cached. Copies between devices go
//!   through the host and are done when they return.
//!
//! ## Marks and validation
//!
//! * **VK-D19** *Marks* are timestamps that the device writes when all earlier work of the stream
//!   is done. A queue without valid bits is `Unsupported`. Differences are right if counts of few
//!   bits wrap around once.
//! * **VK-D21** *Timelines* of the boundary are lists of points: a signal submits what its stream
//!   has and takes the point where that ends, so that no semaphore is made for it. Copies to host
//!   memory are made before the host is told that a point is reached. Without timeline semaphores a
//!   stream waits for all that the other has.
//! * **VK-D22** *Graphs* of the boundary are lists: a replay looks everything up, and is then
//!   recorded under one lock of its stream into one batch, however many commands it has. What it
//!   uses is kept by the batch alone, so that a graph keeps no data space.
//! * **VK-D20** *Validation.* With the setting `validation` everything runs under the validation
//!   layer, with synchronisation validation. Warnings and errors are counted from the making of the
//!   instance to its end. The first since the last report is the failure of the next wait,
//!   `InternalError`.

pub(crate) mod attributes;
mod copy;
mod discovery;
mod hardware;
mod mark;
mod memory;
mod reached;
mod staging;
mod stream;

pub(crate) use copy::{End, copy_across, copy_within};
#[cfg(test)]
pub(crate) use discovery::devices_of;
#[cfg(test)]
pub(crate) use hardware::Opened;
pub(crate) use hardware::{DEVICE_TYPE, Device, Hardware, NAME};
pub(crate) use mark::nanoseconds_between;
pub(crate) use memory::Space;
pub(crate) use reached::Reached;
#[cfg(test)]
pub(crate) use stream::DEPTH;
pub(crate) use stream::{Keep, Queue, Recorded, Work};

pub(crate) use crate::driver::{Buffer, Gpu, Limits, OrFailed, Properties, Request, VALIDATION, source};
#[cfg(test)]
pub(crate) use crate::driver::{Instance, Means};
