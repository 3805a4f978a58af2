//! Programs that nest without end. None may overflow the stack of the host, which would end the process, or keep it
//! busy for long.
//!
//! What fails here fails loudly: a stack overflow aborts the test.

use isolith_program::{Language, prepare};
use std::time::{Duration, Instant};

/// The largest source that is tried.
const SOURCE_BYTES: usize = 1 << 20;

/// Far more than any of these takes on a busy machine, and far less than what an unbounded parser takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// What stands first, what is repeated, what stands in the middle, and what is repeated after it.
const NESTS: &[(&str, &str, &str, &str)] = &[
    // Brackets.
    ("x=", "(", "1", ")"),
    ("x=", "[", "1", "]"),
    ("", "{", "1", "}"),
    ("x=", "{a:", "1", "}"),
    ("x=", "a(", "1", ")"),
    ("x=", "(", "", ""),
    ("", "{", "", ""),
    ("", ")", "", ""),
    ("", "}", "", ""),
    ("", "{}", "", ""),
    ("", "();", "", ""),
    ("x=", "`${", "1", "}`"),
    ("x=", "`${", "", ""),
    ("x=", "[...", "1", "]"),
    ("x=", "({", "a", "})"),
    ("x=", "([a=", "1", "])"),
    // Operators before, between and behind.
    ("x=", "!", "1", ""),
    ("x=", "- ", "1", ""),
    ("x=", "typeof ", "1", ""),
    ("x=", "new ", "A", ""),
    ("x=", "new ", "A", "()"),
    ("", "await ", "1", ""),
    ("function*f(){", "yield ", "1", ""),
    ("x=", "1+", "1", ""),
    ("x=", "a**", "1", ""),
    ("x=", "a=", "1", ""),
    ("x=", "a??", "1", ""),
    ("x=", "a&&", "1", ""),
    ("x=", "1,", "1", ""),
    ("x=a", ".b", "", ""),
    ("x=a", "()", "", ""),
    ("x=a", "[0]", "", ""),
    ("x=a", "?.b", "", ""),
    ("x=a", "``", "", ""),
    ("x=a", "!", "", ""),
    ("x=", "a?b:", "1", ""),
    ("x=", "a?", "1", ":b"),
    ("x=", "a?(b):", "1", ""),
    ("x=", "a?(b):(c)=>", "1", ""),
    ("x=", "a?(b):c=>", "1", ""),
    ("x=", "a?(b)=>(c):d=>", "1", ""),
    // Functions and classes.
    ("x=", "a=>", "1", ""),
    ("x=", "(a)=>", "1", ""),
    ("x=", "async a=>", "1", ""),
    ("x=", "(a=", "1", ")=>1"),
    ("x=", "(a=", "1", ")"),
    ("x=", "(a=", "1", ""),
    ("x=", "({a:[b=", "1", "]})=>1"),
    ("x=", "async(a=", "1", ")"),
    ("x=", "()=>{", "", "}"),
    ("x=", "()=>({a:", "1", "})"),
    ("", "function f(){", "1", "}"),
    ("x=", "function(){return ", "1", "}"),
    ("x=", "(function(){return ", "1", "})()"),
    ("x=", "class extends ", "A", "{}"),
    ("x=", "class extends a,", "b", "{}"),
    ("x=", "class{a=", "1", "}"),
    ("", "class A{static{", "1", "}}"),
    ("x=", "{a(){return ", "1", "}}"),
    ("x=", "@a\nclass extends ", "B", "{}"),
    // Statements.
    ("", "if(a)", "1", ""),
    ("", "if(a)1;else ", "1", ""),
    ("", "if(a)b\nelse ", "1", ""),
    ("", "if(a){}else ", "1", ""),
    ("", "for(;;)", "1", ""),
    ("", "while(a)", "1", ""),
    ("", "do ", "1", ";while(a)"),
    ("", "if(a)do x;while(b)else ", "1", ""),
    ("", "with(a)", "1", ""),
    ("", "try{", "1", "}catch{}"),
    ("", "switch(a){case 1:", "1", "}"),
    ("", "a:", "1", ""),
    ("", "if(a)\n", "1", ""),
    ("", "\\u0069f(a)\n", "1", ""),
    // Types.
    ("x=", "a<", "1", ""),
    ("x=", "a<", "b", ">"),
    ("x=", "a<b>(", "1", ")"),
    ("x=", "<a>", "1", ""),
    ("x=", "<a<", "b", ">>1"),
    ("x=", "<T>(a=", "1", ")=>1"),
    ("x=1", " as any", "", ""),
    ("let x:a", "[]", "", ""),
    ("let x:", "(", "a", ")"),
    ("let x:", "()=>", "a", ""),
    ("let x:", "(a:", "b", ")=>c"),
    ("let x:", "keyof ", "a", ""),
    ("let x:", "a extends b?c:", "d", ""),
    ("let x:", "a|", "b", ""),
    ("let x:", "{a:", "b", "}"),
    ("let x:", "[", "b", "]"),
    ("let x:", "a<", "b", ">"),
    ("let x:a", ".b", "", ""),
    ("let x:", "`${", "a", "}`"),
    ("let x:", "<T extends ", "b", ">()=>1"),
    ("type x<", "out\nT extends <", "T", ">()=>1"),
    ("namespace a", ".b", "{}", ""),
    ("", "namespace a{", "", "}"),
    ("", "enum A{a=(()=>{", "", "})}"),
    ("", "declare ", "let a", ""),
    ("", "abstract ", "class A{}", ""),
    // The parser takes any token for the arrow of a function type.
    ("let x:", "() ; ", "", ""),
    ("let x:", "() a\n", "", ""),
    ("let x:", "{a:()}\nb|", "", ""),
    ("let x:", "[()]b,", "", ""),
    ("let x:", "{a:()}b;c:", "", ""),
    ("let x:", "`${()}", "", ""),
    ("let x:", "() a () ; ", "", ""),
    // What the parser of TypeScript tries in vain, again and again.
    ("x=", "a<(b=", "1", ""),
    ("x=", "new a<(b=", "1", ""),
    ("x=", "a<{[", "1", "]:1}"),
    ("let x:", "({a=(b:", "c", ")=>1})=>2"),
    ("let x:", "([a=b as ", "c", "])=>2"),
    ("type x=", "infer U extends ()=>", "b", "?1:2"),
    ("type x=", "(infer U extends ", "b", "?1:2)"),
    ("class x extends ", "a<(b=c<", "1", ""),
    ("x=", "a<b[(c=", "1", ""),
    ("x=", "a<`${(b=", "1", ""),
    // What could make one lose track of strings, comments and regular expressions.
    ("x=", "/[/]\"(/.a+(", "1", ")"),
    ("", "a\n/b/(", "1", ")"),
    ("", "{}/a(/.b(", "1", ")"),
    ("", "x<!--y(\n(", "1", ")"),
    ("", "-->(\n(", "1", ")"),
    ("x=", "void/(/.a(", "1", ")"),
    ("x=", "a++/(/b(", "1", ")"),
    ("x=/", "(", "a", ")"),
    ("x=/", "(", "a", ")/"),
    ("", "/*(*/(", "1", ")"),
    ("x=", "'(\\'('+(", "1", ")"),
    ("", "if(a)/b(/.c(", "1", ")"),
    ("x=", "a as void/(", "1", ")"),
    ("x=", "a!/(", "1", ")"),
    ("x=", "<div>", "", "</div>"),
    ("x=", "\"\n(", "", ""),
];

