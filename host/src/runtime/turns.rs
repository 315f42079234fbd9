//! Turns of threads that read and write the same memory (HOST-W6).
//!
//! A fixed number of locks serves all memory, picked by the data pointer: a tensor costs nothing,
//! and tensors that share memory meet whichever way they came to. Unrelated tensors that fall on
//! one lock wait for each other, rarely, for the time of a copy.

use std::array;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use chipdock_plugin_api::kit::PerProcess;

use super::mappings::{self, Access};
use super::tensor::Tensor;

/// Number of locks.
const COUNT: usize = 256;

/// A lock on a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Turn(RwLock<()>);

/// A forked child has its own: its parent's may be held by threads that it does not have.
static TURNS: PerProcess<[Turn; COUNT]> = PerProcess::new(|_| array::from_fn(|_| Turn::default()));

/// The right to read.
type Read = RwLockReadGuard<'static, ()>;
/// The right to write.
type Write = RwLockWriteGuard<'static, ()>;

/// The number of the lock for a tensor's memory. Allocations begin at multiples of 64 or more: the
/// bits above are mixed.
fn number(tensor: &Tensor) -> usize {
    let mixed = (tensor.view().data().addr() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (u64::BITS - COUNT.trailing_zeros())) as usize
}

fn read(number: usize) -> Read {
    TURNS.of_this()[number].0.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(number: usize) -> Write {
    TURNS.of_this()[number].0.write().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until the tensor's memory may be read.
pub(super) fn to_read(tensor: &Tensor) -> Read {
    loop {
        mappings::wait(tensor.view().data(), Access::Read);
        let turn = read(number(tensor));
        if mappings::allow(tensor.view().data(), Access::Read) {
            return turn;
        }
    }
}

/// Waits until the tensor's memory may be written.
pub(super) fn to_write(tensor: &Tensor) -> Write {
    loop {
        mappings::wait(tensor.view().data(), Access::Write);
        let turn = write(number(tensor));
        if mappings::allow(tensor.view().data(), Access::Write) {
            return turn;
        }
    }
}

/// Waits until one tensor's memory may be read and another's written. Locks are taken in the order
/// of their numbers, so that threads which copy between the same tensors do not wait for each other
/// for ever.
pub(super) fn to_copy(from: &Tensor, to: &Tensor) -> (Option<Read>, Write) {
    loop {
        mappings::wait(from.view().data(), Access::Read);
        mappings::wait(to.view().data(), Access::Write);
        let turns = both(from, to);
        if mappings::allow(from.view().data(), Access::Read)
            && mappings::allow(to.view().data(), Access::Write)
        {
            return turns;
        }
    }
}

fn both(from: &Tensor, to: &Tensor) -> (Option<Read>, Write) {
    let (source, target) = (number(from), number(to));
    match source.cmp(&target) {
        std::cmp::Ordering::Less => {
            let first = read(source);
            (Some(first), write(target))
        }
        std::cmp::Ordering::Equal => (None, write(target)),
        std::cmp::Ordering::Greater => {
            let first = write(target);
            (Some(read(source)), first)
        }
    }
}
