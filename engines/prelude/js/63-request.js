// Request: a data type here. `fetch`, where it is granted, sends one.

const KNOWN_METHODS = freeze({ __proto__: null, DELETE: true, GET: true, HEAD: true, OPTIONS: true, POST: true, PUT: true });
const FORBIDDEN_METHODS = freeze({ __proto__: null, CONNECT: true, TRACE: true, TRACK: true });
const REQUEST_CHOICES = freeze({
  __proto__: null,
  cache: 'default no-store reload no-cache force-cache only-if-cached',
  credentials: 'omit same-origin include',
  duplex: 'half',
  mode: 'same-origin cors no-cors navigate websocket',
  priority: 'high low auto',
  redirect: 'follow error manual',
  referrerPolicy: ' no-referrer no-referrer-when-downgrade same-origin origin strict-origin origin-when-cross-origin strict-origin-when-cross-origin unsafe-url',
});
/** In the order in which WebIDL reads them. */
const REQUEST_MEMBERS = freeze(split('body cache credentials duplex headers integrity keepalive method mode priority redirect referrer referrerPolicy signal window', ' '));

/** What was given, each member read and converted once. */
function readRequestInit(init) {
  const given = { __proto__: null };
  if (init === undefined || init === null) return given;
  if (!isObject(init)) throw new TypeError('Request: init must be an object');
  for (let i = 0; i < REQUEST_MEMBERS.length; i++) {
    const name = REQUEST_MEMBERS[i];
    const value = init[name];
    if (value !== undefined) given[name] = requestMember(name, value);
  }
  return given;
}
function requestMember(name, value) {
  switch (name) {
    case 'body': return value === null || isObject(value) ? value : wellFormed(value);
    case 'headers': return new Headers(value);
    case 'keepalive': return Boolean(value);
    case 'method': return byteString(value, 'Request method');
    case 'integrity': case 'referrer': return wellFormed(value);
    case 'signal':
      if (value !== null && !isAbortSignal(value)) throw new TypeError('Request: signal is not an AbortSignal');
      return value;
    case 'window':
      if (value !== null) throw new TypeError('Request: window can only be null');
      return value;
    default: {
      const choice = toText(value);
      if (listIndexOf(split(REQUEST_CHOICES[name], ' '), choice) === -1) throw new TypeError('Request: ' + choice + ' is not an accepted value of ' + name);
      return choice;
    }
  }
}

function requestUrl(text) {
  const url = parseUrl(text, undefined);
  if (url === undefined) throw new TypeError('Failed to parse URL from ' + text);
  if (hasCredentials(url)) throw new TypeError('Request cannot be constructed from a URL that includes credentials: ' + text);
  return url;
}

/** What was given, or `usual`. */
function requestMethod({ method: text, mode }, usual) {
  const method = text === undefined ? usual : knownMethod(text);
  if (mode === 'navigate') throw new TypeError('Request: navigate is not an accepted value of mode');
  return method;
}
function knownMethod(text) {
  const upper = toUpperCase(text);
  if (!isToken(text) || FORBIDDEN_METHODS[upper]) throw new TypeError('\'' + text + '\' is not a valid HTTP method.');
  return KNOWN_METHODS[upper] ? upper : text;
}

const isBodiless = (method) => method === 'GET' || method === 'HEAD';
const BODILESS = 'Request with GET/HEAD method cannot have body.';
/** The state of a body that was given, whose type becomes a header where there is none. */
function requestBody(given, method, headers) {
  if (given !== null && isBodiless(method)) throw new TypeError(BODILESS);
  const body = extractBody(given);
  if (body.type !== null && getHeader(headers, 'content-type') === null) addHeader(headers, 'content-type', body.type);
  return body;
}

