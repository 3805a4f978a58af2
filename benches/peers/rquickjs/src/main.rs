//! QuickJS-ng built for the machine, through the crate rquickjs: one runtime and one full context for each run, with
//! memory, stack and time limits. Tools are async functions; values cross as JSON text.

#[path = "../../../src/batches.rs"]
mod batches;
#[allow(dead_code)]
#[path = "../../../src/job.rs"]
mod job;
#[path = "../../../src/memory.rs"]
mod memory;

use batches::{Moment, batches};
use job::{Job, Line, Measured};
use memory::Memory;
use rquickjs::function::Async;
use rquickjs::{AsyncContext, AsyncRuntime, Context, Function, Promise, Runtime};
use std::error::Error;
use std::time::{Duration, Instant};

type Done<T> = Result<T, Box<dyn Error>>;

const MEMORY_BYTES: usize = 128 << 20;
const STACK_BYTES: usize = 512 << 10;
const TIME: Duration = Duration::from_secs(600);

const TOOLS: &str = "
const __call = async (argument) => JSON.parse(await host(JSON.stringify(argument)));
const tools = { echo: __call, first: __call, second: __call };";

fn main() -> Done<()> {
    let job: Job = serde_json::from_str(&std::env::args().nth(1).ok_or("no job was given")?)?;
    tokio::runtime::Builder::new_current_thread().build()?.block_on(serve(job))
}

async fn serve(job: Job) -> Done<()> {
    match job {
        Job::Fresh { ms, source } => {
            let times = batches(ms, 1, async || expect(&fresh(&source)?, "2")).await?;
            say("fresh", Measured::Times(times), None)
        }
        Job::Calls { ms, programs } => {
            for work in programs {
                let once = async || expect(&calls(&work.source).await?, "\"done\"");
                say(&work.id, Measured::Times(batches(ms, work.count, once).await?), None)?;
            }
            Ok(())
        }
        Job::Kernels { programs } => {
            for work in programs {
                let moment = Moment::now();
                let check = fresh(&work.source)?;
                say(&work.id, Measured::Times(moment.each(1)), Some(check))?;
            }
            Ok(())
        }
        Job::Ratios { .. } => Err("there is only one engine here".into()),
        Job::Memory { count, source } => {
            let mut kept = vec![idle(&source).await?];
            let before = Memory::here()?;
            for _ in 0..count {
                kept.push(idle(&source).await?);
            }
            let each = Memory::here()?.each_since(&before, count);
            say("memory", Measured::Memory(each), None)?;
            // Futures that wait for ever have nothing to be taken down for.
            std::process::exit(0)
        }
        Job::Hello { source } => {
            println!("{}", serde_json::from_str::<String>(&fresh(&source)?)?);
            Ok(())
        }
    }
}

fn say(id: &str, measured: Measured, check: Option<String>) -> Done<()> {
    println!("{}", serde_json::to_string(&Line { id: id.into(), measured, check })?);
    Ok(())
}

fn expect(found: &str, wanted: &str) -> Done<()> {
    if found == wanted { Ok(()) } else { Err(format!("expected {wanted}, found {found}").into()) }
}

fn late() -> impl FnMut() -> bool + 'static {
    let deadline = Instant::now() + TIME;
    move || Instant::now() > deadline
}

/// A plain body in a new runtime: its result as JSON.
fn fresh(body: &str) -> Done<String> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MEMORY_BYTES);
    runtime.set_max_stack_size(STACK_BYTES);
    runtime.set_interrupt_handler(Some(Box::new(late())));
    let context = Context::full(&runtime)?;
    let code = format!("JSON.stringify((function () {{\n{body}\n}})())");
    Ok(context.with(|ctx| ctx.eval::<String, _>(code))?)
}

async fn context() -> Done<(AsyncRuntime, AsyncContext)> {
    let runtime = AsyncRuntime::new()?;
    runtime.set_memory_limit(MEMORY_BYTES).await;
    runtime.set_max_stack_size(STACK_BYTES).await;
    runtime.set_interrupt_handler(Some(Box::new(late()))).await;
    let context = AsyncContext::full(&runtime).await?;
    Ok((runtime, context))
}

fn promised(body: &str) -> String {
    format!("(async function () {{\n{body}\n}})().then(JSON.stringify)")
}

/// An async body with tools that give their argument back.
async fn calls(body: &str) -> Done<String> {
    let (_runtime, context) = context().await?;
    let code = promised(body);
    let result = context.async_with(async |ctx| {
        let host = Function::new(ctx.clone(), Async(async |text: String| Ok::<String, rquickjs::Error>(text)))?;
        ctx.globals().set("host", host)?;
        ctx.eval::<(), _>(TOOLS)?;
        ctx.eval::<Promise<'_>, _>(code)?.into_future::<String>().await
    });
    Ok(result.await?)
}

/// An async body that waits for its first call, with all that a later answer would need.
async fn idle(body: &str) -> Done<(AsyncRuntime, AsyncContext)> {
    let (runtime, context) = context().await?;
    let code = promised(body);
    context
        .with(|ctx| {
            let host = Function::new(
                ctx.clone(),
                Async(async |_: String| Ok::<String, rquickjs::Error>(std::future::pending().await)),
            )?;
            ctx.globals().set("host", host)?;
            ctx.eval::<(), _>(TOOLS)?;
            let waiting = ctx.eval::<Promise<'_>, _>(code)?;
            ctx.globals().set("waiting", waiting)
        })
        .await?;
    Ok((runtime, context))
}
