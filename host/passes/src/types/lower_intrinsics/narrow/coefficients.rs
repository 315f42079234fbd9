//! Polynomials, highest power first, and constants in parts: written by `tools/fit.py`, not by
//! hand.
#![expect(clippy::unreadable_literal, clippy::excessive_precision, reason = "written by a program")]

/// (2^r - 1) / r, for |r| up to 1/2; within 2^-34.3, rounded 2^-29.0.
pub(super) const EXP2: &[f32] =
    &[1.53149249e-05, 0.000154671099, 0.0013333431, 0.00961803738, 0.0555041097, 0.240226507, 0.693147182];
/// (10^r - 1) / r, for |r| up to log10(2) / 2; within 2^-34.3, rounded 2^-27.0.
pub(super) const EXP10: &[f32] =
    &[0.068366982, 0.207850173, 0.539377809, 1.17124391, 2.0346787, 2.650949, 2.30258512];
/// (2 atanh(s) / s - 2) / s^2 by s^2, for s up to 3 - sqrt(8); within 2^-36.6, rounded 2^-30.1.
pub(super) const LOG: &[f32] = &[0.235790879, 0.285374939, 0.400003314, 0.666666627];
/// erf(x) / x - 1 by x^2, for x up to 1; within 2^-34.8, rounded 2^-27.1.
pub(super) const ERF_NEAR: &[f32] = &[
    -9.68013956e-06,
    0.000112705464,
    -0.000848471187,
    0.00522107491,
    -0.0268654451,
    0.112837829,
    -0.376126379,
    0.128379166,
];
/// log2(erfc(x)), for x from 1 to 4; within 2^-37.3, rounded 2^-28.2.
pub(super) const ERF_FAR: &[f32] = &[
    1.13165061e-06,
    -1.79628187e-05,
    9.28061199e-05,
    0.000146883947,
    -0.00484803179,
    0.0343891196,
    -0.154313147,
    -0.914951384,
    -1.62909687,
    0.000180774179,
];
/// (sin(x) / x - 1) / x^2 by x^2, for x up to pi / 4; within 2^-37.6, rounded 2^-28.2.
pub(super) const SIN: &[f32] = &[2.71831595e-06, -0.000198393347, 0.00833332911, -0.166666672];
/// (cos(x) - 1 + x^2 / 2) / x^4 by x^2, for x up to pi / 4; within 2^-33.3, rounded 2^-30.8.
pub(super) const COS: &[f32] = &[2.44385647e-05, -0.00138873688, 0.0416666456];
/// (atan(t) / t - 1) / t^2 by t^2, for t up to tan(pi / 8); within 2^-35.4, rounded 2^-29.0.
pub(super) const ATAN: &[f32] =
    &[0.0474929214, -0.0847894922, 0.110452034, -0.142820522, 0.199999049, -0.333333313];
/// (asin(s) / s - 1) / s^2 by s^2, for s up to 1/2; within 2^-31.7, rounded 2^-30.3.
pub(super) const ASIN: &[f32] =
    &[0.0375565439, 0.0144093875, 0.0318156034, 0.0445159972, 0.0750050917, 0.166666597];
/// (sinh(x) / x - 1) / x^2 by x^2, for x up to 1; within 2^-34.0, rounded 2^-27.2.
pub(super) const SINH: &[f32] = &[2.81743451e-06, 0.000198360678, 0.00833335053, 0.166666672];
