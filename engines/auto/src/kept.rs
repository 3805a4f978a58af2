//! What is kept of a reply or a call. Nearly all are values and calls of tools: of those it is where their text is, which
//! takes no room of its own.

use isolith_core::{HostCall, HostReply, Json};

/// Where a piece of text is. A history is bounded far below what these numbers can hold.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    from: u32,
    len: u32,
}

impl Span {
    fn add(piece: &str, text: &mut String) -> Span {
        let span = Span { from: text.len() as u32, len: piece.len() as u32 };
        text.push_str(piece);
        span
    }

    fn of(self, text: &str) -> &str {
        &text[self.from as usize..][..self.len as usize]
    }
}

pub(crate) enum KeptReply {
    Value(Option<Span>),
    Other(Box<HostReply>),
}

pub(crate) enum KeptCall {
    Tool { name: Span, args: Option<Span> },
    Other(Box<HostCall>),
}

impl KeptReply {
    pub(crate) fn of(reply: &HostReply, text: &mut String) -> KeptReply {
        match reply {
            HostReply::Value { json } => KeptReply::Value(json.as_ref().map(|json| Span::add(json.text(), text))),
            other => KeptReply::Other(Box::new(other.clone())),
        }
    }

    pub(crate) fn reply(&self, text: &str) -> HostReply {
        match self {
            // What was JSON when it was added still is.
            KeptReply::Value(at) => {
                HostReply::Value { json: at.and_then(|at| Json::from_text(at.of(text).to_owned()).ok()) }
            }
            KeptReply::Other(reply) => (**reply).clone(),
        }
    }
}

impl KeptCall {
    pub(crate) fn of(call: &HostCall, text: &mut String) -> KeptCall {
        match call {
            HostCall::Tool { name, args } => KeptCall::Tool {
                name: Span::add(name.as_str(), text),
                args: args.as_ref().map(|args| Span::add(args.text(), text)),
            },
            other => KeptCall::Other(Box::new(other.clone())),
        }
    }

    pub(crate) fn is(&self, call: &HostCall, text: &str) -> bool {
        match (self, call) {
            (KeptCall::Tool { name, args }, HostCall::Tool { name: other, args: others }) => {
                name.of(text) == other.as_str() && args.map(|at| at.of(text)) == others.as_ref().map(Json::text)
            }
            (KeptCall::Other(call), other) => **call == *other,
            (KeptCall::Tool { .. }, _) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isolith_core::{Timestamp, ToolName};

    fn json(text: &str) -> Option<Json> {
        Json::from_text(text.into()).ok()
    }

    #[test]
    fn replies_come_back_as_they_were() {
        let replies = [
            HostReply::Value { json: json("[1]") },
            HostReply::Value { json: None },
            HostReply::Value { json: json("\"\\ud800\"") },
            HostReply::Bytes { bytes: vec![1, 2] },
            HostReply::failed("Error", "no"),
        ];
        let mut text = String::new();
        let kept: Vec<KeptReply> = replies.iter().map(|reply| KeptReply::of(reply, &mut text)).collect();
        let back: Vec<HostReply> = kept.iter().map(|kept| kept.reply(&text)).collect();
        assert_eq!(back, replies);
    }

    #[test]
    fn a_call_is_itself_and_no_other() {
        let tool = |name: &str, args| ToolName::new(name).map(|name| HostCall::Tool { name, args });
        let names = [("a", None), ("a", json("1")), ("ab", json("1")), ("a", json("2")), ("a", json("1.0"))];
        let mut calls: Vec<HostCall> = names.into_iter().flat_map(|(name, args)| tool(name, args)).collect();
        assert_eq!(calls.len(), 5);
        calls.extend([1, 2].map(|n| HostCall::Sleep { until: Timestamp::from_micros(n) }));
        let mut text = String::new();
        let kept: Vec<KeptCall> = calls.iter().map(|call| KeptCall::of(call, &mut text)).collect();
        for (a, kept) in kept.iter().enumerate() {
            for (b, call) in calls.iter().enumerate() {
                assert_eq!(kept.is(call, &text), a == b, "{a} {b}");
            }
        }
    }
}
