//! What an operation answers when all is well.

use super::body;
use super::document::{Broken, Document};
use super::schema::Root;
use super::spot::Spot;
use serde_json::Value;

/// How many kinds of content are looked at.
const MEDIA_MAX: usize = 64;

/// JSON that an operation answers with.
#[derive(Clone, Debug)]
pub(super) struct Response<'a> {
    /// What to ask for.
    pub(super) media_type: String,
    /// Of what is answered.
    pub(super) root: Root<'a>,
}

/// The first response of success that is JSON.
pub(super) fn read<'a>(document: Document<'a>, spot: &Spot<'a>) -> Result<Option<Response<'a>>, Broken> {
    // To HEAD there is no body, whatever the description says.
    let responses = spot.operation.get("responses").and_then(Value::as_object).filter(|_| spot.method != "head");
    let Some(responses) = responses else { return Ok(None) };
    let codes = (200..300).map(|code| code.to_string()).chain(["2XX".to_owned(), "2xx".to_owned()]);
    for code in codes {
        let Some(value) = responses.get(&code) else { continue };
        let at = format!("responses.{code}");
        let response = document.table(value).map_err(|broken| broken.under(&at))?;
        let content = response.get("content").and_then(Value::as_object).into_iter().flatten();
        let json = content.take(MEDIA_MAX).filter(|(media, _)| body::is_json(media));
        let Some((media, value)) = json.min_by_key(|(media, _)| (body::essence(media) != "application/json", *media))
        else {
            continue;
        };
        let details = document.table(value).map_err(|broken| broken.under(&at))?;
        let root =
            Root { at: format!("{at}.content.{media}.schema"), schema: details.get("schema"), description: None };
        return Ok(Some(Response { media_type: body::essence(media), root }));
    }
    Ok(None)
}
