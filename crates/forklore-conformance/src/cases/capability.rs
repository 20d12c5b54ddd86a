//! The parts of the store contract that conformance tests need.

use crate::factory::TestStore;

/// A part of the store contract that conformance tests need. All parts except `Base` are optional
/// for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// The part of the contract that every store must fulfil.
    Base,
    /// Data persists when the store is reopened, and two handles on the store may be open at once.
    Durable,
    /// Several processes may use the store at once.
    Processes,
    /// The store frees the space of deleted data.
    Maintenance,
    /// The store records the sources of imported sessions, i.e. the files from which they were
    /// read.
    Sources,
    /// The store offers attachments: bytes that messages name by their sha256.
    Attachments,
    /// The store's attachments persist when it is reopened. Several processes may store the same
    /// attachment at once.
    SharedAttachments,
    /// The store records operations, so that they can be undone.
    Operations,
    /// The store's log of operations persists when it is reopened, and several processes may write
    /// it at once.
    SharedOperations,
    /// The test can remove a session from the open store without the store noticing, as a damaged
    /// disk may do.
    Loss,
}

impl Capability {
    /// Returns the name of the capability, as it is written in a call of the macro `suite!`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Durable => "durable",
            Self::Processes => "processes",
            Self::Maintenance => "maintenance",
            Self::Sources => "sources",
            Self::Attachments => "attachments",
            Self::SharedAttachments => "shared_attachments",
            Self::Operations => "operations",
            Self::SharedOperations => "shared_operations",
            Self::Loss => "loss",
        }
    }
}

impl Capability {
    /// Checks whether the store at this location offers this capability. The location itself says
    /// whether it offers `Loss`. The store reports all others.
    #[must_use]
    pub fn is_offered(self, test_store: &dyn TestStore) -> bool {
        let reported = || test_store.open().store.capabilities();
        match self {
            Self::Base => true,
            Self::Durable => reported().durable,
            Self::Processes => reported().processes,
            Self::Maintenance => reported().maintenance,
            Self::Sources => reported().sources,
            Self::Attachments => reported().attachments,
            Self::SharedAttachments => reported().attachments && reported().processes,
            Self::Operations => reported().operations,
            Self::SharedOperations => reported().operations && reported().processes,
            Self::Loss => test_store.can_lose(),
        }
    }
}
