//! Rules of the house that a test can keep: see `tests/`.
