//! A program as a Worker takes it.

use isolith_core::{Json, Program, Start};
use std::fmt::Write as _;

/// The code, with what a program finds as globals put in place before it, on its first line: lines keep their numbers.
pub(super) fn of(program: &Program, start: &Start) -> String {
    let mut code = String::with_capacity(program.code.len() + 64);
    let _ = write!(code, "globalThis.input={};", start.input.as_ref().map_or("undefined".into(), literal));
    for (name, value) in &start.args {
        let _ = write!(code, "globalThis.{name}={};", literal(value));
    }
    // The Worker has tools as functions of their own names.
    code.push_str("globalThis.tools=Object.freeze({__proto__:null");
    for name in &start.bindings.tools {
        let _ = write!(code, ",{name}");
    }
    code.push_str("});");
    for name in &start.bindings.tools {
        let _ = write!(code, "globalThis.external_{name}={name};");
    }
    code.push_str(&program.code);
    code
}

/// Parsed there: an object that is written as one would take `__proto__` for its prototype.
fn literal(value: &Json) -> String {
    format!("JSON.parse({})", serde_json::Value::from(value.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::{Ambient, BindingName, Bindings, Form, Limits, OutputSink, Seed, Stream, Timestamp};
    use std::sync::Arc;

    struct Nowhere;

    impl OutputSink for Nowhere {
        fn write(&self, _: Stream, _: String, _: Timestamp) {}
    }

    #[test]
    fn values_are_data_whatever_is_in_them() {
        let name = |text| BindingName::new(text).unwrap();
        let start = Start {
            limits: Limits::default(),
            bindings: Bindings { tools: vec![name("a")], ..Bindings::default() },
            ambient: Ambient::default(),
            input: Some(Json::from_text(r#"{"__proto__":"\"});evil(\"\\"}"#.into()).unwrap()),
            args: vec![(name("n"), Json::from_text("1.0".into()).unwrap())],
            seed: Seed([0; 32]),
            sink: Arc::new(Nowhere),
            must_suspend: false,
        };
        assert_eq!(
            of(&Program::new("x", "return 1", Form::Body), &start),
            concat!(
                r#"globalThis.input=JSON.parse("{\"__proto__\":\"\\\"});evil(\\\"\\\\\"}");globalThis.n=JSON.parse("1.0");"#,
                "globalThis.tools=Object.freeze({__proto__:null,a});globalThis.external_a=a;return 1"
            )
        );
    }
}
