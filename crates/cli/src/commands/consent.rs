//! What was answered to questions about programs.

use crate::Done;
use crate::args::Consent;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{job, show};
use isolith_store::Answer;
use serde_json::json;

pub(crate) fn consent(args: Consent) -> Done {
    let consent = job::data_folder()?.consent().map_err(job::store)?;
    match args {
        Consent::List { json } => {
            let answers = consent.list().map_err(job::store)?;
            if json {
                let one = |answer: &Answer| {
                    let Answer { program, grant, allow, at } = answer;
                    json!({ "program": program, "grant": grant, "allow": allow, "at": at })
                };
                show::line(&show::to_json(&answers.iter().map(one).collect::<Vec<_>>()));
                return Ok(Exit::Ok);
            }
            for answer in answers {
                let word = if answer.allow { "allowed" } else { "denied" };
                show::line(&format!("{} {word} {}", answer.program, answer.grant));
            }
        }
        Consent::Forget { program } => {
            if consent.forget(&program).map_err(job::store)? == 0 {
                let hint = "`isolith consent list` shows the programs";
                return Err(Failure::usage(format!("nothing was answered about `{program}`"), hint));
            }
        }
    }
    Ok(Exit::Ok)
}
