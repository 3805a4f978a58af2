// Formats of texts: the name JSON Schema has for each, and the pattern. The patterns are those of zod 4, so that a schema
// written here asks an agent for the same as one written there.

import { NativeURL, RegExp } from './capture.js';

const DATE = '(?:(?:\\d\\d[2468][048]|\\d\\d[13579][26]|\\d\\d0[48]|[02468][048]00|[13579][26]00)-02-29|\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:02)-(?:0[1-9]|1\\d|2[0-8])))';
const HOUR = '(?:[01]\\d|2[0-3]):[0-5]\\d';
const IPV4_PART = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9][0-9]|[0-9])';

const of = (format, pattern) => ({ __proto__: null, format, pattern: pattern === undefined ? undefined : new RegExp(pattern) });
export const FORMATS = {
  __proto__: null,
  email: of('email', "^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"),
  url: of('uri'),
  uuid: of('uuid', '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}|00000000-0000-0000-0000-000000000000|ffffffff-ffff-ffff-ffff-ffffffffffff)$'),
  guid: of('uuid', '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})$'),
  date: of('date', '^' + DATE + '$'),
  datetime: of('date-time', '^' + DATE + 'T(?:' + HOUR + ':[0-5]\\d(?:\\.\\d+)?(?:Z))$'),
  // JSON Schema's `time` has an offset, which zod's has not; so only the pattern says it.
  time: of(undefined, '^' + HOUR + '(?::[0-5]\\d(?:\\.\\d+)?)?$'),
  ipv4: of('ipv4', '^(?:' + IPV4_PART + '\\.){3}' + IPV4_PART + '$'),
};

/** Whether a text is a URL, as the platform's parser has it. */
export const isUrl = (text) => {
  try {
    return new NativeURL(text) !== undefined;
  } catch {
    return false;
  }
};
