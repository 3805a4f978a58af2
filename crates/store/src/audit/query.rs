use super::rows::{self, COLUMNS, DENIED, signed};
use isolith_core::{AuditRow, RunId, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

/// How many rows a query finds unless it says otherwise.
const LIMIT: u32 = 1000;
/// The most it can find.
const LIMIT_MAX: u32 = 100_000;

/// Which rows of the audit log are wanted. Everything that is said has to hold.
#[derive(Clone, Debug)]
pub struct AuditQuery {
    /// Only of this run.
    pub run: Option<RunId>,
    /// Only of this program.
    pub program: Option<String>,
    /// Only refusals.
    pub denied: bool,
    /// Only requests to this host.
    pub host: Option<String>,
    /// Only from this moment on.
    pub since: Option<Timestamp>,
    /// At most this many, and of more the newest.
    pub limit: u32,
}

impl Default for AuditQuery {
    fn default() -> Self {
        AuditQuery { run: None, program: None, denied: false, host: None, since: None, limit: LIMIT }
    }
}

impl AuditQuery {
    pub(super) fn run(&self, db: &Connection) -> rusqlite::Result<Vec<AuditRow>> {
        let conditions: [(&str, Option<Value>); 5] = [
            ("run = ?", self.run.as_ref().map(|run| run.0.clone().into())),
            ("program = ?", self.program.clone().map(Value::from)),
            ("outcome = ?", self.denied.then(|| DENIED.to_owned().into())),
            ("host = ?", self.host.as_ref().map(|host| host.to_ascii_lowercase().into())),
            ("at_us >= ?", self.since.map(|since| signed(since.as_micros()).into())),
        ];
        let given = conditions.into_iter().filter_map(|(condition, value)| Some((condition, value?)));
        let (wanted, mut values): (Vec<&str>, Vec<Value>) = given.unzip();
        let wanted = if wanted.is_empty() { "1".to_owned() } else { wanted.join(" AND ") };
        values.push(i64::from(self.limit.min(LIMIT_MAX)).into());
        // In the order they were written: clocks can be set back, and runs can have clocks of their own.
        let sql = format!("SELECT {COLUMNS} FROM rows WHERE {wanted} ORDER BY id DESC LIMIT ?");
        let mut statement = db.prepare(&sql)?;
        let found = statement.query_map(params_from_iter(values), rows::read)?;
        let mut found: Vec<AuditRow> = found.collect::<rusqlite::Result<_>>()?;
        found.reverse();
        Ok(found)
    }
}
