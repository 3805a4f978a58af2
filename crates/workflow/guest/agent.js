// Agents and questions: what a call is called, what is sent, and what comes of the answer.

import { TypeError, copyFields, freeze, hasOwn, indexOf, isArray, isObject, newList, objectKeys, ownFields, push, sameValue, showText, slice, toArray, trim, trimEnd } from './capture.js';
import { milliseconds } from './durations.js';
import { carriedError, mayPass, workflowThrow } from './errors.js';
import { askHost, currentPhase, note, pause, requireGoingOn, takeSeq } from './host.js';
import { policyOf, delayBefore } from './retry.js';
import { fillDefaults, isSchema, jsonSchemaOf } from './z.js';

const LABEL_CHARS_MAX = 48;
const NOT_A_SCHEMA = 'agent({ schema }) requires a zod schema (e.g. z.object({ … }))';
/** What goes to the host as it was given. */
const SENT = ['model', 'agentType', 'adapter', 'isolation'];

const firstLine = (text) => {
  let from = 0;
  for (;;) {
    const end = indexOf(text, '\n', from);
    const line = trim(end === -1 ? slice(text, from) : slice(text, from, end));
    if (line !== '' || end === -1) return line;
    from = end + 1;
  }
};
const labelOf = (text, seq) => {
  const line = firstLine(text);
  if (line === '') return 'agent-' + seq;
  return line.length > LABEL_CHARS_MAX ? trimEnd(slice(line, 0, LABEL_CHARS_MAX - 1)) + '…' : line;
};

/** Numbers and names a call: `<seq>:<phase>:<label>` is what the journal knows it by. */
const identify = (options, text) => {
  requireGoingOn();
  const seq = takeSeq();
  const phase = textOption(options, 'phase') ?? currentPhase();
  const label = textOption(options, 'label') ?? labelOf(text, seq);
  return { __proto__: null, seq, phase, label, key: seq + ':' + phase + ':' + label };
};
const textOption = (options, name) => (options[name] === undefined || options[name] === null ? undefined : showText(options[name]));

/** `profile(config)`: options for several agents. */
export const profile = (config) => {
  if (!isObject(config)) throw new TypeError('profile() needs an object');
  return freeze(copyFields({}, config));
};

/** The keys for which a call says something else than its profile. */
const overridesOf = (config, options) => {
  const names = objectKeys(options);
  const found = newList();
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (options[name] !== undefined && hasOwn(config, name) && !sameValue(config[name], options[name])) push(found, name);
  }
  return toArray(found);
};

/** `agent(prompt, options)` or `agent(profile, prompt, options)`. */
export const agent = async (first, second, third) => {
  const config = isObject(first) ? first : {};
  const prompt = isObject(first) ? second : first;
  const call = (isObject(first) ? third : second) ?? {};
  if (typeof prompt !== 'string') throw new TypeError('agent() needs a prompt, which is a text');
  if (!isObject(call)) throw new TypeError('the options of agent() are an object');
  const options = copyFields(ownFields(config), call);
  const overrides = overridesOf(config, call);
  const policy = policyOf(options.retries ?? 0);
  const timeoutMs = options.timeout === undefined ? undefined : milliseconds(options.timeout);
  // Each try is a call of its own, with its own number, so that each has its own place in the journal.
  for (let tried = 0; ; tried++) {
    try {
      return await askAgent(prompt, options, overrides, timeoutMs);
    } catch (error) {
      if (tried >= policy.max || carriedError(error) === undefined || !mayPass(error)) throw error;
      const ms = delayBefore(policy, tried);
      if (ms > 0) await pause(ms);
    }
  }
};

const askAgent = async (text, options, overrides, timeoutMs) => {
  const id = identify(options, text);
  // The instructions of a profile are not part of the name of a call: they may be reworded.
  const instructions = textOption(options, 'instructions');
  const prompt = instructions ? instructions + '\n\n' + text : text;
  const queued = { __proto__: null, type: 'agent-queued', key: id.key, label: id.label, phase: id.phase, prompt };
  if (overrides.length > 0) queued.overrides = overrides;
  note(queued);
  const { schema } = options;
  if (schema !== undefined && !isSchema(schema)) {
    const error = { kind: 'SchemaValidation', issues: [NOT_A_SCHEMA], attempts: 0 };
    note({ __proto__: null, type: 'agent-failed', key: id.key, error });
    throw workflowThrow(error);
  }
  id.prompt = prompt;
  if (schema !== undefined) id.schema = jsonSchemaOf(schema);
  for (let i = 0; i < SENT.length; i++) if (options[SENT[i]] !== undefined) id[SENT[i]] = options[SENT[i]];
  if (timeoutMs !== undefined) id.timeoutMs = timeoutMs;
  const reply = await askHost('agent', id);
  return schema === undefined ? reply.text : fillDefaults(schema, reply.data);
};

/** `askUserQuestion({ question, … })`: what somebody answered. */
export const askUserQuestion = async (asked) => {
  const options = isObject(asked) ? ownFields(asked) : { __proto__: null, question: asked };
  if (typeof options.question !== 'string') throw new TypeError('askUserQuestion() needs a question, which is a text');
  const { question, choices, allowOther } = options;
  if (choices !== undefined && !isArray(choices)) throw new TypeError('`choices` must be a list');
  const id = identify(options, question);
  id.key = textOption(options, 'key') ?? id.key;
  id.question = question;
  if (choices !== undefined) id.choices = choices;
  if (allowOther !== undefined) id.allowOther = allowOther;
  if (options.default !== undefined) id.default = options.default;
  const reply = await askHost('ask', id);
  // A null is an answer too, so it is asked whether there is one and not what it is.
  return hasOwn(reply, 'data') ? reply.data : reply.text;
};
