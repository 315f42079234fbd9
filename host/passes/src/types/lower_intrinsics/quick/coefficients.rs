//! Polynomials, highest power first, and constants in parts: written by `tools/fit.py`, not by
//! hand.
#![expect(clippy::unreadable_literal, clippy::excessive_precision, reason = "written by a program")]

/// (e^r - 1) / r, for |r| up to ln(2) / 2; within 2^-28.9, rounded 2^-25.7.
pub(super) const EXP: &[f32] = &[0.00138435047, 0.00837431476, 0.0416680127, 0.166664287, 0.49999994, 1.0];
/// (e^r - 1 - r) / r^2, for |r| up to ln(2) / 2; within 2^-26.2, rounded 2^-25.8.
pub(super) const EXPM1: &[f32] = &[0.00138824922, 0.00836664625, 0.0416672044, 0.16666542, 0.49999997];
/// (2^r - 1) / r, for |r| up to 1/2; within 2^-34.3, rounded 2^-29.0.
pub(super) const EXP2: &[f32] =
    &[1.53149249e-05, 0.000154671099, 0.0013333431, 0.00961803738, 0.0555041097, 0.240226507, 0.693147182];
/// (10^r - 1) / r, for |r| up to log10(2) / 2; within 2^-34.3, rounded 2^-27.0.
pub(super) const EXP10: &[f32] =
    &[0.068366982, 0.207850173, 0.539377809, 1.17124391, 2.0346787, 2.650949, 2.30258512];
/// erf(x) / x - 1 by x^2, for x up to 5/4; within 2^-29.9, rounded 2^-26.2.
pub(super) const ERF_NEAR: &[f32] = &[
    -7.57296584e-06,
    0.000103938779,
    -0.000833957049,
    0.00520901615,
    -0.0268602483,
    0.112836748,
    -0.376126289,
    0.128379166,
];
/// the eighth root of erfc(x), for x from 5/4 to 4; within 2^-28.6, rounded 2^-24.1.
pub(super) const ERF_FAR: &[f32] =
    &[0.000172041677, -0.00271496549, 0.0140330996, -0.0139899552, -0.0580108985, -0.147398025, 1.00149047];
/// (ln(1 + f) - f + f^2 / 2) / f^3, for 1 + f between the roots of 1/2 and 2; within 2^-27.3,
/// rounded 2^-27.3.
pub(super) const LOG: &[f32] = &[
    -0.0763604194,
    0.12761949,
    -0.131597206,
    0.142016664,
    -0.166234016,
    0.200012341,
    -0.250008196,
    0.333333313,
];
/// (log2(1 + f) - f / ln 2) / f^2, for 1 + f between the roots of 1/2 and 2; within 2^-27.9,
/// rounded 2^-26.5.
pub(super) const LOG2: &[f32] = &[
    -0.10996522,
    0.186173394,
    -0.19105421,
    0.20460017,
    -0.239618614,
    0.288567513,
    -0.360696584,
    0.480898231,
    -0.721347332,
];
/// (log10(1 + f) - f / ln 10) / f^2, for 1 + f between the roots of 1/2 and 2; within 2^-27.9,
/// rounded 2^-26.6.
pub(super) const LOG10: &[f32] = &[
    -0.0331021771,
    0.0560439527,
    -0.0575134307,
    0.0615907796,
    -0.0721323341,
    0.086867474,
    -0.108580492,
    0.144764796,
    -0.217147186,
];
