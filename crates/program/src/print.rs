use crate::compile::Mapping;
use crate::lines::{LineEnds, Lines};
use crate::parse::Text;
use oxc::allocator::Allocator;
use oxc::ast::ast::{Program, TaggedTemplateExpression};
use oxc::ast_visit::{VisitMut, walk_mut::walk_tagged_template_expression};
use oxc::codegen::{Codegen, CodegenOptions, CommentOptions};

/// Code that was printed from a checked syntax tree, and where it comes from.
pub(crate) struct Printed {
    pub(crate) code: String,
    /// Offsets of the code and of the author's text that belong together, in the order of the code; empty unless asked for.
    pub(crate) map: Vec<(u32, u32)>,
    /// The variables of a module that it changes after they are made.
    pub(crate) changing: Vec<String>,
}

/// Prints a program without its comments.
pub(crate) fn print<'a>(allocator: &'a Allocator, mut program: Program<'a>, text: Text, mapping: Mapping) -> Printed {
    let mark = protect_raw_templates(allocator, &mut program);
    let options = CodegenOptions {
        comments: CommentOptions::disabled(),
        // Indentation makes the code of a deep nest quadratic in its depth.
        indent_width: 0,
        source_map_path: (mapping == Mapping::On).then(|| "program".into()),
        ..CodegenOptions::default()
    };
    let printed = Codegen::new().with_options(options).build(&program);
    let mut code = printed.code;
    let mut map = Vec::new();
    if let Some(source_map) = printed.map {
        let places: Vec<_> = source_map
            .get_tokens()
            .map(|t| ((t.get_dst_line(), t.get_dst_col()), (t.get_src_line(), t.get_src_col())))
            .collect();
        let (from, to): (Vec<_>, Vec<_>) = places.into_iter().unzip();
        let code_offsets = Lines::new(&code, LineEnds::Script).offsets_utf16(&from);
        let text_offsets = Lines::new(program.source_text, LineEnds::Script).offsets_utf16(&to);
        let pairs = code_offsets.into_iter().zip(text_offsets).filter(|(_, to)| text.holds(*to));
        map = pairs.map(|(from, to)| (from as u32, text.offset(to as u32) as u32)).collect();
        map.sort_by_key(|pair| pair.0);
    }
    if let Some(mark) = mark {
        unmark(&mut code, &mut map, &mark);
    }
    if code.ends_with('\n') {
        code.pop();
    }
    Printed { code, map, changing: Vec::new() }
}

/// Underlines that are nowhere in a text: as many as its longest row of them, and `more`.
pub(crate) fn unused(text: &str, more: usize) -> String {
    let longest = text.split(|c| c != '_').map(str::len).max().unwrap_or(0);
    "_".repeat(longest + more)
}

/// The printer writes `<\/script` for `</script`, which is the same in a string but not in what a tag function sees
/// as raw. A mark between the characters keeps them apart until they are printed.
fn protect_raw_templates<'a>(allocator: &'a Allocator, program: &mut Program<'a>) -> Option<String> {
    let source = program.source_text;
    if !source.contains('`') || !source.contains("</") {
        return None;
    }
    // Names that were made for the program may have an underline more than its own.
    let mut marker = Marker { allocator, mark: unused(source, 8), used: false };
    marker.visit_program(program);
    marker.used.then_some(marker.mark)
}

struct Marker<'a> {
    allocator: &'a Allocator,
    mark: String,
    used: bool,
}

impl<'a> VisitMut<'a> for Marker<'a> {
    fn visit_tagged_template_expression(&mut self, tagged: &mut TaggedTemplateExpression<'a>) {
        for quasi in &mut tagged.quasi.quasis {
            if quasi.value.raw.contains("</") {
                let marked = quasi.value.raw.replace("</", &format!("<{}/", self.mark));
                quasi.value.raw = oxc::str::Str::from_str_in(&marked, &self.allocator);
                self.used = true;
            }
        }
        walk_tagged_template_expression(self, tagged);
    }
}

fn unmark(code: &mut String, map: &mut [(u32, u32)], mark: &str) {
    let marks: Vec<u32> = code.match_indices(mark).map(|(at, _)| at as u32).collect();
    for pair in map {
        pair.0 -= (marks.partition_point(|&at| at < pair.0) * mark.len()) as u32;
    }
    *code = code.replace(mark, "");
}
