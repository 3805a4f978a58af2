/** Runs code that nobody has read, in a sandbox that starts with no authority at all. */
export type { ApprovalContext, ApprovalDecision, ApprovalHandler, ApprovalRequest, Approve, Consent } from "./approve.js";
export {
  AbortError,
  ClosedError,
  ConnectionError,
  IsolithError,
  ProtocolError,
  RequestError,
} from "./errors.js";
export type { ApprovalsApi, Audit, OpenApproval, RunState, RunsApi, SecretsApi, Unfinished } from "./http.js";
export { Isolith, type RunHandle } from "./isolith.js";
export type {
  AttachOptions,
  Duration,
  Engine,
  Grant,
  Isolation,
  IsolithOptions,
  Limits,
  RunOptions,
  Size,
} from "./options.js";
export type {
  Approval,
  CallRecord,
  ErrorKind,
  Failure,
  Outcome,
  Output,
  RanOn,
  Receipt,
  RunError,
  Success,
  Usage,
} from "./outcome.js";
export type { RunEvent, RunStream } from "./stream.js";
export type { JsonSchema, ToolContext, ToolDefinition, ToolFunction, Tools } from "./tools.js";
