//! A copy of everything that is kept.

use crate::args::Backup;
use crate::exit::Exit;
use crate::progress::Spinner;
use crate::{Done, job, show};
use serde_json::json;

pub(crate) fn backup(args: &Backup) -> Done {
    let spinner = if args.json { Spinner::none() } else { Spinner::new("copying") };
    let copied = job::data_folder()?.backup(&args.folder, &mut |copied| {
        spinner.say(&format!("copying: {} files, {} bytes", copied.files, copied.bytes));
    });
    spinner.done();
    let copied = copied.map_err(job::store)?;
    match args.json {
        true => show::line(&json!({ "files": copied.files, "bytes": copied.bytes }).to_string()),
        false => show::line(&format!("{} files, {} bytes", copied.files, copied.bytes)),
    }
    Ok(Exit::Ok)
}
