//! Random histories, compared with a plain model after every step.

use super::scene::Scene;

pub(super) fn histories_agree_with_a_plain_model(_scene: &Scene<'_>) {}

pub(super) fn racing_pairs_agree_with_one_of_both_orders(_scene: &Scene<'_>) {}
