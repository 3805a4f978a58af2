//! One linear walk over a program before it is parsed.
//!
//! THREAT[T-PROGRAM-001]: a program nested 100,000 levels deep overflows the stack of a recursive parser, which ends
//! the process with every run in it. The walk bounds the nesting first, and the bound says how much stack to provide.
//!
//! It must never count less than the parser nests, whatever the text is. So it takes levels back only where it is
//! certain of what it reads, and where two readings are possible (is this slash a division or a regular expression?)
//! it follows both until they agree again. When they do not, it counts every further token as one more level. Where
//! no token can stand (a string without its end, a bracket that closes another one) it stops, as the parser does.

use crate::fault::Fault;
use crate::nesting::Refusal;
use crate::walk::Walk;

/// What the walk found.
#[derive(Clone, Copy)]
pub(crate) struct Scan {
    /// The syntax tree is at most this deep.
    pub(crate) deepest: u32,
    /// The syntax tree is at most this deep if it is read as TypeScript.
    pub(crate) typed_deepest: u32,
    /// Where reading it as TypeScript becomes too costly.
    pub(crate) typed_too_costly: Option<usize>,
    /// What else can be told without parsing.
    pub(crate) traits: Traits,
}

/// What may be in a program, so that it is looked for only where it may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits {
    /// An `import` or `export` outside all brackets.
    pub(crate) module: bool,
    /// A call with type arguments, `f<T>(x)`, which JavaScript reads as two comparisons.
    pub(crate) generic_call: bool,
    /// The word `accessor`.
    pub(crate) accessor: bool,
    /// A word that a parser of JavaScript lets pass although it is TypeScript: `class { private x }`.
    pub(crate) modifier: bool,
    /// Parentheses that may be of a function type, without an arrow behind them.
    pub(crate) arrowless: bool,
}

impl Traits {
    /// What is in either.
    pub(crate) fn merge(&mut self, other: Traits) {
        self.module |= other.module;
        self.generic_call |= other.generic_call;
        self.accessor |= other.accessor;
        self.modifier |= other.modifier;
        self.arrowless |= other.arrowless;
    }
}

