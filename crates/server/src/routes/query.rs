//! The parameters of a URL.

use crate::error::Refusal;
use isolith_core::quantity;
use std::time::Duration;

/// Each of them is known, and there once.
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn read(text: Option<&str>, known: &[&str]) -> Result<Query, Refusal> {
        let mut all: Vec<(String, String)> = Vec::new();
        for (key, value) in form(text.unwrap_or_default())? {
            if !known.contains(&key.as_str()) {
                let refusal = Refusal::invalid(format!("there is no parameter `{key}`")).at(key);
                return Err(refusal.hint(format!("there are `{}`", known.join("`, `"))));
            }
            if all.iter().any(|(other, _)| *other == key) {
                return Err(Refusal::invalid(format!("`{key}` is there twice")).at(key));
            }
            all.push((key, value));
        }
        Ok(Query(all))
    }

    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == key)?;
        Some(self.0.swap_remove(at).1)
    }

    pub(crate) fn number(&mut self, key: &str, least: u32, most: u32) -> Result<Option<u32>, Refusal> {
        let Some(text) = self.take(key) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        let wrong = || Refusal::invalid(format!("`{key}` is a number from {least} to {most}")).at(key);
        number.map(Some).ok_or_else(wrong)
    }

    pub(crate) fn long(&mut self, key: &str) -> Result<Option<u64>, Refusal> {
        let Some(text) = self.take(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| Refusal::invalid(format!("`{key}` is a whole number")).at(key))
    }

    pub(crate) fn flag(&mut self, key: &str) -> Result<bool, Refusal> {
        match self.take(key).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(_) => Err(Refusal::invalid(format!("`{key}` is `true` or `false`")).at(key)),
        }
    }

    pub(crate) fn duration(&mut self, key: &str) -> Result<Option<Duration>, Refusal> {
        let Some(text) = self.take(key) else { return Ok(None) };
        quantity::duration(&text).map(Some).map_err(|error| Refusal::invalid(error).at(key))
    }
}

fn form(text: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pairs: Result<axum::extract::Query<Vec<(String, String)>>, _> = axum::extract::Query::try_from_uri(
        &format!("/?{text}").parse().map_err(|_| Refusal::invalid("the query cannot be read"))?,
    );
    pairs.map(|query| query.0).map_err(|_| Refusal::invalid("the query cannot be read"))
}
