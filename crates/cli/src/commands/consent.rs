//! What was answered to questions about programs.

use crate::Done;
use crate::args::Consent;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{job, show};

pub(crate) fn consent(args: Consent) -> Done {
    let consent = job::data_folder()?.consent().map_err(job::store)?;
    match args {
        Consent::List { json } => {
            let answers = consent.list().map_err(job::store)?;
            if json {
                show::line(&show::to_json(&answers));
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