/// Walks over `text`, or says where it is too deep, too costly to parse, or decorated.
pub(crate) fn scan(text: &str) -> Result<Scan, Fault> {
    Walk::over(text).map_err(|refusal| match refusal {
        Refusal::Deep(offset) => Fault::too_deep(offset),
        Refusal::Costly(offset) => Fault::too_costly(offset),
        Refusal::Decorated(offset) => Fault::decorator(offset),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How deep `count` repetitions are taken to be, as JavaScript and as TypeScript.
    fn depths(first: &str, repeated: &str, count: usize) -> (u32, u32) {
        let found = scan(&format!("{first}{}", repeated.repeat(count))).map(|s| (s.deepest, s.typed_deepest));
        found.unwrap_or((u32::MAX, u32::MAX))
    }

    #[test]
    fn what_nests_is_counted() {
        for (first, repeated) in [
            ("", "("),
            ("", "a["),
            ("", "{"),
            ("", "`${"),
            ("x=", "!"),
            ("x=", "-~"),
            ("x=", "1+"),
            ("x=", "a?b:"),
            ("x=a", ".b"),
            ("x=a", "()"),
            ("x=a", "[0]"),
            ("x=a", "``"),
            ("x=", "a=>"),
            ("x=", "typeof "),
            ("", "if(a)"),
            ("", "if(a)b;else "),
            ("", "if(a)b\nelse "),
            ("", "if(a){}\nelse "),
            ("", "if(a)do x;while(b)else "),
            ("", "for(;;)\n"),
            ("", "for await(;;)\n"),
            ("", "do "),
            ("", "a:"),
            ("{}", "a:"),
            ("break\n", "a:"),
            ("x=", "class extends a,"),
            ("x=", "a<b,"),
            ("x=1", " as a"),
            ("x=a", "!"),
            ("let x:a", "[]"),
            ("type x<", "out\nT extends <"),
            ("", "\\u0069f(a)\n"),
            ("x=", "/[/]\"(/.a+("),
            ("", "{}/a(/.b("),
            ("x=", "void/(/.a("),
            ("", "if(a)/b(/.c("),
            ("", "a\n/b/("),
            ("", "x<!--y(\n("),
            ("x=", "#in/("),
            ("x=", "x\u{301}in/("),
        ] {
            let (deepest, typed) = depths(first, repeated, 300);
            assert!(deepest >= 299 && typed >= deepest, "{repeated:?}: {deepest} {typed}");
        }
        // The pattern of a regular expression is parsed too.
        assert!(scan(&format!("x=/{}/", "(".repeat(300))).is_ok_and(|s| s.deepest >= 300));
        assert!(scan(&format!("x=/{}/", "(".repeat(6_000))).is_err());
    }

    #[test]
    fn what_only_a_lenient_parser_nests_is_counted_for_typescript() {
        for repeated in ["() ; ", "() a\n", "{a:()}\nb|", "[()]b,", "{a:()}b;c:", "() a () ; "] {
            let (_, typed) = depths("let x:", repeated, 300);
            assert!(typed >= 299, "{repeated:?}: {typed}");
        }
    }

    #[test]
    fn what_is_long_is_not_deep() {
        for repeated in [
            "f(a, b);\n",
            "f(a, b)\n",
            "const a = { b: [c, d], e: f };\n",
            "let a = b\nlet c = d\n",
            "if (a) { b() }\n",
            "if (a) b()\nelse c()\n",
            "function f() { return 1 }",
            "function f() { return 1 }\n",
            "class A { a = 1\n b() {}\n static c = 2 }\n",
            "// ((((((\n",
            "/* {{{{ */",
            "x = '((((';\n",
            "x = /[(]\\((/;\n",
            "x = `((((${a}((((`;\n",
            "for (let i = 0; i < n; i++) { a[i] }\n",
            "switch (a) { case 1: b(); break }\n",
            "a.b(c => d).e(f);\n",
            "x = a / b / c;\n",
            "if (/a/.test(b)) c();\n",
            "type A = B<C>;\n",
            "let a: B<C> = d\n",
            "interface A { b: C\n d: E }\n",
            "export const a = 1;\n",
            "const a: (b: C) => D = e;\n",
            "a = (b + c);\n",
            "do a(); while (b);\n",
            "try { a() } catch (e) { b() }\n",
            "var a=1,b=2,c=function(){return a};",
            "}/a/.test(b);{\n",
            "a\n  / b;\n",
        ] {
            let (deepest, typed) = depths("{", repeated, 2_000);
            assert!(deepest < 60, "{repeated:?}: {deepest}");
            assert!(typed < 20_000, "{repeated:?}: {typed}");
        }
    }

    #[test]
    fn lists_may_be_long() {
        for (first, repeated) in [
            ("x = [", "{ a: 1, b: '(' }, "),
            ("f(", "a < b, "),
            ("x = {", "a: b ? c : d, "),
            ("let ", "a = 1, "),
            ("x = {", "a() { b }, "),
        ] {
            let (deepest, _) = depths(first, repeated, 1_000);
            assert!(deepest < 3_000, "{repeated:?}: {deepest}");
        }
    }

    #[test]
    fn traits_are_found() {
        let found = |text: &str| {
            scan(text)
                .map(|s| (s.traits.module, s.traits.generic_call, s.traits.accessor, s.traits.modifier))
                .expect("shallow")
        };
        assert_eq!(found("return 1"), (false, false, false, false));
        assert_eq!(found("export default 1"), (true, false, false, false));
        assert_eq!(
            found("import('a'); import.meta; a.export; ({ export: 1 }); 'export'"),
            (false, false, false, false)
        );
        assert_eq!(found("f<T>(x)"), (false, true, false, false));
        assert_eq!(found("for (let i = 0; i < n; i++) f(a => b)"), (false, false, false, false));
        assert_eq!(found("class A { accessor x; private y }"), (false, false, true, true));
    }

    #[test]
    fn decorators_are_seen_only_in_code() {
        assert_eq!(scan("'@'; `@`; /@/; // @\n/* @ */").map(|s| s.traits.module), Ok(false));
        assert_eq!(scan("a; @b class C {}").map(|_| ()), Err(Fault::decorator(3)));
    }
}
