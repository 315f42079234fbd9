//! Shared base of the C family: everything that C, CUDA C++, OpenCL C, MSL and similar languages
//! share within expressions.
//!
//! A language provides its [`Spellings`] as data and implements the few methods of [`CFamily`]; in
//! return it gets an implementation of [`Expressions`]. The text around expressions (signatures,
//! barriers, allocations) comes from its [`Dialect`].
//!
//! # Rules
//!
//! - **CF1** *Data first*. A difference in spelling is a field of [`Spellings`]; a difference in
//!   meaning is an overridden method of [`CFamily`]. Nothing here knows which language it writes.
//! - **CF2** *Values*. A boolean is a `bool`, and a byte in memory. A float16 or bfloat16 is
//!   represented by a `float` that only ever has values of that type: it is rounded after each
//!   operation, and has 16 bits only in memory. All other types are represented as they are in
//!   memory. A type without a spelling is refused ([`CFamily::refused_type`]).
//! - **CF3** *Constants* have the IR's value exactly: the least integers have spellings of their
//!   own ([`Spellings::least`]), floats are the shortest decimal that every reader takes for the
//!   same value ([`decimal`]), and infinities and NaNs are built from their bits unless the
//!   language has names for them.
//! - **CF4** *Conversions* are the IR's: a float becomes an integer truncated, saturated, 0 for a
//!   NaN (the language's own conversion does where ranges tell that it is within the type); a
//!   number becomes a half by one rounding, to nearest even ([`CFamily::half_source`] gives the
//!   float that is rounded).
//! - **CF5** *Integers* never meet undefined behaviour: sums wrap in the unsigned type of at least
//!   32 bits; division by 0 gives the dividend and a remainder of 0, division of the least integer
//!   by -1 the least integer. What may be the least integer is divided hidden from compilers that
//!   need it ([`CFamily::operand_hidden`]).
//! - **CF6** *Memory*. An address is assumed to be a multiple of its element's size and nothing
//!   more, unless the language checks it ([`CFamily::lanes_body`]). Elements are accessed with the
//!   type of the access; if the pointer was declared with another type, or leads to memory that has
//!   another type elsewhere, it is converted ([`CFamily::alias`]). Lanes that a predicate masks out
//!   are neither read nor written.
//! - **CF7** *Vectors*. A vector with a number of lanes for which the language has no type is a
//!   structure of an array; it is computed by helpers, lane by lane. A language declares its native
//!   vectors ([`CFamily::native_vector`], [`NativeVectors`]). With [`NativeVectors`] a boolean lane
//!   is an 8-bit 0 or -1, and [`Code::form`] is the lane width of a mask that a comparison gave;
//!   without, it is a `bool`.
//! - **CF8** *Helpers* are defined where they are first needed. A name is `cd_`, the operation,
//!   then the types: `i32` for scalars, `i32x4` for vectors ([`short`], [`full`]):
//!   `cd_floordiv_i32`, `cd_i32_from_f32`, `cd_add_i8x16`, `cd_load_f32x4_where`. One name means
//!   one text in a file.
//! - **CF9** *Ops*. Ops on the bits of integers are written here; all others are rows of
//!   [`Spellings::ops`], unless [`CFamily::special_op`] overrides them. A vector's lanes are
//!   computed by the same texts as scalars.
//! - **CF10** *Words*. A name listed in [`Spellings::words`] is never declared. [`C_WORDS`] and
//!   [`CPP_WORDS`] are the keywords of C and C++; a language adds its own.

mod access;
mod casts;
mod constants;
mod halves;
mod integers;
mod language;
mod masks;
mod spellings;
mod types;
mod vectors;
mod words;

pub use access::{LaneAccess, address, element_at, pointer_at};
pub use casts::{cast, converted, half_fma};
pub use constants::constant_array;
pub use halves::{Half, half_next};
pub use language::{CFamily, NativeVectors, values_of};
pub use masks::mask_as;
pub use spellings::{Cast, Spellings, Structures};
pub use types::{computed, full, is_half, scalar, short, unsigned, wrapping};
pub use vectors::{lane_of, lane_value};
pub use words::{C_WORDS, CPP_WORDS, contains_word};

#[allow(unused_imports, reason = "for the documentation")]
use crate::{Code, Dialect, Expressions, decimal};
