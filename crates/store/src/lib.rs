//! What outlives a run: keys, secrets, audit, consent. SQLite files in one data folder.
