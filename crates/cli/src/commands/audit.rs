//! What runs did, and what they were refused.

use crate::Done;
use crate::args::{Audit, AuditCommand};
use crate::commands::verify;
use crate::exit::Exit;
use crate::paint::{ERROR, GOOD, QUIET};
use crate::terminal::inert;
use crate::{job, show};
use isolith_core::{AuditRow, CallOutcome, RunId};
use isolith_store::AuditQuery;
use owo_colors::OwoColorize;
use std::io::IsTerminal;

pub(crate) fn audit(args: Audit) -> Done {
    if let Some(AuditCommand::Verify { runs, reexecute, all: _, json }) = args.command {
        return verify::verify(&runs, reexecute, json);
    }
    let query = AuditQuery {
        run: args.run.map(RunId),
        denied: args.denied,
        host: args.host,
        limit: args.limit,
        ..AuditQuery::default()
    };
    let rows = job::data_folder()?.audit().and_then(|audit| audit.query(&query)).map_err(job::store)?;
    for row in &rows {
        if args.json { show::line(&show::to_json(row)) } else { print(row) }
    }
    if rows.is_empty() && !args.json {
        anstream::eprintln!("{}", "nothing is written down that fits".style(QUIET));
    }
    Ok(Exit::Ok)
}

fn print(row: &AuditRow) {
    let terminal = std::io::stdout().is_terminal();
    let at = jiff::Timestamp::from_microsecond(row.at.as_micros() as i64).unwrap_or_default();
    let outcome = match row.outcome {
        CallOutcome::Ok => "ok".style(GOOD).to_string(),
        CallOutcome::Denied => "denied".style(ERROR).to_string(),
        CallOutcome::Failed => "failed".style(ERROR).to_string(),
        CallOutcome::Cancelled | CallOutcome::Waiting => "cancelled".style(QUIET).to_string(),
    };
    let facts = format!("{} µs, {} B out, {} B in, run {}", row.duration_us, row.bytes_out, row.bytes_in, row.run);
    anstream::println!(
        "{} {outcome} {} {}",
        format!("{at:.3}").style(QUIET),
        inert(&row.what, terminal),
        format!("({}; {facts})", inert(&row.grant, terminal)).style(QUIET)
    );
    if let Some(error) = &row.error {
        anstream::println!("    {}", inert(error, terminal));
    }
}