/// Levels that can be parsed, levels that cannot, and as many as fit.
const LEVELS: [usize; 5] = [12, 100, 1_000, 4_500, 100_000];

fn survive(source: &str, language: Language) {
    let start = Instant::now();
    let outcome = prepare(source, "main.ts", language);
    let shown: String = source.chars().take(80).collect();
    assert!(start.elapsed() < PATIENCE, "{:?} for {} bytes of {shown}", start.elapsed(), source.len());
    match outcome {
        // Deep code has to be found again in its source, and must not be many times as large.
        Ok(prepared) => {
            assert!(prepared.program().code.len() <= 64 * source.len() + 1_000, "{shown}");
            let _ = prepared.locate(1, 1);
        }
        Err(error) => {
            assert_ne!(error.code, "internal", "{shown}");
            assert!(error.render().len() < 4_000, "{shown}");
        }
    }
}

#[test]
fn nests_of_every_kind_are_survived() {
    for (first, repeated, middle, closing) in NESTS {
        for levels in LEVELS {
            let levels = levels.min((SOURCE_BYTES - first.len() - middle.len()) / (repeated.len() + closing.len()));
            let source = format!("{first}{}{middle}{}", repeated.repeat(levels), closing.repeat(levels));
            for language in [Language::Auto, Language::TypeScript, Language::JavaScript] {
                survive(&source, language);
            }
        }
    }
}

