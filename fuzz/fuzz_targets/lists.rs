//! Fuzzes lists of spans and of ranges. Any bytes must be refused, or decode to a list that is the
//! same after it is encoded and decoded again.
#![no_main]

use forklore::core::lineage;
use forklore::store::sources;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    if kind % 2 == 0 {
        if let Ok(spans) = lineage::decode(bytes) {
            let again = lineage::decode(&lineage::encode(&spans)).expect("what was written");
            assert_eq!(again, spans);
        }
    } else if let Ok(ranges) = sources::decode(bytes) {
        let again = sources::decode(&sources::encode(&ranges)).expect("what was written");
        assert_eq!(again, ranges);
    }
});
