//! Recipes: plain data from which a program follows. Every recipe makes a well-formed program, so a shrunk one does too;
//! numbers that pick something are taken modulo how much there is.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::Config;

/// A program.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    /// The first size.
    pub(crate) n: usize,
    /// Whether it is symbolic.
    pub(crate) symbolic: bool,
    /// The second size, constant.
    pub(crate) m: usize,
    pub(crate) inputs: Vec<Input>,
    /// A number that is passed, and its type.
    pub(crate) scalar: Option<(u8, Raw)>,
    /// What is computed, one tensor after the other.
    pub(crate) stages: Vec<Stage>,
}

/// A tensor that is read.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) dtype: u8,
    pub(crate) shape: Shape,
    /// Its elements, over and over.
    pub(crate) values: Vec<Raw>,
}

/// The axes of a tensor: of the first size, the second, both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    N,
    M,
    NM,
}

/// A value of an input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Raw {
    Number(i16),
    Special(u8),
}

/// One tensor computed from those before it.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub(crate) dtype: u8,
    /// Whether it is a parameter, else allocated. The last one always is.
    pub(crate) is_output: bool,
    pub(crate) form: Form,
    pub(crate) loops: Loops,
}

#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Each element by itself.
    Map { shape: Shape, body: Body },
    /// Over one axis of two; `over_first` says which.
    Reduce { over_first: bool, op: u8, value: E, reduce_outside: bool },
}

/// How the loops run.
#[derive(Clone, Debug)]
pub(crate) struct Loops {
    /// Whether the body stands in a block.
    pub(crate) block: bool,
    /// Whether the first axis is cut into tiles, under a predicate.
    pub(crate) tile: bool,
    /// Kinds of the loops.
    pub(crate) kinds: [u8; 2],
}

/// What happens for an element.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    Store(E),
    /// One store on each side.
    If(Condition, E, E),
    /// A store, and another on top.
    Over(E, Condition, E),
    /// A name for a value, known in the next.
    Bind(E, E),
    /// A buffer of one element, set twice.
    Local(E, E, E),
    /// `times` rounds on a buffer of one element.
    While {
        times: u8,
        start: E,
        round: E,
        stop: Option<Condition>,
    },
}

/// A comparison of two values of a type, or two of them.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) op: u8,
    pub(crate) dtype: u8,
    pub(crate) sides: Box<[E; 2]>,
    pub(crate) also: Option<Box<(bool, Condition)>>,
}

/// A value of whatever type is wanted.
#[derive(Clone, Debug)]
pub(crate) enum E {
    Constant(i8),
    Leaf(u8),
    Binary(u8, Box<[E; 2]>),
    Unary(u8, Box<E>),
    Select(Condition, Box<[E; 2]>),
    Lazy(Condition, Box<[E; 2]>),
    Cast(u8, Box<E>),
    Let(u8, Box<[E; 2]>),
    Gather(u8, Box<E>),
}

fn raw(special: bool) -> BoxedStrategy<Raw> {
    let number = prop_oneof![4 => -64_i16..64, 1 => any::<i16>()].prop_map(Raw::Number);
    if special {
        prop_oneof![12 => number, 1 => (0_u8..10).prop_map(Raw::Special)].boxed()
    } else {
        number.boxed()
    }
}

fn condition(inner: impl Strategy<Value = E> + Clone + 'static) -> impl Strategy<Value = Condition> + Clone {
    let one = (any::<u8>(), any::<u8>(), [inner.clone(), inner]).prop_map(|(op, dtype, sides)| Condition {
        op,
        dtype,
        sides: Box::new(sides),
        also: None,
    });
    let also = (any::<bool>(), one.clone());
    (one, proptest::option::weighted(0.2, also))
        .prop_map(|(first, also)| Condition { also: also.map(Box::new), ..first })
}

fn value() -> BoxedStrategy<E> {
    let leaf = prop_oneof![1 => (-3_i8..9).prop_map(E::Constant), 4 => any::<u8>().prop_map(E::Leaf)];
    leaf.prop_recursive(4, 14, 2, |inner| {
        let two = [inner.clone(), inner.clone()];
        prop_oneof![
            6 => (any::<u8>(), two.clone()).prop_map(|(op, two)| E::Binary(op, two.into())),
            3 => (any::<u8>(), inner.clone()).prop_map(|(op, one)| E::Unary(op, one.into())),
            1 => (condition(inner.clone()), two.clone()).prop_map(|(c, two)| E::Select(c, two.into())),
            1 => (condition(inner.clone()), two.clone()).prop_map(|(c, two)| E::Lazy(c, two.into())),
            2 => (any::<u8>(), inner.clone()).prop_map(|(from, one)| E::Cast(from, one.into())),
            1 => (any::<u8>(), two).prop_map(|(dtype, two)| E::Let(dtype, two.into())),
            1 => (any::<u8>(), inner).prop_map(|(from, one)| E::Gather(from, one.into())),
        ]
    })
    .boxed()
}

fn body(config: &Config) -> BoxedStrategy<Body> {
    let e = value;
    let rounds = if config.while_loops { 2 } else { 0 };
    prop_oneof![
        6 => e().prop_map(Body::Store),
        1 => (condition(e()), e(), e()).prop_map(|(c, a, b)| Body::If(c, a, b)),
        1 => (e(), condition(e()), e()).prop_map(|(a, c, b)| Body::Over(a, c, b)),
        1 => (e(), e()).prop_map(|(a, b)| Body::Bind(a, b)),
        1 => (e(), e(), e()).prop_map(|(a, b, c)| Body::Local(a, b, c)),
        rounds => (0_u8..4, e(), e(), proptest::option::weighted(0.3, condition(e())))
            .prop_map(|(times, start, round, stop)| Body::While { times, start, round, stop }),
    ]
    .boxed()
}

fn shape() -> impl Strategy<Value = Shape> {
    prop::sample::select(vec![Shape::N, Shape::M, Shape::NM])
}

fn stage(config: &Config) -> impl Strategy<Value = Stage> + use<> {
    let map = (shape(), body(config)).prop_map(|(shape, body)| Form::Map { shape, body });
    let reduce = (any::<bool>(), any::<u8>(), value(), any::<bool>()).prop_map(
        |(over_first, op, value, reduce_outside)| Form::Reduce { over_first, op, value, reduce_outside },
    );
    let loops = (any::<bool>(), any::<bool>(), any::<[u8; 2]>()).prop_map(|(block, tile, kinds)| Loops {
        block,
        tile,
        kinds,
    });
    (any::<u8>(), any::<bool>(), prop_oneof![2 => map, 1 => reduce], loops)
        .prop_map(|(dtype, is_output, form, loops)| Stage { dtype, is_output, form, loops })
}

pub(crate) fn recipe(config: &Config) -> impl Strategy<Value = Recipe> + use<> {
    let input = (any::<u8>(), shape(), vec(raw(config.special_values), 1..9))
        .prop_map(|(dtype, shape, values)| Input { dtype, shape, values });
    let symbolic = if config.symbolic { any::<bool>().boxed() } else { Just(false).boxed() };
    let scalar = proptest::option::weighted(0.3, (any::<u8>(), raw(false)));
    (0_usize..10, symbolic, 1_usize..9, vec(input, 1..4), scalar, vec(stage(config), 1..4)).prop_map(
        |(n, symbolic, m, inputs, scalar, stages)| Recipe { n, symbolic, m, inputs, scalar, stages },
    )
}
