//! The list of all conformance cases. The number of a case never changes. A new case gets the next
//! number of its group.

use std::fmt;

use super::scene::Scene;

mod append;
mod attachments;
mod calls;
mod capability;
mod content;
mod create;
mod cut;
mod delete;
mod detach;
mod durable;
mod durable_feed;
mod feed;
mod following;
mod hostile;
mod label;
mod lease;
mod lineage;
mod list;
mod loss;
mod maintenance;
mod needs;
mod operations;
mod processes;
mod race;
mod read;
mod redact;
mod redact_durable;
mod redact_maintenance;
mod redact_operations;
mod redact_sources;
mod shared_attachments;
mod shared_feed;
mod shared_operations;
mod size;
mod sources;
mod transaction;
mod transaction_attachments;
mod trash;
mod unfinished_line;
mod verbatim;
mod verify;

pub use capability::Capability;

use super::machine;

/// A conformance test: one requirement of the store contract, checked on any store implementation.
#[derive(Debug)]
pub struct Case {
    /// The number of the conformance test. It never changes.
    pub number: u16,
    /// The group to which the conformance test belongs.
    pub group: &'static str,
    /// The requirement that the conformance test checks, as an identifier.
    pub name: &'static str,
    /// The part of the store contract that the conformance test needs. A store that lacks an
    /// optional part skips the test.
    pub needs: Capability,
    /// The function that runs the conformance test. It panics if the store violates the
    /// requirement.
    pub run: fn(&mut Scene<'_>),
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}::{}", self.group, self.name)
    }
}

/// Returns the number of the conformance test called `name`.
fn number(name: &str) -> u16 {
    CASES.iter().find(|case| case.name == name).map(|case| case.number).expect("a listed case")
}

