//! What a store must be able to do for a group of cases, under the name that the list of cases gives it.
#![allow(non_upper_case_globals, reason = "named as the list of cases names them")]

use super::Capability;

pub(super) const base: Capability = Capability::Base;
pub(super) const durable: Capability = Capability::Durable;
pub(super) const processes: Capability = Capability::Processes;
pub(super) const maintenance: Capability = Capability::Maintenance;
pub(super) const sources: Capability = Capability::Sources;
pub(super) const attachments: Capability = Capability::Attachments;
pub(super) const shared_attachments: Capability = Capability::SharedAttachments;
pub(super) const loss: Capability = Capability::Loss;
pub(super) const operations: Capability = Capability::Operations;
pub(super) const shared_operations: Capability = Capability::SharedOperations;
