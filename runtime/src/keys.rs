//! Thread-specific data: one key is ours and stays hidden.
