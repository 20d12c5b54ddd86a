//! What reaches a terminal, and what reaches a pipe.
