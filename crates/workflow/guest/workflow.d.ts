// Types of workflows, for editors: `import { agent, defineWorkflow, z } from "defineworkflow"`.

declare module "defineworkflow" {
  /** What JSON can hold, read-only. */
  export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

  /** Milliseconds, a text such as "10s", "5m", "2h" or "7d", or fields that are added up. */
  export type Duration =
    | number
    | string
    | { weeks?: number; days?: number; hours?: number; minutes?: number; seconds?: number; milliseconds?: number };

  export type WorkflowError =
    | { kind: "AdapterSpawn"; adapter: string; cause: string }
    | { kind: "SchemaValidation"; issues: string[]; attempts: number; rawOutput?: string }
    | { kind: "BudgetExhausted"; spent: number; total: number }
    | { kind: "AgentCapExceeded"; cap: number }
    | { kind: "UnansweredQuestion"; key: string }
    | { kind: "SandboxViolation"; message: string }
    | { kind: "JournalCorrupt"; [name: string]: unknown }
    | { kind: "Cancelled"; reason: string }
    | { kind: "Timeout"; what: string; ms: number }
    | { kind: "Divergence"; call: number; expected: string; found: string };

  /** What a failed call throws; its `name` is "WorkflowThrow". */
  export interface WorkflowThrow extends Error {
    readonly workflowError: WorkflowError;
  }

  export interface RetryPolicy {
    /** How often to try again after the first time. */
    max?: number;
    /** The wait before the first retry. */
    delay?: Duration;
    /** By how much each wait is longer than the one before; 2 by default. */
    factor?: number;
    maxDelay?: Duration;
    /** Whether to try again after this error. Without it, not after what the run itself refused. */
    retryIf?(error: unknown, attempt: number): boolean | Promise<boolean>;
  }

  export interface AgentOptions {
    /** The answer is data of this shape, and checked. */
    schema?: Schema<unknown>;
    /** Part of the name of the call; by default the first line of the prompt. */
    label?: string;
    /** Instead of the current phase. */
    phase?: string;
    model?: string;
    agentType?: string;
    /** Which program answers this call. */
    adapter?: string;
    /** A working tree of its own. */
    isolation?: "worktree";
    /** Put before the prompt, and not part of the name of the call. */
    instructions?: string;
    timeout?: Duration;
    /** Each retry is a call of its own. */
    retries?: number | Pick<RetryPolicy, "max" | "delay" | "factor" | "maxDelay">;
  }
  export type Profile<O extends AgentOptions = AgentOptions> = Readonly<O>;
  type Answer<O> = O extends { schema: Schema<infer T> } ? T : string;

  /** Asks an agent: its text, or its data when there is a `schema`. */
  export function agent<const O extends AgentOptions = {}>(prompt: string, options?: O): Promise<Answer<O>>;
  export function agent<const P extends AgentOptions, const O extends AgentOptions = {}>(profile: Profile<P>, prompt: string, options?: O): Promise<Answer<Omit<P, keyof O> & O>>;

  /** Options for several agents; those of a call win. */
  export function profile<const O extends AgentOptions>(options: O): Profile<O>;

  /** Runs all at once and waits for all. A failure is a null at its place. */
  export function parallel<const T extends readonly (() => unknown)[]>(thunks: T): Promise<{ -readonly [I in keyof T]: T[I] extends () => infer R ? Awaited<R> | null : never }>;

  type Stage<P, I, R> = (previous: P, item: I, index: number) => R;
  /** Takes each item through the stages on its own. A throw drops the item, which is a null; a stage that gives null does not. */
  export function pipeline<I>(items: readonly I[]): Promise<I[]>;
  export function pipeline<I, A>(items: readonly I[], a: Stage<I, I, A>): Promise<(Awaited<A> | null)[]>;
  export function pipeline<I, A, B>(items: readonly I[], a: Stage<I, I, A>, b: Stage<Awaited<A>, I, B>): Promise<(Awaited<B> | null)[]>;
  export function pipeline<I, A, B, C>(items: readonly I[], a: Stage<I, I, A>, b: Stage<Awaited<A>, I, B>, c: Stage<Awaited<B>, I, C>): Promise<(Awaited<C> | null)[]>;
  export function pipeline<I, A, B, C, D>(items: readonly I[], a: Stage<I, I, A>, b: Stage<Awaited<A>, I, B>, c: Stage<Awaited<B>, I, C>, d: Stage<Awaited<C>, I, D>): Promise<(Awaited<D> | null)[]>;
  export function pipeline<I>(items: readonly I[], ...stages: Stage<any, I, unknown>[]): Promise<unknown[]>;

