//! The floor of the C family: what C, CUDA C++, OpenCL C, MSL and their like share within expressions, once.
//!
//! A language says what it calls things ([`Spellings`], data) and answers the few questions of [`CFamily`]; in return it
//! has all answers of [`Expressions`]. What is around expressions (signatures, barriers, allocations) it answers as a
//! [`Dialect`].
//!
//! # Rules
//!
//! - **CF1** *Data first*. A difference in spelling is a field of [`Spellings`]; a difference in meaning is an overridden
//!   method of [`CFamily`]. Nothing here knows which language it writes.
//! - **CF2** *Values*. A boolean is a `bool`, and a byte in memory. A float16 or bfloat16 is held in a `float` that holds
//!   nothing but values of that type: it is rounded after each operation, and has 16 bits in memory alone. All other types
//!   are held as memory has them. A type without a spelling is refused ([`CFamily::refused_type`]).
//! - **CF3** *Constants* have the IR's value exactly: the least integers are spelled ([`Spellings::least`]), floats are the
//!   shortest decimal that reads back, and what is no number is made of its bits unless the language has names for it.
//! - **CF4** *Conversions* are the IR's: a float becomes an integer truncated, saturated, 0 for a NaN; a number becomes a
//!   half by one rounding, to nearest even ([`CFamily::half_source`] gives the float that is rounded).
//! - **CF5** *Integers* never meet undefined behaviour: sums wrap in the unsigned type of at least 32 bits; division by 0
//!   gives the dividend and a remainder of 0, division of the least integer by -1 the least integer.
//! - **CF6** *Memory*. Nothing is assumed of an address but that it is a multiple of its element's size, unless the
//!   language looks at it ([`CFamily::lanes_body`]). Elements are accessed as the type that the access has; where the
//!   pointer was declared with another, it is converted ([`CFamily::alias`]). Lanes that a predicate leaves out are
//!   neither read nor written.
//! - **CF7** *Vectors*. A number of lanes that the language has no type for is a structure of an array; it is computed by
//!   helpers, lane by lane. What the language has itself, it says ([`CFamily::native_vector`], [`NativeVectors`]). With
//!   [`NativeVectors`] a boolean lane is an 8-bit 0 or -1, and [`Code::form`] is the width of the lanes of a mask that
//!   a comparison gave; without, it is a `bool`.
//! - **CF8** *Helpers* are defined where they are first needed, and named `cd_` and what they do, then the types: `i32` of
//!   scalars, `i32x4` of vectors ([`short`], [`full`]): `cd_floordiv_i32`, `cd_i32_from_f32`, `cd_add_i8x16`,
//!   `cd_load_f32x4_where`. One name means one text in a file.
//! - **CF9** *Ops*. Those on the bits of integers are written here; all others are rows of [`Spellings::ops`], unless
//!   [`CFamily::special_op`] says otherwise. A vector's lanes are computed by the same texts as scalars.
//! - **CF10** *Words*. A name that stands in [`Spellings::words`] is not given out. [`C_WORDS`] and [`CPP_WORDS`] are the
//!   keywords of C and C++; a language adds its own.

mod access;
mod casts;
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
pub use halves::Half;
pub use language::{CFamily, NativeVectors, values_of};
pub use masks::mask_as;
pub use spellings::{Cast, Spellings, Structures};
pub use types::{computed, full, is_half, scalar, short, unsigned, wrapping};
pub use vectors::{lane_of, lane_value};
pub use words::{C_WORDS, CPP_WORDS, contains_word};

#[allow(unused_imports, reason = "for the documentation")]
use crate::{Code, Dialect, Expressions};
