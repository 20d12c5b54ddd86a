//! An event as a value of an answer or of a stream.

use forklore::Error;
use forklore::store::port::LogEntry;
use forklore_core::{Data, Header, envelope};

/// Returns an event as `log` prints it, with its payload as it was stored.
pub(crate) fn line(header: &Header, entry: &LogEntry) -> Result<Data, Error> {
    let origin = (entry.origin.session_id != header.id).then_some(&entry.origin);
    let mut bytes = Vec::new();
    envelope::write_envelope(&mut bytes, header, entry.seq, origin, &entry.event)
        .map_err(|source| Error::io("writing an event", source))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::io("writing an event", std::io::Error::new(std::io::ErrorKind::InvalidData, error))
    })?;
    Ok(Data::from_checked(text))
}