  /** Begins a phase: later calls belong to it. */
  export function phase(title: string): void;
  export function log(message: unknown): void;
  /** Runs another workflow by its name. It cannot run a third. */
  export function workflow<T = unknown>(name: string, args?: unknown): Promise<T>;

  export interface Question<T = string> {
    question: string;
    choices?: readonly (string | { label: string; value?: Json; description?: string })[];
    allowOther?: boolean;
    /** The answer when nobody is there. */
    default?: T;
    /** The name under which an answer can be given beforehand. */
    key?: string;
    label?: string;
    phase?: string;
  }
  export function askUserQuestion<T = string>(question: Question<T> | string): Promise<T>;

  /** What the run was given, or null. */
  export const args: any;
  /** Output tokens of agents. */
  export const budget: { readonly total: number | null; spent(): number; remaining(): number };

  /** A named part, tried again and limited in time as a whole. */
  export function step<T>(name: string, fn: (attempt: number) => T, options?: { retries?: number | RetryPolicy; timeout?: Duration }): Promise<Awaited<T>>;
  /** A wait that outlives the process: a run can sleep for days. */
  export function sleep(duration: Duration): Promise<void>;
  export function sleepUntil(when: Date | string | number): Promise<void>;
  /** Waits for a signal and gives its value; throws `Timeout` when there is none in time. */
  export function waitFor<T = unknown>(signal: string, options?: { timeout?: Duration }): Promise<T>;
  /** Throws `Timeout` when `fn` takes longer. What it has begun is not stopped. */
  export function timeout<T>(duration: Duration, fn: () => T): Promise<Awaited<T>>;
  /** Calls `fn` until it does not throw, at most `max` times more; 3 by default. */
  export function retry<T>(fn: (attempt: number) => T, policy?: number | RetryPolicy): Promise<Awaited<T>>;
  /** The time, as recorded. */
  export function now(): Promise<Date>;
  /** A number from 0 up to 1, as recorded. */
  export function random(): Promise<number>;
  /** Whether a change is on: true in new runs, and in old ones as they were started. */
  export function patched(id: string): boolean;
  /** Runs `fn` although the run may be cancelled; for `finally`. */
  export function cleanup<T>(fn: () => T): Promise<Awaited<T>>;

  /** Everything above, as `run` gets it. */
  export interface Context {
    agent: typeof agent; parallel: typeof parallel; pipeline: typeof pipeline; phase: typeof phase; log: typeof log;
    workflow: typeof workflow; askUserQuestion: typeof askUserQuestion; args: typeof args; budget: typeof budget; z: typeof z;
    profile: typeof profile; defineWorkflow: typeof defineWorkflow; step: typeof step; sleep: typeof sleep;
    sleepUntil: typeof sleepUntil; waitFor: typeof waitFor; timeout: typeof timeout; retry: typeof retry; now: typeof now;
    random: typeof random; patched: typeof patched; cleanup: typeof cleanup;
  }
  export interface Workflow {
    name: string;
    description: string;
    harness: "claude" | "codex" | "copilot" | "raw-api" | (string & {});
    whenToUse?: string;
    phases?: readonly { title: string; [name: string]: unknown }[];
    /** Where the result is written. */
    output?: string;
    run(context: Context): unknown;
  }
  export function defineWorkflow<W extends Workflow>(workflow: W): Readonly<W>;

