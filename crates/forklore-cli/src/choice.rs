//! Arguments that accept one of a few words.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Returns a parser that accepts one of these words; the help shows them.
pub(crate) fn choice<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: std::error::Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse::<T>())
}