/// Calls the macro `$then` of this crate with `$first` and the list of all conformance tests as
/// arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __forklore_cases {
    ($then:ident $first:tt) => {
        $crate::$then! { $first
            base create {
                101 an_empty_root_has_no_events
                102 events_come_back_in_order_with_their_origin
                103 the_header_has_what_was_given
                104 an_id_in_use_is_refused
                105 ids_that_differ_in_case_are_one
                106 an_id_spelt_in_another_case_names_nothing
                107 a_deleted_id_is_never_used_again
                108 a_missing_parent_is_not_found
                109 a_deleted_parent_is_reported
                110 a_refused_create_leaves_nothing
                111 a_kind_without_its_parent_is_refused
                112 the_cut_is_stored_as_given
            }
            base read {
                201 three_generations
                202 every_query_agrees_with_the_whole_log
                203 a_page_says_whether_more_follow
                204 a_bare_page_leaves_out_only_data
                205 nothing_is_read_at_a_position_that_does_not_exist
                206 a_seq_behind_the_head_begins_at_the_head_backward
                207 an_id_that_recurs_is_found_each_time
                208 counts_are_those_of_the_history_so_far
            }
            base cut {
                301 a_fork_keeps_what_stands_before_the_cut
                302 a_cut_behind_the_end_is_refused
                303 usage_behind_the_last_message_changes_nothing
                304 a_cut_at_the_start_keeps_nothing
                305 every_cut_keeps_its_prefix
                306 every_cut_inside_an_ancestors_part_keeps_its_prefix
                307 index_and_turn_are_the_same_in_parent_and_child
                308 a_turn_goes_on_through_its_calls
                309 nothing_behind_the_cut_reaches_the_child
            }
            base content {
                401 a_child_begins_with_its_session_fork
                402 audit_and_lineage_are_not_inherited
                403 a_compaction_is_inherited_as_it_was_written
                404 evidence_is_inherited
                405 the_class_given_when_stored_stays
                406 dialect_and_type_come_back
                407 share_and_copy_read_the_same
                408 children_of_share_and_copy_read_the_same
                409 a_parents_events_never_change
                410 a_fork_is_not_billed_for_its_parents_usage
            }
            base calls {
                501 open_calls_are_counted
                502 a_real_user_message_gives_open_calls_up
                503 a_call_made_twice_is_open_once
                504 calls_and_answers_come_back
                505 calls_left_open_by_the_cut_are_open_in_the_child
                506 a_late_result_in_the_parent_never_reaches_the_child
                507 open_calls_go_on_through_a_fork_of_a_fork
            }
            base lineage {
                601 a_child_holds_its_parent_and_time
                602 root_and_depth_over_three_levels
                603 a_fork_of_a_fork_loads_the_middle
                604 origins_name_who_wrote_each_event
                605 a_delegate_inherits_nothing
                606 delegates_are_distinguished_from_branches
                607 a_delegates_cut_must_be_there_too
                608 a_child_continues_its_own_numbers
                609 a_chain_of_empty_forks_loads
                610 a_deep_chain_loads_every_part
            }
            base append {
                701 events_go_behind_the_head
                702 a_wrong_head_is_refused_with_the_real_one
                703 the_right_head_is_accepted
                704 a_refused_batch_leaves_nothing
                705 a_repeated_append_is_harmless
                706 a_repetition_is_recognised_after_others_wrote
                707 a_repetition_is_recognised_in_a_child
                708 what_is_not_quite_a_repetition_conflicts
                709 the_beginning_of_a_batch_is_a_repetition_too
                710 without_an_expectation_nothing_is_a_repetition
                711 an_append_of_nothing_is_refused
                712 an_append_to_nobody_makes_nobody
                713 siblings_and_parents_do_not_see_it
                714 the_header_adds_everything_up
                715 inherited_events_are_no_repetition
            }
            base lease {
                801 a_lease_says_where_the_turn_began
                802 renewing_keeps_where_the_turn_began
                803 others_may_not_write_while_it_is_leased
                804 an_expired_lease_holds_nobody_off
                805 a_lease_ends_at_the_moment_it_names
                806 taking_it_again_begins_a_turn
                807 release_gives_it_back
                808 reading_fork_label_and_detach_work_while_leased
                809 a_leased_session_is_not_deleted
                810 a_repetition_needs_no_lease
                811 a_child_does_not_inherit_the_lease
                812 a_writer_whose_clock_is_a_day_wrong_keeps_and_breaks_no_lease
                813 no_lease_is_longer_than_a_day
                814 nothing_is_recorded_as_later_than_the_stores_time
                815 the_lease_of_a_process_that_is_gone_holds_nobody_off
            }
            base label {
                901 a_label_in_use_refuses_a_fork
                902 another_family_may_use_the_same_label
                903 a_session_gets_another_label
                904 a_label_in_use_refuses_a_change
                905 a_deleted_session_frees_its_label
                906 nobody_has_no_label_to_change
                907 title_and_leaf_are_set_and_cleared
            }
            base list {
                1001 the_last_updated_comes_first_then_the_id
                1002 an_append_moves_a_session_to_the_front
                1003 pages_of_any_size_make_the_same_list
                1004 a_cursor_outlives_its_session
                1005 each_filter_finds_its_sessions
                1006 filters_add_up
                1007 a_part_of_an_id_is_no_pattern
                1008 workspaces_that_look_alike_stay_apart
                1009 deleted_sessions_are_listed_on_request
                1010 a_list_gives_whole_headers
                1011 titles_are_found_by_their_beginning
            }
            base delete {
                1101 branch_children_refuse_it
                1102 a_copied_child_refuses_it_too
                1103 twenty_children_are_named_and_all_counted
                1104 a_delegate_does_not_refuse_it
                1105 children_deleted_with_it_do_not_refuse_it
                1106 a_deleted_child_does_not_refuse_it
                1107 children_and_grandchildren_load_afterwards
                1108 survivors_go_on_as_before
                1109 a_tombstone_retains_its_lineage_and_cost
                1110 a_deleted_session_answers_nothing
                1111 deleting_again_is_harmless
                1112 one_refusal_leaves_all_of_them
                1113 segments_that_others_need_are_counted
                1114 a_copys_prefix_is_a_segment_of_its_own
                1115 a_chain_can_go_root_first
                1116 one_leased_session_refuses_the_whole_set
            }
            base detach {
                1201 every_read_stays_the_same
                1202 a_detached_child_does_not_refuse_a_delete
                1203 a_detached_child_alone_needs_nothing
                1204 a_second_detach_copies_nothing
                1205 an_empty_prefix_is_detached_too
                1206 a_copy_is_detached_without_copying
                1207 a_detached_session_goes_on
                1208 children_from_before_and_after_it_load
            }
            base verify {
                1301 an_empty_store_is_sound
                1302 shared_events_count_once
                1303 copied_events_count_again
                1304 one_session_is_read_whole
                1305 nobody_cannot_be_verified
            }
            base verbatim {
                1401 numbers_come_back_as_written
                1402 keys_come_back_in_order_with_duplicates
                1403 strings_come_back_with_their_escapes
                1404 any_json_value_is_a_payload
                1405 any_depth_is_stored
                1406 a_megabyte_comes_back
                1407 the_largest_event_comes_back
                1408 moments_come_back_to_the_microsecond
                1409 headers_come_back_with_exact_times
            }
            base hostile {
                1501 strange_ids_are_just_ids
                1502 ids_that_look_alike_stay_apart
                1503 event_ids_are_stored_as_they_are
                1504 header_texts_are_stored_as_they_are
                1505 owners_of_leases_are_stored_as_they_are
                1506 labels_may_be_in_any_script
                1507 types_and_dialects_are_stored_as_they_are
            }
            base size {
                1601 ten_one_turn_forks_add_ten_turns
                1602 a_batch_of_ten_thousand_events
                1603 many_small_appends_make_one_log
                1604 three_hundred_siblings
            }
            base race {
                1701 of_two_appends_at_one_head_one_wins
                1702 appends_without_expectation_are_all_there
                1703 of_two_equal_appends_one_is_the_repetition
                1704 of_two_creates_of_one_id_one_wins
                1705 of_two_equal_labels_one_wins
                1706 of_two_runtimes_one_gets_the_lease
                1707 a_fork_and_a_delete_of_its_parent
                1708 a_fork_and_a_delete_that_keeps_children
                1709 an_append_during_a_detach
                1710 a_detach_and_a_delete_of_the_parent
                1711 an_append_and_a_delete
                1712 readers_see_whole_batches
                1713 a_detach_and_a_delete_of_the_same
            }
            maintenance maintenance {
                1801 gc_changes_no_answer
                1802 gc_gives_back_a_deleted_session
                1803 gc_gives_back_what_stands_behind_the_last_cut
                1804 gc_keeps_what_a_grandchild_needs
                1805 a_second_gc_finds_nothing
                1806 a_pack_changes_no_answer
                1807 a_second_pack_finds_nothing
                1808 what_is_in_use_is_not_packed
                1809 gc_leaves_the_trash_alone
                1810 gc_gives_back_what_was_erased_from_the_trash
            }
            durable durable {
                1901 everything_is_there_again
                1902 a_session_goes_on_where_it_was
                1903 a_deleted_id_stays_in_use
                1904 a_repetition_is_recognised_after_reopening
                1905 a_fork_after_a_compaction_is_complete
                1906 retained_segments_outlive_a_reopening
                1907 a_second_handle_sees_every_write_at_once
                1908 two_handles_lose_none_of_each_others_appends
                1909 histories_agree_over_reopening
                1910 the_trash_outlives_a_reopening
            }
            processes processes {
                2001 appends_of_all_processes_are_there
                2002 a_process_that_was_too_late_tries_again
                2003 one_of_many_processes_makes_the_child
                2004 processes_fork_while_another_writes
            }
            base machine {
                2101 histories_agree_with_a_plain_model
                2102 racing_pairs_agree_with_one_of_both_orders
            }
            attachments attachments {
                2201 bytes_come_back
                2202 no_bytes_are_an_attachment_too
                2203 the_same_bytes_are_stored_once
                2204 a_long_one_comes_back_whole
                2205 one_byte_too_many_is_refused_and_leaves_nothing
                2206 a_reader_that_fails_leaves_nothing
                2207 what_was_never_put_is_not_there
                2208 a_list_tells_all_of_them_in_order
                2209 a_sweep_removes_what_was_listed_and_nothing_else
                2210 a_sweep_spares_what_is_pinned
                2211 a_sweep_spares_what_was_put_again_since
                2212 a_sweep_spares_what_was_pinned_since
                2213 threads_that_put_the_same_bytes_store_them_once
                2214 a_put_that_races_with_a_sweep_keeps_its_bytes
            }
            shared_attachments shared_attachments {
                2301 every_attachment_is_there_again
                2302 processes_that_put_the_same_bytes_store_them_once
                2303 a_put_that_is_killed_leaves_nothing_under_a_name
                2304 what_another_process_holds_is_not_swept
            }
            base feed {
                2401 a_reader_that_begins_gets_every_living_session_once
                2402 a_mark_of_now_shows_nothing_that_was_before
                2403 each_write_is_reported_as_what_it_was
                2404 many_commits_of_a_session_come_as_one_change
                2405 sessions_come_in_the_order_of_their_last_commits
                2406 pages_of_any_size_lead_through_every_change
                2407 what_is_written_between_two_pages_is_not_left_out
                2408 a_session_made_while_a_reader_turns_pages_is_reported_as_made
                2409 a_fork_is_reported_and_its_parent_is_not
                2410 labels_titles_leases_and_detaches_are_changes
                2411 deletes_and_a_gc_are_seen_after_a_long_absence
                2412 a_refused_write_is_not_reported_as_done
                2413 a_mark_of_another_store_is_refused
                2414 a_wait_that_is_over_comes_back_empty
                2415 a_wait_ends_with_the_next_commit
                2416 eight_writers_are_seen_each_in_its_order
            }
            durable durable_feed {
                2501 a_mark_outlives_the_closing_of_the_store
                2502 another_handle_goes_on_from_the_same_mark
                2503 a_wait_ends_with_a_commit_of_another_handle
                2504 writers_of_two_handles_leave_no_gap
                2505 a_feed_whose_store_is_deleted_ends
            }
            processes shared_feed {
                2601 a_wait_ends_with_a_commit_of_another_process
                2602 another_process_reads_on_from_a_stored_mark
                2603 writers_of_many_processes_leave_no_gap
                2604 a_killed_writer_leaves_no_gap
            }
            sources sources {
                2701 a_step_writes_everything
                2702 a_refused_step_leaves_nothing
                2703 a_stale_step_is_refused
                2704 the_later_record_counts
                2705 records_of_many_steps_are_found
                2706 a_source_is_found_by_its_names
                2707 a_copy_is_linked
                2708 a_delete_erases_stored_bytes
                2709 a_sidecar_is_found
                2710 a_delete_erases_sidecars
                2711 no_sidecar_is_stored_for_a_deleted_session
                2712 what_a_step_writes_is_in_the_feed
                2713 spans_of_an_earlier_revision_come_back
                2714 a_delete_leaves_spans_that_refer_to_the_session
                2715 the_latest_source_comes_first
                2716 the_trash_retains_stored_bytes
            }
            sources unfinished_line {
                2751 an_unfinished_last_line_comes_back_until_it_is_erased
            }
            base transaction {
                2801 writes_of_several_families_are_one_step
                2802 each_write_sees_those_before_it
                2803 a_refused_write_leaves_nothing_of_the_others
                2804 what_was_rolled_back_can_be_done_again
                2805 a_copy_and_its_original_are_made_together
                2806 a_repetition_is_recognised_among_other_writes
                2807 an_empty_transaction_does_nothing
                2808 several_transactions_succeed_or_fail_each_for_itself
            }
            attachments transaction_attachments {
                2901 a_write_that_names_a_missing_attachment_is_refused
            }
            loss loss {
                3001 children_that_need_no_ancestor_lose_nothing
                3002 a_lost_parent_never_makes_a_shorter_history
                3003 a_lost_root_and_parent_still_have_their_family
                3004 a_deleted_child_of_a_lost_root_stays_deleted
            }
            base trash {
                3101 what_is_in_the_trash_answers_nothing
                3102 it_comes_back_as_it_was
                3103 a_label_in_use_refuses_it
                3104 a_child_comes_back_without_its_parent
                3105 it_retains_what_it_inherits
                3106 copies_and_detached_sessions_come_back
                3107 it_can_be_erased
                3108 only_what_is_old_enough_expires
                3109 doing_it_again_is_harmless
                3110 children_and_leases_refuse_it
                3111 several_come_back_in_one_step
                3112 the_trash_is_listed
                3113 the_feed_shows_it_removed_and_created
            }
            operations operations {
                3201 each_write_is_recorded_with_what_it_replaced
                3202 what_changes_nothing_is_not_recorded
                3203 a_refused_transaction_is_not_recorded
                3204 pages_lead_from_the_newest_to_the_oldest
                3205 a_later_transaction_continues_an_operation
                3206 what_is_expected_must_be_as_it_was
                3207 an_undo_marks_what_it_undoes
                3208 an_erasure_erases_names
                3209 a_step_of_an_import_is_recorded
                3210 a_new_session_has_no_other_outcome
            }
            shared_operations shared_operations {
                3301 operations_outlive_a_reopening
                3302 processes_give_each_operation_a_number_of_its_own
            }
            base redact {
                3401 all_but_the_payload_stays
                3402 every_fork_and_copy_shows_it
                3403 each_position_of_a_long_log_can_be_redacted
                3404 redacting_again_changes_nothing
                3405 a_leased_writer_refuses_it
                3406 what_is_not_the_event_that_was_read_is_refused
                3407 what_an_erased_session_wrote_can_be_redacted
                3408 titles_go
                3409 the_feed_reports_it_as_created
                3410 redacted_events_are_listed
                3411 a_repeated_append_is_still_recognised
                3412 what_was_erased_stays_erased
            }
            maintenance redact_maintenance {
                3421 gc_gives_back_what_was_redacted
            }
            durable redact_durable {
                3431 it_outlives_a_reopening
            }
            sources redact_sources {
                3441 stored_bytes_of_files_go
            }
            operations redact_operations {
                3451 it_is_recorded_and_names_are_forgotten
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __forklore_list {
    ([] $($need:ident $group:ident { $($number:literal $name:ident)* })*) => {
        /// All conformance tests, ordered by group and number.
        pub const CASES: &[Case] = &[$($(Case {
            number: $number,
            group: stringify!($group),
            name: stringify!($name),
            needs: needs::$need,
            run: |scene| $group::$name(scene),
        }),*),*];
    };
}

crate::__forklore_cases! { __forklore_list [] }