  export type ParseResult<T> = { success: true; data: T } | { success: false; error: Error & { issues: { path: (string | number)[]; message: string }[] } };
  /** A shape of data, as zod 4 writes it. */
  export interface Schema<T> {
    readonly description: string | undefined;
    describe(description: string): this;
    meta(fields: { title?: string; description?: string; examples?: unknown[]; [name: string]: unknown }): this;
    optional(): OptionalSchema<T | undefined>;
    nullable(): Schema<T | null>;
    nullish(): OptionalSchema<T | null | undefined>;
    default(value: NonNullable<T> | T | (() => T)): Schema<Exclude<T, undefined>>;
    readonly(): Schema<T>;
    array(): ArraySchema<T>;
    or<U>(other: Schema<U>): Schema<T | U>;
    unwrap(): Schema<unknown>;
    parse(value: unknown): T;
    safeParse(value: unknown): ParseResult<T>;
    toJSONSchema(): Record<string, unknown>;
  }
  type DataOf<S> = S extends Schema<infer T> ? T : never;
  /** A shape that may be missing from an object. */
  export interface OptionalSchema<T> extends Schema<T> {
    readonly [missing]: true;
  }
  /** For the types only. */
  const missing: unique symbol;
  interface Sizes {
    min(length: number): this;
    max(length: number): this;
    length(length: number): this;
    nonempty(): this;
  }
  type Format = "email" | "url" | "uuid" | "guid" | "date" | "datetime" | "time" | "ipv4";
  export interface StringSchema extends Schema<string>, Sizes, Record<Format, () => StringSchema> {
    regex(pattern: RegExp, message?: string): this;
    startsWith(text: string): this;
    endsWith(text: string): this;
    includes(text: string): this;
  }
  type Bound = "min" | "max" | "gt" | "gte" | "lt" | "lte" | "multipleOf" | "step";
  type Sign = "int" | "positive" | "negative" | "nonnegative" | "nonpositive" | "finite" | "safe";
  export interface NumberSchema extends Schema<number>, Record<Bound, (value: number) => NumberSchema>, Record<Sign, () => NumberSchema> {}
  export interface ArraySchema<T> extends Schema<T[]>, Sizes {
    readonly element: Schema<T>;
  }
  export interface EnumSchema<V extends string | number> extends Schema<V> {
    readonly options: V[];
    exclude<const E extends V>(values: readonly E[]): EnumSchema<Exclude<V, E>>;
    extract<const E extends V>(values: readonly E[]): EnumSchema<E>;
  }
  type Shape = Record<string, Schema<any>>;
  type Flat<T> = { [K in keyof T]: T[K] } & {};
  type OptionalKeys<S extends Shape> = { [K in keyof S]: S[K] extends OptionalSchema<any> ? K : never }[keyof S];
  type ObjectOf<S extends Shape> = Flat<{ [K in Exclude<keyof S, OptionalKeys<S>>]: DataOf<S[K]> } & { [K in OptionalKeys<S>]?: DataOf<S[K]> }>;
  type Mask<S> = { [K in keyof S]?: true };
  export interface ObjectSchema<S extends Shape> extends Schema<ObjectOf<S>> {
    readonly shape: S;
    extend<M extends Shape>(more: M): ObjectSchema<Flat<Omit<S, keyof M> & M>>;
    merge<M extends Shape>(other: ObjectSchema<M>): ObjectSchema<Flat<Omit<S, keyof M> & M>>;
    pick<M extends Mask<S>>(mask: M): ObjectSchema<Pick<S, keyof M & keyof S>>;
    omit<M extends Mask<S>>(mask: M): ObjectSchema<Omit<S, keyof M>>;
    partial(): ObjectSchema<{ [K in keyof S]: OptionalSchema<DataOf<S[K]> | undefined> }>;
    partial<M extends Mask<S>>(mask: M): ObjectSchema<{ [K in keyof S]: K extends keyof M ? OptionalSchema<DataOf<S[K]> | undefined> : S[K] }>;
    required(): ObjectSchema<{ [K in keyof S]: Schema<Exclude<DataOf<S[K]>, undefined>> }>;
    keyof(): EnumSchema<keyof S & string>;
    strict(): this;
    loose(): this;
    passthrough(): this;
    strip(): this;
    catchall(schema: Schema<any>): this;
  }

