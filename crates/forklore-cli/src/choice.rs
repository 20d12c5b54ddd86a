//! Arguments that are one of a few words.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// One of a few words, each shown in the help.
pub(crate) fn choice<T>(words: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err: std::error::Error + Send + Sync> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(words).try_map(|word| word.parse::<T>())
}
