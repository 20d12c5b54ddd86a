//! The limits of what a caller puts into the header of a session.

use forklore_core::Data;
use forklore_core::limits::{METADATA_BYTES, PRINCIPAL_BYTES, TITLE_BYTES};

use crate::{Error, Result};

/// The fields of a header that a caller sets and whose length is limited.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limited<'a> {
    pub(crate) title: Option<&'a str>,
    pub(crate) principal: Option<&'a str>,
    pub(crate) metadata: Option<&'a Data>,
    pub(crate) config: Option<&'a Data>,
}

impl Limited<'_> {
    /// Checks the length of each field (docs/semantics.md, Limits).
    ///
    /// # Errors
    /// `invalid_args` with the name of the first field that is too long.
    pub(crate) fn check(self) -> Result<()> {
        let data = |data: Option<&Data>| data.map_or(0, |data| data.get().len());
        for (what, bytes, most) in [
            ("title", self.title.map_or(0, str::len), TITLE_BYTES),
            ("principal", self.principal.map_or(0, str::len), PRINCIPAL_BYTES),
            ("metadata", data(self.metadata), METADATA_BYTES),
            ("config", data(self.config), METADATA_BYTES),
        ] {
            if bytes > most {
                let message = format!("the {what} is longer than {most} bytes");
                return Err(Error::invalid("too_long", message));
            }
        }
        Ok(())
    }
}
