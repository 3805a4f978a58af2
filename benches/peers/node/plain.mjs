// Node itself, without any wall: what its V8 makes of the same programs.
import { plain, promised, serve, TOOLS } from "./harness.mjs";

const evaluate = (text) => new Function("host", `${TOOLS}; return ${text}`);

await serve({
  fresh: (body) => evaluate(plain(body))(),
  calls: (body) => evaluate(promised(body))(async (text) => text),
  idle: (body) => void evaluate(promised(body))(() => new Promise(() => {})),
});
