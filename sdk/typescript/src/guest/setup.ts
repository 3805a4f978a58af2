import type { RunError } from "../outcome.js";
import { GUEST_HELPER } from "./helper.js";

/** What the helper in the sandbox is told. */
export interface GuestSetup {
  /** `console` methods and what their lines begin with. */
  readonly prefixes?: Readonly<Record<string, string>>;
  /** Whether `console` shows objects as JSON; otherwise as `String` does. */
  readonly json?: boolean;
  readonly entriesMax?: number;
  readonly unitsMax?: number;
  /** The last line of a log that is full. */
  readonly truncated?: string;
  /** Globals that are tools, with the tools' names. */
  readonly globals?: Readonly<Record<string, string>>;
  /** Objects that turn every property into a call of the tool `dispatch`. */
  readonly namespaces?: readonly { readonly name: string; readonly prelude?: string | undefined }[];
  readonly dispatch?: string;
}

/** A program that is set up before it runs. */
export interface SetUpProgram {
  readonly program: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Stands in front of the program, in its first line. It is constant: nothing of a program or a setup gets into it. */
const PREFIX = "(0,eval)(isolith$.helper)(isolith$);";
const STRICT = '"use strict";';
export function setUp(code: string, setup: GuestSetup): SetUpProgram {
  return { program: prefixOf(code) + code, args: { isolith$: { helper: GUEST_HELPER, ...setup } } };
}

/** Moves the places in the first line to where they are in the author's source. */
export function correctPlaces(error: RunError, code: string, name: string): RunError {
  const shift = prefixOf(code).length;
  const { line, column, stack } = error;
  const moved: { column?: number; stack?: string } = {};
  if (line === 1 && column !== undefined) moved.column = Math.max(1, column - shift);
  if (stack !== undefined) moved.stack = movedStack(stack, `(${name}:1:`, shift);
  return { ...error, ...moved };
}

function movedStack(stack: string, place: string, shift: number): string {
  const [start = "", ...frames] = stack.split(place);
  return start + frames.map((frame) => place + frame.replace(/^\d+/, (digits) => String(Math.max(1, Number(digits) - shift)))).join("");
}

function prefixOf(code: string): string {
  return beginsStrict(code) ? STRICT + PREFIX : PREFIX;
}

/** A directive counts only where nothing but comments stands before it. */
// By hand, because a regular expression for this can be made to take for ever by the code that it looks at.
function beginsStrict(code: string): boolean {
  let at = 0;
  while (at < code.length) {
    const rest = code.slice(at, at + 12);
    if (/^\s/.test(rest)) {
      at += 1;
    } else if (rest.startsWith("//") || rest.startsWith("/*")) {
      const end = rest.startsWith("//") ? "\n" : "*/";
      const found = code.indexOf(end, at + 2);
      if (found === -1) return false;
      at = found + end.length;
    } else {
      return rest === '"use strict"' || rest === "'use strict'";
    }
  }
  return false;
}
