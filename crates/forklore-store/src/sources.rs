//! Files of other agents from which sessions were read (SPEC 11).
