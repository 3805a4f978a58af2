//! Agents: what holds for the sessions that name them.

use super::session::{failed, open, settings};
use crate::args::Agent as Args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{Done, show};
use isolith_core::{AgentRecord, SessionStore as _};
use serde_json::{Value, json};

pub(crate) fn agent(args: Args) -> Done {
    let store = open()?;
    match args {
        Args::Put { agent, description, settings: given, json } => {
            let made = store.put_agent(&agent, &description, settings(&given)?).map_err(|error| failed(&error))?;
            tell(&made, json);
        }
        Args::Ls { json } => {
            store.agents().map_err(|error| failed(&error))?.iter().for_each(|record| tell(record, json));
        }
        Args::Rm { agent } => {
            if !store.remove_agent(&agent).map_err(|error| failed(&error))? {
                let message = format!("there is no agent `{agent}` [session.not_found]");
                return Err(Failure::usage(message, "`isolith agent ls` lists them"));
            }
        }
    }
    Ok(Exit::Ok)
}

fn tell(record: &AgentRecord, as_json: bool) {
    if !as_json {
        let description = crate::terminal::shown(&record.description);
        return show::line(format!("{}  {description}", record.agent).trim_end());
    }
    let settings = serde_json::to_string(&record.settings).ok().and_then(|text| serde_json::from_str(&text).ok());
    let settings: Value = settings.unwrap_or_default();
    show::line(&json!({ "agent": record.agent, "description": record.description, "settings": settings }).to_string());
}