class Request {
  #url;
  #method = 'GET';
  #headers;
  #body;
  #signal;
  #options = { __proto__: null, mode: 'cors', credentials: 'same-origin', cache: 'default', redirect: 'follow', referrerPolicy: '',
    referrer: 'about:client', integrity: '', keepalive: false, duplex: 'half' };

  constructor(input, init = undefined) {
    requireArguments(arguments, 1, 'Request');
    const from = isObject(input) && #url in input ? input : undefined;
    const text = from === undefined ? wellFormed(input) : '';
    const given = readRequestInit(init);
    if (from === undefined) this.#url = requestUrl(text);
    else {
      this.#url = from.#url;
      this.#method = from.#method;
      const names = ownKeys(from.#options);
      for (let i = 0; i < names.length; i++) this.#options[names[i]] = from.#options[names[i]];
    }
    this.#takeOptions(given);
    if (given.headers !== undefined) this.#headers = given.headers;
    else this.#headers = from === undefined ? new Headers() : copyHeaders(from.#headers);
    this.#takeBody(given.body, from);
    this.#signal = followSignal(given.signal === undefined ? from?.#signal : given.signal);
  }

  #takeOptions(given) {
    this.#method = requestMethod(given, this.#method);
    const names = ownKeys(this.#options);
    for (let i = 0; i < names.length; i++) if (given[names[i]] !== undefined) this.#options[names[i]] = given[names[i]];
  }

  #takeBody(given, from) {
    if (given !== undefined) {
      this.#body = requestBody(given, this.#method, this.#headers);
    } else if (from !== undefined && from.#body.source !== null) {
      if (isBodiless(this.#method)) throw new TypeError(BODILESS);
      if (from.#body.used || from.#body.locked) throw new TypeError('Cannot construct a Request with a Request object that has already been used.');
      this.#body = newBodyState(from.#body.source, from.#body.type);
      from.#body.used = true;
    } else this.#body = noBody();
  }

  get method() { return this.#method; }
  get url() { return serializeUrl(this.#url); }
  get headers() { return this.#headers; }
  get destination() { return ''; }
  get referrer() { return this.#options.referrer; }
  get referrerPolicy() { return this.#options.referrerPolicy; }
  get mode() { return this.#options.mode; }
  get credentials() { return this.#options.credentials; }
  get cache() { return this.#options.cache; }
  get redirect() { return this.#options.redirect; }
  get integrity() { return this.#options.integrity; }
  get keepalive() { return this.#options.keepalive; }
  get signal() { return this.#signal; }
  get duplex() { return 'half'; }

  clone() {
    const body = cloneBody(this.#body);
    const copy = new Request(serializeUrl(this.#url));
    copy.#method = this.#method;
    copy.#headers = copyHeaders(this.#headers);
    copy.#body = body;
    copy.#options = this.#options;
    copy.#signal = followSignal(this.#signal);
    return copy;
  }

  static inside() {
    return {
      stateOf: (request) => request.#body,
      headersOf: (request) => request.#headers,
      isOne: (value) => isObject(value) && #url in value,
      partsOf: (request) => ({ __proto__: null, url: serializeUrl(request.#url, true), method: request.#method, headers: request.#headers,
        body: request.#body, signal: request.#signal, redirect: request.#options.redirect }),
    };
  }
}
const { stateOf: requestState, headersOf: requestHeaders, partsOf: requestParts, isOne: isRequest } = Request.inside();
delete Request.inside;
addBodyMethods(Request, requestState, requestHeaders, ignore);
publish(Request);
showAs(Request, (request) => ({ fields: { method: request.method, url: request.url, headers: request.headers, destination: request.destination,
  referrer: request.referrer, referrerPolicy: request.referrerPolicy, mode: request.mode, credentials: request.credentials, cache: request.cache,
  redirect: request.redirect, integrity: request.integrity, keepalive: request.keepalive, signal: request.signal } }));

/** A signal of its own that aborts with another. */
function followSignal(signal) {
  const own = new AbortSignal(signalMaker);
  if (signal === undefined || signal === null) return own;
  if (isAborted(signal)) abortSignal(own, reasonOf(signal));
  else onAbort(signal, () => { abortSignal(own, reasonOf(signal)); });
  return own;
}