#[test]
fn many_small_nests_in_a_row_are_survived() {
    for (first, repeated, middle, closing) in NESTS {
        let nest = format!("{first}{}{middle}{};\n", repeated.repeat(40), closing.repeat(40));
        survive(&nest.repeat(SOURCE_BYTES / 4 / nest.len()), Language::Auto);
    }
}

#[test]
fn a_hundred_thousand_levels_are_refused_with_a_reason() {
    for (source, code) in [
        ("(".repeat(100_000), "syntax.nesting"),
        (format!("x={}1", "!".repeat(100_000)), "syntax.nesting"),
        (format!("x={}1", "1+".repeat(100_000)), "syntax.nesting"),
        (format!("x={}1", "a?b:".repeat(100_000)), "syntax.nesting"),
    ] {
        let error = prepare(&source, "main.ts", Language::Auto).expect_err("too deep");
        assert_eq!(error.code, code);
        assert!(error.hint.is_some());
    }
}

#[test]
fn long_texts_of_little_sense_are_survived() {
    let long = |unit: &str| unit.repeat(SOURCE_BYTES / unit.len());
    for source in [
        long("else:\n"),
        format!("/*\n{}", long("```\n")),
        long("```js\n"),
        long("`\n```\n"),
        format!("a<{}", long(">")),
        format!("export default 1; f(); {}", long("_")),
        format!("String.raw`</`; {}", long("_")),
        format!("f({}", long("/(/ a=> (a)=>asserts importnew [ a<")),
        long("}/[;"),
        long("a</[b;"),
        long("if(a)/[;"),
        long("\n/[;"),
        long("<!--\n"),
        long("\n-->"),
        long("import "),
        long("x = '\\\n"),
        long("\u{2028}"),
        long("a\n"),
        long(" "),
        long("@"),
        long("\0"),
        long("</a>"),
        long("let a;"),
        long("a:"),
        long("/a/gg;"),
        long("'use strict';"),
    ] {
        survive(&source, Language::Auto);
    }
}

/// Pieces that random units are made of.
const PIECES: &[&str] = &[
    "a",
    "b",
    "1",
    "'s'",
    "/r/",
    "`t`",
    "(",
    "(",
    "[",
    "{",
    "{",
    ")",
    "]",
    "}",
    ";",
    ",",
    "\n",
    "\n",
    ":",
    "?",
    "?.",
    ".",
    "=",
    "=>",
    "+",
    "-",
    "!",
    "<",
    "<",
    ">",
    "*",
    "/",
    "&&",
    "??",
    "|",
    "++",
    "...",
    "#",
    "`${",
    "if(a)",
    "else",
    "for(;;)",
    "while(a)",
    "do",
    "class",
    "extends",
    "function",
    "return",
    "case",
    "try",
    "catch",
    "typeof",
    "void",
    "new",
    "in",
    "of",
    "as",
    "satisfies",
    "is",
    "keyof",
    "infer",
    "asserts",
    "async",
    "await",
    "yield",
    "let",
    "type",
    "interface",
    "namespace",
    "enum",
    "declare",
    "abstract",
    "static",
    "get",
    "out",
    "import",
    "export",
    "this",
    "//c\n",
    "/*c*/",
    "<!--",
    "-->",
    "\u{2028}",
    "()",
    "[]",
    "{}",
    "a()",
    "(a)",
    "(a)=>",
    "(a=",
    "({a=",
    "<T>",
    "a<",
    ";else",
    "\nelse",
    "} else",
    ";while(a)",
    "extends a,",
    "@a",
    "\\u0061",
    "a!",
    "[a in",
    "import(",
    "`${a}`",
    "}`",
    "/[/]/",
    "/(/",
    "\r",
    "for await(",
    "label:",
    "#a in",
    "a?.[",
    "break\n",
    "π",
    "\u{a0}",
];

#[test]
fn random_units_in_great_number_are_survived() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    for _ in 0..2_000 {
        let mut unit = String::new();
        for _ in 0..=below(8) {
            unit.push_str(PIECES[below(PIECES.len())]);
            unit.push_str(["", " "][below(2)]);
        }
        let closing: String = unit
            .bytes()
            .rev()
            .filter_map(|b| match b {
                b'(' => Some(')'),
                b'[' => Some(']'),
                b'{' => Some('}'),
                _ => None,
            })
            .collect();
        let count = [9, 25, 300, 3_000][below(4)];
        let first = ["", "x=", "let x:", "type x=", "x=a?", "class A{", "f("][below(7)];
        let source = format!("{first}{}1{}", unit.repeat(count), closing.repeat(count));
        survive(&source, Language::Auto);
    }
}