  export namespace z {
    /** The type of the data that a schema describes. */
    export type infer<S> = DataOf<S>;
    export type ZodType<T = unknown> = Schema<T>;
    export function string(): StringSchema;
    export function number(): NumberSchema;
    export function int(): NumberSchema;
    export function boolean(): Schema<boolean>;
    export function any(): Schema<any>;
    export function unknown(): Schema<unknown>;
    export function never(): Schema<never>;
    export function literal<const V extends string | number | boolean | null>(value: V | readonly V[]): Schema<V>;
    export function nativeEnum<E extends Record<string, string | number>>(values: E): EnumSchema<E[keyof E]>;
    export function object<S extends Shape>(shape?: S): ObjectSchema<S>;
    export function strictObject<S extends Shape>(shape: S): ObjectSchema<S>;
    export function looseObject<S extends Shape>(shape: S): ObjectSchema<S>;
    export function array<T>(element: Schema<T>): ArraySchema<T>;
    export function tuple<const I extends readonly Schema<any>[]>(items: I): Schema<{ -readonly [K in keyof I]: DataOf<I[K]> }>;
    export function tuple<const I extends readonly Schema<any>[], R>(items: I, rest: Schema<R>): Schema<[...{ -readonly [K in keyof I]: DataOf<I[K]> }, ...R[]]>;
    export function record<K extends string, V>(key: Schema<K>, value: Schema<V>): Schema<Record<K, V>>;
    export function partialRecord<K extends string, V>(key: Schema<K>, value: Schema<V>): Schema<Partial<Record<K, V>>>;
    export function union<const O extends readonly Schema<any>[]>(options: O): Schema<DataOf<O[number]>>;
    export function discriminatedUnion<const O extends readonly ObjectSchema<any>[]>(field: string, options: O): Schema<DataOf<O[number]>>;
    export function optional<T>(schema: Schema<T>): OptionalSchema<T | undefined>;
    export function nullable<T>(schema: Schema<T>): Schema<T | null>;
    export function nullish<T>(schema: Schema<T>): OptionalSchema<T | null | undefined>;
    export function email(): StringSchema;
    export function url(): StringSchema;
    export function uuid(): StringSchema;
    export function guid(): StringSchema;
    export function ipv4(): StringSchema;
    export const iso: { date(): StringSchema; datetime(): StringSchema; time(): StringSchema };
    export function toJSONSchema(schema: Schema<any>): Record<string, unknown>;
    function enumOf<const V extends string>(values: readonly V[]): EnumSchema<V>;
    function enumOf<const E extends Record<string, string | number>>(values: E): EnumSchema<E[keyof E]>;
    function nullOf(): Schema<null>;
    export { enumOf as enum, nullOf as null };
  }
}

declare module "workflow" {
  export * from "defineworkflow";
}

// A workflow without imports has the same names as globals.
declare const agent: typeof import("defineworkflow").agent;
declare const parallel: typeof import("defineworkflow").parallel;
declare const pipeline: typeof import("defineworkflow").pipeline;
declare const phase: typeof import("defineworkflow").phase;
declare const log: typeof import("defineworkflow").log;
declare const workflow: typeof import("defineworkflow").workflow;
declare const askUserQuestion: typeof import("defineworkflow").askUserQuestion;
declare const args: typeof import("defineworkflow").args;
declare const budget: typeof import("defineworkflow").budget;
declare const z: typeof import("defineworkflow").z;
declare const profile: typeof import("defineworkflow").profile;
declare const defineWorkflow: typeof import("defineworkflow").defineWorkflow;
declare const step: typeof import("defineworkflow").step;
declare const sleep: typeof import("defineworkflow").sleep;
declare const sleepUntil: typeof import("defineworkflow").sleepUntil;
declare const waitFor: typeof import("defineworkflow").waitFor;
declare const timeout: typeof import("defineworkflow").timeout;
declare const retry: typeof import("defineworkflow").retry;
declare const now: typeof import("defineworkflow").now;
declare const random: typeof import("defineworkflow").random;
declare const patched: typeof import("defineworkflow").patched;
declare const cleanup: typeof import("defineworkflow").cleanup;
declare namespace z {
  type infer<S> = import("defineworkflow").z.infer<S>;
}
