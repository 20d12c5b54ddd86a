//! A family as a tree: arranged without recursion, whatever its shape (SPEC 7).
