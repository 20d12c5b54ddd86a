//! Fuzzes rows of the SQLite store, with any values in any column and valid checksums. A row must
//! be read or refused, without a panic.
#![no_main]

use forklore_fuzz::Input;
use forklore_sqlite::fuzz::{Tables, Value};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static RECORDS: Tables = Tables::new().expect("a database in memory");
}

fuzz_target!(|bytes: &[u8]| {
    let mut input = Input(bytes);
    let table = input.byte();
    let mut values = Vec::new();
    while !input.is_empty() && values.len() < 64 {
        values.push(match input.byte() % 5 {
            0 => Value::Null,
            1 => Value::Integer(input.number()),
            2 => Value::Real(f64::from_bits(input.number().cast_unsigned())),
            3 => Value::Text(input.text()),
            _ => Value::Blob(input.bytes().to_vec()),
        });
    }
    RECORDS.with(|tables| match table % 3 {
        0 => tables.event(&values),
        1 => tables.session(&values),
        _ => tables.chunk(&values),
    });
});
