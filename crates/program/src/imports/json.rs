use crate::fault::Fault;
use crate::lines::{LineEnds, Lines};
use isolith_core::Json;

/// The module that a JSON file is: its value is the default export.
///
/// The text is not taken for an expression: `{"__proto__": 1}` would be another object then.
pub(crate) fn module_code(source: &str) -> Result<String, Fault> {
    let text = source.trim_start_matches('\u{feff}');
    let value = Json::from_text(text.to_owned()).map_err(|error| {
        let (line, column) = error.place();
        let start = Lines::new(text, LineEnds::Engine).range(line.saturating_sub(1)).map_or(0, |(start, _)| start);
        let offset = source.len() - text.len() + start + column.saturating_sub(1);
        Fault::syntax(offset, format!("a file that ends in .json has to be JSON: {error}"))
    })?;
    let literal = Json::of(value.text()).map_err(|_| Fault::internal("a JSON text that cannot be quoted"))?;
    Ok(format!("export default JSON.parse({literal});"))
}
