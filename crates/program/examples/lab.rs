#![allow(warnings)]
use oxc::{allocator::Allocator, parser::{Parser, ParseOptions}, span::SourceType, semantic::SemanticBuilder, codegen::*, transformer::*};
use std::time::Instant;
#[path="../src/scan.rs"] mod scan;
#[path="../src/nesting.rs"] mod nesting;
#[path="../src/fault.rs"] mod fault;
#[path="../src/words.rs"] mod words;

fn run(src: &str, ts: bool, stage: u32) -> String {
    let a = Allocator::default();
    let st = SourceType::script().with_typescript(ts);
    let t = Instant::now();
    let opts = ParseOptions{ preserve_parens:true, parse_regular_expression: true, ..Default::default()};
    let ret = Parser::new(&a, src, st).with_options(opts).parse();
    let mut out = format!("parse {:?} errs {} panicked {} {}", t.elapsed(), ret.diagnostics.len(), ret.panicked, ret.diagnostics.first().map(|d| d.message.to_string()).unwrap_or_default());
    if stage < 2 || ret.panicked { return out }
    let mut program = ret.program;
    let t = Instant::now();
    let sem = SemanticBuilder::new_compiler().build(&program);
    out += &format!(" | sem {:?} errs {} {}", t.elapsed(), sem.diagnostics.len(), sem.diagnostics.first().map(|d| d.message.to_string()).unwrap_or_default());
    if stage < 3 { return out }
    let t = Instant::now();
    let scoping = sem.semantic.into_scoping();
    let r = Transformer::new(&a, std::path::Path::new("x.ts"), &TransformOptions::default()).build_with_scoping(scoping, &mut program);
    out += &format!(" | trans {:?} {}", t.elapsed(), r.diagnostics.len());
    if stage < 4 { return out }
    let t = Instant::now();
    let c = Codegen::new().build(&program);
    out += &format!(" | gen {:?} {}", t.elapsed(), c.code.len());
    if src.len() < 300 { out += &format!("\n{}", c.code) }
    out
}
fn rep(pre: &str, unit: &str, mid: &str, post: &str, n: usize) -> String { format!("{pre}{}{mid}{}", unit.repeat(n), post.repeat(n)) }
pub fn gens(n: usize) -> Vec<(&'static str, String)> {
    vec![
        ("paren", rep("x=", "(", "1", ")", n)), ("bracket", rep("x=", "[", "1", "]", n)), ("block", rep("", "{", "1", "}", n)), ("object", rep("x=", "{a:", "1", "}", n)),
        ("bang", rep("x=", "!", "1", "", n)), ("minus", rep("x=", "- ", "1", "", n)), ("typeof", rep("x=", "typeof ", "1", "", n)), ("new", rep("x=", "new ", "A", "", n)), ("newcall", rep("x=", "new ", "A", "()", n)),
        ("await", rep("async function f(){", "await ", "1", "", n)+"}"), ("yield", rep("function* f(){", "yield ", "1", "", n)+"}"),
        ("ternary", rep("x=", "a?b:", "1", "", n)), ("ternary2", rep("x=", "a?", "1", ":b", n)), ("ternparen", rep("x=", "a?(b):", "1", "", n)), ("ternarrow", rep("x=", "a?(b):(c)=>", "1", "", n)), ("ternarrow2", rep("x=", "a?(b)=>", "1", ":c", n)),("ternarrow3", rep("x=", "a?(b):c=>", "1", "", n)),
        ("ternarrow4", rep("x=", "a?(b)=>(c):d=>", "1", "", n)),
        ("plus", rep("x=", "1+", "1", "", n)), ("pow", rep("x=", "a**", "1", "", n)), ("nullish", rep("x=", "a??", "1", "", n)), ("and", rep("x=", "a&&", "1", "", n)), ("assign", rep("x=", "a=", "1", "", n)),
        ("member", rep("x=a", ".b", "", "", n)), ("call", rep("x=a", "()", "", "", n)), ("index", rep("x=a", "[0]", "", "", n)), ("optional", rep("x=a", "?.b", "", "", n)), ("tag", rep("x=a", "``", "", "", n)), ("nonnull", rep("x=a", "!", "", "", n)), ("callnest", rep("x=", "a(", "1", ")", n)),
        ("arrow", rep("x=", "a=>", "1", "", n)), ("parenarrow", rep("x=", "(a)=>", "1", "", n)), ("asyncarrow", rep("x=", "async a=>", "1", "", n)), ("defarrow", rep("x=", "(a=", "1", ")=>1", n)), ("defparen", rep("x=", "(a=", "1", ")", n)), ("defparenopen", rep("x=", "(a=", "1", "", n)), ("destrarrow", rep("x=", "({a:[b=", "1", "]})=>1", n)), ("destrparen", rep("x=", "([a=", "1", "])", n)), ("objparen", rep("x=", "({a=", "1", "})", n)), ("asynccall", rep("x=", "async(a=", "1", ")", n)), ("asynccall2", rep("x=", "async(", "1", ")", n)),("commaparen", rep("x=", "(a,", "1", ")", n)),
        ("if", rep("", "if(a)", "1", "", n)), ("elseif", rep("", "if(a)1;else ", "1", "", n)), ("for", rep("", "for(;;)", "1", "", n)), ("while", rep("", "while(a)", "1", "", n)), ("do", rep("", "do ", "1", ";while(a)", n)), ("label", (0..n).map(|i| format!("a{i}:")).collect::<String>()+"1"), ("with", rep("", "with(a)", "1", "", n)), ("try", rep("", "try{", "1", "}catch{}", n)), ("switch", rep("", "switch(a){case 1:", "1", "}", n)),
        ("function", rep("", "function f(){", "1", "}", n)), ("fexpr", rep("x=", "function(){return ", "1", "}", n)), ("iife", rep("x=", "(function(){return ", "1", "})()", n)), ("class", rep("x=", "class extends ", "A", "{}", n)), ("classbody", rep("x=", "class{a=", "1", "}", n)), ("static", rep("", "class A{static{", "1", "}}", n)), ("method", rep("x=", "{a(){return ", "1", "}}", n)),
        ("template", rep("x=", "`${", "1", "}`", n)), ("spread", rep("x=", "[...", "1", "]", n)), ("seq", rep("x=", "1,", "1", "", n)), ("regex", rep("x=/", "(", "1", ")", n)+"/"), ("regexv", rep("x=/", "[", "1", "]", n)+"/v"), ("regexalt", rep("x=/", "a|", "1", "", n)+"/"),("regexlook", rep("x=/", "(?=", "1", ")", n)+"/"),
        ("lt", rep("x=", "a<", "1", "", n)), ("ltgt", rep("x=", "a<", "b", ">", n)), ("ltgtcall", rep("x=", "a<b>(", "1", ")", n)), ("cast", rep("x=", "<a>", "1", "", n)), ("castnest", rep("x=", "<a<", "b", ">>1", n)), ("genericarrow", rep("x=", "<T>(a=", "1", ")=>1", n)), ("genericarrow2", rep("x=", "<T>(", "1", ")", n)), ("shl", rep("x=", "a<<", "1", "", n)),
        ("as", rep("x=1", " as any", "", "", n)), ("typearr", rep("let x:a", "[]", "", "", n)), ("typeparen", rep("let x:", "(", "a", ")", n)), ("typefn", rep("let x:", "()=>", "a", "", n)), ("typefn2", rep("let x:", "(a:", "b", ")=>c", n)), ("keyof", rep("let x:", "keyof ", "a", "", n)), ("cond", rep("let x:", "a extends b?c:", "d", "", n)), ("cond2", rep("let x:", "a extends b?", "d", ":c", n)), ("infer", rep("let x: a extends ", "infer U extends ", "d", "", n)), ("union", rep("let x:", "a|", "b", "", n)), ("typeobj", rep("let x:", "{a:", "b", "}", n)), ("typetuple", rep("let x:", "[", "b", "]", n)), ("typegen", rep("let x:", "a<", "b", ">", n)), ("typedot", rep("let x:a", ".b", "", "", n)), ("typetempl", rep("let x:", "`${", "a", "}`", n)), ("typeidx", rep("let x:a", "[b]", "", "", n)), ("typeimport", rep("let x:", "import('a', {with:{b:", "1", "}})", n)), ("mapped", rep("let x:", "{[a in ", "b", "]:c}", n)), ("typefngen", rep("let x:", "<T extends ", "b", ">()=>1", n)), ("optionaltype", rep("let x:", "[a?:", "b", "]", n)), ("newtype", rep("let x:", "new ()=>", "b", "", n)), ("asserts", rep("let x:", "(a)=>a is ", "b", "", n)), ("typequery", rep("let x:", "typeof a<", "b", ">", n)),("jsdoc", rep("let x:", "?", "b", "", n)),("jsdoc2", rep("let x:", "!", "b", "", n)),
        ("ns", rep("namespace a", ".b", "{}", "", n)), ("nsnest", rep("", "namespace a{", "", "}", n)), ("enum", rep("", "enum A{a=(()=>{", "", "})}", n)), ("interface", rep("interface A{", "a():{", "", "}", n)+"}"), ("decor", rep("", "@a ", "class A{}", "", n)), ("decorext", rep("x=", "@a class extends ", "B", "{}", n)), ("extcomma", rep("x=", "class extends a,", "b", "{}", n)), ("importeq", rep("import a = b", ".c", "", "", n)), ("declare", rep("", "declare ", "let a", "", n)), ("abstract", rep("", "abstract ", "class A{}", "", n)), ("classabs", rep("class A{", "static ", "a", "", n)+"}"), ("export", rep("", "export default ", "1", "", n)), ("import", rep("x=", "import(", "1", ")", n)), ("privatein", rep("x=class{#a;b=", "#a in ", "c", "", n)+"}"), ("instanceof", rep("x=", "a instanceof ", "c", "", n)),
        ("forhead", rep("", "for(x of function(){", "", "}){}", n)), ("arrowbody", rep("x=", "()=>{", "", "}", n)), ("arrowbody2", rep("x=", "()=>({a:", "1", "})", n)), ("ternobj", rep("x=", "a?{b:", "1", "}:c", n)), ("retty", rep("x=", "(a):b=>", "1", "", n)), ("retty2", rep("x=", "(a:(b)=>c):d=>", "1", "", n)), ("retty3", rep("x=a?", "(a):b=>", "1", "", n)), ("retty4", rep("x=a?", "(a):(", "1", ")", n)), ("closeparen", ")".repeat(n)), ("openclose", "{}".repeat(n)), ("parens", "();".repeat(n)), ("ltopen", rep("", "<", "", "", n)), ("ltident", rep("x=", "<a ", "", "", n)), ("lteq", rep("x=", "a<b=", "1", "", n)), ("asyncgen", rep("x=", "async <T>(", "1", ")", n)), ("asyncident", rep("x=", "async ", "a", "", n)), ("dot3", rep("x=", "(...", "a", ")", n)), ("curlyparen", rep("x=", "({", "a", "})", n)),("curlyparen2", rep("x=", "({a:", "a", "})", n)),("curlyarrow", rep("x=", "({a:b=", "a", "})=>1", n)),
        ("lookarrow", rep("x=", "(a,b=", "1", ",c)", n)),
        ("typefnspec", rep("let x:", "(a", "", ")", n)),("typefnspec2", rep("let x:", "({a", "", "})", n)),("typefnspec3", rep("let x:", "([a:", "b", "])", n)),("typefnspec4", rep("let x:", "({a:", "b", "})", n)),("condinf", rep("let x:", "a extends infer U extends ", "b", "?c:d", n)),("condinf2", rep("let x:", "a extends (infer U extends ", "b", "?c:d)?e:f", n)),("optarr", rep("x=", "(a?:", "b", ")=>c", n)), ("predlook", rep("let x:()=>", "asserts ", "b", "", n)), ("clsidx", rep("class A{", "[", "b", "]", n)+"}"), ("idxsig", rep("let x:{", "[a:", "b", "]", n)+"}"), ("callgen", rep("x=a", "<b>()", "", "", n)), ("callgen2", rep("x=", "a<()=>", "b", ">()", n)),("callgen3", rep("x=", "a<{b:", "b", "}>()", n)), ("callgen4", rep("x=", "a<typeof b<", "b", ">>()", n)), ("callgen5", rep("x=", "f(a<b,", "b", ")", n)), ("callgen6", rep("x=", "a<b,", "b", "", n)), ("callgen7", rep("x=", "a<(", "b", ")", n)), ("callgen8", rep("x=", "a<[", "b", "]", n)), ("callgen9", rep("x=", "a<(b=>", "b", ")", n)),("callgen10", rep("x=", "a<{b:", "b", "}", n)),("usingx", rep("", "using ", "a=b", "", n)),("letlet", rep("", "let ", "a", "", n)),
    ]
}
struct Rng(u64);
impl Rng { fn next(&mut self) -> u64 { self.0 ^= self.0 << 13; self.0 ^= self.0 >> 7; self.0 ^= self.0 << 17; self.0 } fn below(&mut self, n: usize) -> usize { (self.next() % n as u64) as usize } }
const TOKENS: &[&str] = &["a","a","a","b","1","'s'","/r/","`t`","(","(","(","[","{","{",")","]","}",";",";",",",",","\n","\n","\n",":",":","?","?.",".","=","=","=>","=>","+","-","!","~","<","<",">",">","*","**","/","/","%","&&","||","??","|","&","^","==","++","--","...","#","`${","if","if(a)","else","else","for(;;)","while(a)","do","with(a)","class","class","extends","implements","function","function a","return","throw","case","default","switch(a)","try","catch","finally","typeof","void","delete","new","in","instanceof","of","as","satisfies","is","keyof","readonly","unique","infer","asserts","async","await","yield","let","const","var","type","interface","namespace","module","enum","declare","abstract","static","get","set","public","private","out","import","export","from","this","super","null","any","//c\n","/*c*/","/*\n*/","<!--","-->","\u{2028}","x́","int","using","accessor","override","global", "()", "[]", "{}", "a()", "(a)", "a=", "a:", "a?", "a,", "a\n", ")\n", "}\n", "a=>", "(a)=>", "(a=", "({a=", "([a=", "<a>", "<T>", "a<", "a<b,", ";else", "\nelse", "else\n", "} else", ";while(a)", "extends a,", "class extends", "{a", "a}", "\\u0061", "@a", "a as", "a\nas", "<out\nT extends", "!\n", "a!", "[a in", "?:", "-?:", "new ()=>", "import(", "typeof a", "a is", "asserts a is", "`${a}`", "`${`", "}`", "/[/]/", "/(/", "'\\n'", "0", "1.", ".5", "1n", "\r", "\r\n", "for await(", "for(a of", "for(let", "label:", "yield*", "function*", "async function", "get a(){", "a(){", "static{", "constructor(){", "[a]", "[a]:", "#a", "#a in", "new.target", "super()", "a?.b", "a?.[", "a?.(", "return\n", "break\n", "continue\n", "a;", ")", "]", "}"];
fn fuzz_source(seed: u64) -> String {
    let mut r = Rng(seed.wrapping_mul(0x9E3779B97F4A7C15) | 1); for _ in 0..5 { r.next(); }
    let unit_len = 1 + r.below(9);
    let mut unit = String::new();
    for _ in 0..unit_len { unit.push_str(TOKENS[r.below(TOKENS.len())]); if r.below(3) > 0 { unit.push(' '); } }
    let mut stack = vec![]; let b = unit.as_bytes();
    for i in 0..b.len() { match b[i] { b'(' => stack.push(")"), b'[' => stack.push("]"), b'{' => stack.push(if i > 0 && b[i-1] == b'$' { "}`" } else { "}" }), b')'|b']'|b'}' => { stack.pop(); } _ => {} } }
    stack.reverse();
    let mut close = stack.concat(); 
    match r.below(6) { 0 => close.push_str(":a"), 1 => close.push_str(" "), 2 => close.push_str("=>a"), 3 => close.push_str(">"), 4 => close.push_str("{}"), _ => {} }
    let n = [9, 14, 25, 40, 300, 1500, 4000][r.below(7)];
    let pre = ["", "x=", "let x:", "type x=", "x=a?", "class A{", "(", "f(", "async function f(){", "x=`", "if(a)", "declare let a:"][r.below(12)];
    let mid = ["1", "", "a", "{}", "(a)=>b", "x\n"][r.below(6)];
    format!("{pre}{}{mid}{}", unit.repeat(n), close.repeat(n))
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args[1].as_str() {
        "time" => {
            let n: usize = args[2].parse().unwrap();
            let stage: u32 = args[3].parse().unwrap();
            for (name, src) in gens(n) {
                if args.len() > 4 && args[4] != name { continue }
                for ts in [true, false] {
                    let s = src.clone();
                    let t = Instant::now();
                    let r = std::thread::Builder::new().stack_size(8 << 30).spawn(move || run(&s, ts, stage)).unwrap().join().unwrap_or("PANIC".into());
                    println!("{:>9.3} ms {name} ts={ts} len={} {r}", t.elapsed().as_secs_f64()*1e3, src.len());
                }
            }
        }
        "stack" => { // one generator with given stack
            let n: usize = args[2].parse().unwrap();
            let name = &args[3]; let kb: usize = args[4].parse().unwrap(); let ts = args[5] == "ts"; let stage: u32 = args[6].parse().unwrap();
            let src = gens(n).into_iter().find(|g| g.0 == name).unwrap().1;
            let r = std::thread::Builder::new().stack_size(kb << 10).spawn(move || run(&src, ts, stage)).unwrap().join().unwrap();
        }
        "src" => { println!("{}", run(&args[2], args.len() > 3, 4)) }
        "bounds" => { let n: usize = args[2].parse().unwrap(); for (name, src) in gens(n) {
            match scan::scan(&src) { Ok(s) => println!("{name} {}", s.deepest), Err(f) => println!("{name} ERR {} {}", f.code, f.offset) } } }
        "fuzz" => { let (from, to): (u64, u64) = (args[2].parse().unwrap(), args[3].parse().unwrap()); let (mut skipped, mut ok, mut worst) = (0u64, 0u64, 0u128);
            for seed in from..to { let src = fuzz_source(seed);
                std::fs::write(&args[4], seed.to_string()).unwrap();
                let t = Instant::now();
                let s = match scan::scan(&src) { Ok(s) => { if t.elapsed().as_millis() > 150 { println!("SLOWSCAN {seed}"); } s } Err(_) => { if t.elapsed().as_millis() > 150 { println!("SLOWSCAN {seed}"); } skipped += 1; continue } };
                
                for ts in [true, false] { if ts && s.typed_too_costly.is_some() { continue } let stack = (if ts { s.typed_deepest } else { s.deepest }) as usize * 4096 + (128 << 10); let src2 = src.clone(); let t = Instant::now();
                    let r = std::thread::Builder::new().stack_size(stack).spawn(move || run(&src2, ts, 4)).unwrap().join();
                    if r.is_err() { println!("PANIC seed {seed} ts {ts}"); }
                    let us = t.elapsed().as_micros(); worst = worst.max(us);
                    if us > 1_000_000 { println!("SLOW {us}us seed {seed} ts {ts} len {} bound {}", src.len(), s.deepest); } }
                ok += 1; }
            println!("done skipped {skipped} ok {ok} worst {worst}us"); }
        "fuzzsrc" => { let s = fuzz_source(args[2].parse().unwrap()); println!("{}", s.chars().take(400).collect::<String>()); println!("{:?}", scan::scan(&s).map(|s| s.deepest)); }
        "stacksrc" => { let src = std::io::read_to_string(std::io::stdin()).unwrap(); let kb: usize = args[2].parse().unwrap(); let ts = args[3] == "ts"; let stage: u32 = args[4].parse().unwrap();
            println!("{}", std::thread::Builder::new().stack_size(kb << 10).spawn(move || run(&src, ts, stage)).unwrap().join().unwrap()); }
        "scanfile" => { let src = std::fs::read_to_string(&args[2]).unwrap(); for _ in 0..5 { let t = Instant::now(); let s = scan::scan(&src).map(|s| (s.deepest, s.typed_deepest, s.generic_call, s.typed_too_costly)); println!("scan {:?} {:?}", t.elapsed(), s); println!("{}", run(&src, args.len() > 3, 4)); } }
        "scanloop" => { let src = std::fs::read_to_string(&args[2]).unwrap(); for _ in 0..3000 { std::hint::black_box(scan::scan(std::hint::black_box(&src)).is_ok()); } }
        "names" => for (n, _) in gens(2) { println!("{n}") },
        _ => {}
    }
}
