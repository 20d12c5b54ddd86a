//! Parses arguments that accept one of a few values.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Returns a parser that accepts only the values in `words`. The help lists these values.
pub(crate) fn choice<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: std::error::Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse::<T>())
}
