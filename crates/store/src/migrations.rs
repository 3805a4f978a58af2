//! Every table there is, and how each file came to have them. Steps are only ever added at the end.

/// What one file holds.
pub(crate) struct Schema {
    /// Its name in the data folder.
    pub(crate) file: &'static str,
    /// Each step leads from the version that is its position to the next.
    pub(crate) steps: &'static [&'static str],
}

pub(crate) const KV: Schema = Schema { file: "kv.sqlite", steps: &[KV_TABLES] };

const KV_TABLES: &str = "
        CREATE TABLE spaces (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            -- Of all entries in it, so that a quota is checked without looking at them.
            used_bytes INTEGER NOT NULL DEFAULT 0,
            -- The last version given out. It outlives entries, so no version is ever used twice.
            version INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        -- The value is last: large values run over into other pages, and lists need not read them.
        CREATE TABLE entries (
            id INTEGER PRIMARY KEY,
            space INTEGER NOT NULL REFERENCES spaces (id),
            key TEXT NOT NULL,
            version INTEGER NOT NULL,
            expires_us INTEGER,
            bytes INTEGER NOT NULL,
            metadata TEXT,
            value TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX entries_key ON entries (space, key);
        CREATE INDEX entries_expires ON entries (space, expires_us) WHERE expires_us IS NOT NULL;
    ";

/// One file for each session: its keys, and its files.
pub(crate) const SESSION: Schema = Schema {
    file: "session.sqlite",
    steps: &[
        KV_TABLES,
        "
        -- A path is its names with U+0001 between them, which no name has: so what is in a folder follows it directly.
        CREATE TABLE nodes (
            path TEXT PRIMARY KEY,
            parent TEXT NOT NULL,
            kind INTEGER NOT NULL,
            mode INTEGER NOT NULL,
            modified_us INTEGER NOT NULL,
            size INTEGER NOT NULL,
            content INTEGER,
            target TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX nodes_parent ON nodes (parent, path);
        -- What files hold or held: here where it is little, else in chunks that are kept beside.
        CREATE TABLE contents (
            id INTEGER PRIMARY KEY,
            digest BLOB NOT NULL UNIQUE,
            size INTEGER NOT NULL,
            -- How many nodes, and nodes of the past, have it.
            uses INTEGER NOT NULL,
            chunks BLOB,
            data BLOB
        ) STRICT;
        CREATE TABLE changes (
            version INTEGER PRIMARY KEY,
            at_us INTEGER NOT NULL,
            what TEXT NOT NULL
        ) STRICT;
        -- What was in a place before a change; without a kind, nothing was.
        CREATE TABLE before (
            path TEXT NOT NULL,
            version INTEGER NOT NULL REFERENCES changes (version),
            kind INTEGER,
            mode INTEGER NOT NULL,
            modified_us INTEGER NOT NULL,
            size INTEGER NOT NULL,
            content INTEGER,
            target TEXT,
            PRIMARY KEY (path, version)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX before_version ON before (version);
        CREATE TABLE totals (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            bytes INTEGER NOT NULL,
            files INTEGER NOT NULL,
            version INTEGER NOT NULL,
            -- Of what was, for the bound on history.
            before_bytes INTEGER NOT NULL
        ) STRICT;
        INSERT INTO totals VALUES (1, 0, 0, 0, 0);
        ",
    ],
};

/// Which sessions there are, and what is known of them without waking them.
pub(crate) const SESSIONS: Schema = Schema {
    file: "sessions.sqlite",
    steps: &["
        CREATE TABLE agents (
            agent TEXT PRIMARY KEY,
            description TEXT NOT NULL,
            settings TEXT NOT NULL,
            created_us INTEGER NOT NULL,
            changed_us INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE sessions (
            session TEXT PRIMARY KEY,
            agent TEXT REFERENCES agents (agent),
            settings TEXT NOT NULL,
            created_us INTEGER NOT NULL,
            used_us INTEGER NOT NULL,
            origin TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX sessions_agent ON sessions (agent, session) WHERE agent IS NOT NULL;
        CREATE TABLE snapshots (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            session TEXT NOT NULL REFERENCES sessions (session),
            snapshot TEXT NOT NULL,
            created_us INTEGER NOT NULL,
            UNIQUE (session, snapshot)
        ) STRICT;
        CREATE TABLE webhooks (
            webhook TEXT PRIMARY KEY,
            settings TEXT NOT NULL,
            created_us INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            webhook TEXT NOT NULL REFERENCES webhooks (webhook),
            event TEXT NOT NULL,
            at_us INTEGER NOT NULL,
            effect TEXT,
            body TEXT NOT NULL,
            UNIQUE (webhook, event)
        ) STRICT;
    "],
};

pub(crate) const AUDIT: Schema = Schema {
    file: "audit.sqlite",
    steps: &["
        CREATE TABLE rows (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at_us INTEGER NOT NULL,
            run TEXT NOT NULL,
            program TEXT NOT NULL,
            grant_text TEXT NOT NULL,
            what TEXT NOT NULL,
            host TEXT,
            outcome TEXT NOT NULL,
            error TEXT,
            duration_us INTEGER NOT NULL,
            bytes_out INTEGER NOT NULL,
            bytes_in INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX rows_run ON rows (run);
        CREATE INDEX rows_at ON rows (at_us);
        CREATE INDEX rows_host ON rows (host) WHERE host IS NOT NULL;
    "],
};

pub(crate) const SECRETS: Schema = Schema {
    file: "secrets.sqlite",
    steps: &["
        CREATE TABLE secrets (
            name TEXT PRIMARY KEY,
            nonce BLOB NOT NULL,
            sealed BLOB NOT NULL,
            created_us INTEGER NOT NULL,
            changed_us INTEGER NOT NULL
        ) STRICT;
        -- Something known, sealed with the key: tells a wrong key before anything is sealed with it.
        CREATE TABLE proof (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            nonce BLOB NOT NULL,
            sealed BLOB NOT NULL
        ) STRICT;
    "],
};

pub(crate) const CONSENT: Schema = Schema {
    file: "consent.sqlite",
    steps: &["
        CREATE TABLE answers (
            program TEXT NOT NULL,
            grant_text TEXT NOT NULL,
            allow INTEGER NOT NULL,
            at_us INTEGER NOT NULL,
            PRIMARY KEY (program, grant_text)
        ) STRICT;
    "],
};

pub(crate) const SNIPPETS: Schema = Schema {
    file: "snippets.sqlite",
    steps: &["
        -- What can be large is last: lists need not read it.
        CREATE TABLE snippets (
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            description TEXT NOT NULL,
            input TEXT,
            output TEXT,
            agreed INTEGER NOT NULL,
            created_us INTEGER NOT NULL,
            digest TEXT NOT NULL,
            manifest TEXT NOT NULL,
            source TEXT NOT NULL,
            PRIMARY KEY (name, version)
        ) STRICT;
    "],
};

pub(crate) const WORKFLOWS: Schema = Schema {
    file: "workflows.sqlite",
    steps: &["
        CREATE TABLE flows (
            run TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            state TEXT NOT NULL,
            process INTEGER NOT NULL,
            created_us INTEGER NOT NULL,
            changed_us INTEGER NOT NULL,
            digest TEXT NOT NULL,
            settings TEXT NOT NULL,
            result TEXT
        ) STRICT;
        CREATE INDEX flows_by_age ON flows (created_us);
        CREATE TABLE mail (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            run TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL
        ) STRICT;
        CREATE INDEX mail_by_run ON mail (run, id);
        CREATE TABLE states (run TEXT PRIMARY KEY, state BLOB NOT NULL) STRICT;
        CREATE TABLE saved (name TEXT PRIMARY KEY, source TEXT NOT NULL, saved_us INTEGER NOT NULL) STRICT;
    "],
};

pub(crate) const RUNS: Schema = Schema {
    file: "runs.sqlite",
    steps: &["
        -- What can be large is last, the largest at the very end: pages and lists need not read it.
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            caller TEXT NOT NULL,
            run TEXT NOT NULL,
            created_us INTEGER NOT NULL,
            expires_us INTEGER NOT NULL,
            state TEXT NOT NULL,
            wakes_us INTEGER,
            continuation TEXT,
            outcome TEXT NOT NULL,
            suspended BLOB
        ) STRICT;
        CREATE UNIQUE INDEX runs_run ON runs (caller, run);
        CREATE INDEX runs_created ON runs (caller, created_us, run);
        CREATE INDEX runs_continuation ON runs (caller, continuation, created_us) WHERE continuation IS NOT NULL;
        CREATE INDEX runs_unfinished ON runs (caller, run) WHERE state <> 'ended';
        CREATE INDEX runs_expires ON runs (expires_us);
        CREATE TABLE answers (
            caller TEXT NOT NULL,
            run TEXT NOT NULL,
            call INTEGER NOT NULL,
            kind TEXT NOT NULL,
            content BLOB,
            PRIMARY KEY (caller, run, call)
        ) STRICT;
    ", "
        -- Made anew, because what can be large has to stay last.
        ALTER TABLE runs RENAME TO runs_before;
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            caller TEXT NOT NULL,
            run TEXT NOT NULL,
            created_us INTEGER NOT NULL,
            expires_us INTEGER NOT NULL,
            state TEXT NOT NULL,
            wakes_us INTEGER,
            continuation TEXT,
            keeper TEXT NOT NULL,
            outcome TEXT NOT NULL,
            suspended BLOB
        ) STRICT;
        INSERT INTO runs SELECT id, caller, run, created_us, expires_us, state, wakes_us, continuation, 'server', outcome, suspended
            FROM runs_before;
        DROP TABLE runs_before;
        CREATE UNIQUE INDEX runs_run ON runs (caller, run);
        CREATE INDEX runs_created ON runs (caller, created_us, run);
        CREATE INDEX runs_continuation ON runs (caller, continuation, created_us) WHERE continuation IS NOT NULL;
        CREATE INDEX runs_unfinished ON runs (caller, run) WHERE state <> 'ended';
        CREATE INDEX runs_expires ON runs (expires_us);
        CREATE TABLE approvals (
            caller TEXT NOT NULL,
            run TEXT NOT NULL,
            call INTEGER NOT NULL,
            asked_us INTEGER NOT NULL,
            expires_us INTEGER NOT NULL,
            -- Whether a run has taken the verdict up.
            begun INTEGER NOT NULL DEFAULT 0,
            decided_us INTEGER,
            decided_by TEXT,
            ask TEXT NOT NULL,
            verdict TEXT,
            PRIMARY KEY (caller, run, call)
        ) STRICT;
        CREATE INDEX approvals_decided ON approvals (caller, run) WHERE verdict IS NOT NULL AND begun = 0;
    ", "
        ALTER TABLE runs RENAME TO runs_before;
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            caller TEXT NOT NULL,
            run TEXT NOT NULL,
            created_us INTEGER NOT NULL,
            expires_us INTEGER NOT NULL,
            state TEXT NOT NULL,
            wakes_us INTEGER,
            continuation TEXT,
            keeper TEXT NOT NULL,
            -- Whose files and keys it has, where it has any of a session.
            session TEXT,
            outcome TEXT NOT NULL,
            suspended BLOB
        ) STRICT;
        INSERT INTO runs SELECT id, caller, run, created_us, expires_us, state, wakes_us, continuation, keeper, NULL, outcome, suspended
            FROM runs_before;
        DROP TABLE runs_before;
        CREATE UNIQUE INDEX runs_run ON runs (caller, run);
        CREATE INDEX runs_created ON runs (caller, created_us, run);
        CREATE INDEX runs_session ON runs (caller, session, created_us, run) WHERE session IS NOT NULL;
        CREATE INDEX runs_continuation ON runs (caller, continuation, created_us) WHERE continuation IS NOT NULL;
        CREATE INDEX runs_unfinished ON runs (caller, run) WHERE state <> 'ended';
        CREATE INDEX runs_expires ON runs (expires_us);
    "],
};

pub(crate) const KEYS: Schema = Schema {
    file: "keys.sqlite",
    steps: &["
        CREATE TABLE keys (
            caller TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            -- Of the part that is secret. The secret itself is nowhere.
            hash BLOB NOT NULL,
            scopes TEXT NOT NULL,
            policy TEXT,
            rate INTEGER,
            created_us INTEGER NOT NULL,
            revoked_us INTEGER
        ) STRICT;
        -- A name can be used again when its key is worth nothing any more.
        CREATE UNIQUE INDEX keys_name ON keys (name) WHERE revoked_us IS NULL;
    "],
};
