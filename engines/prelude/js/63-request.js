// Request: a data type here; it sends nothing.

const KNOWN_METHODS = freeze({ __proto__: null, DELETE: true, GET: true, HEAD: true, OPTIONS: true, POST: true, PUT: true });
const FORBIDDEN_METHODS = freeze({ __proto__: null, CONNECT: true, TRACE: true, TRACK: true });
const REQUEST_CHOICES = freeze({
  __proto__: null,
  mode: 'same-origin cors no-cors navigate websocket',
  credentials: 'omit same-origin include',
  cache: 'default no-store reload no-cache force-cache only-if-cached',
  redirect: 'follow error manual',
  referrerPolicy: ' no-referrer no-referrer-when-downgrade same-origin origin strict-origin origin-when-cross-origin strict-origin-when-cross-origin unsafe-url',
});
const choiceNames = freeze(ownKeys(REQUEST_CHOICES));

function requestMethod(method) {
  const text = byteString(method, 'Request method');
  const upper = toUpperCase(text);
  if (!isToken(text) || FORBIDDEN_METHODS[upper]) throw new TypeError('\'' + text + '\' is not a valid HTTP method.');
  return KNOWN_METHODS[upper] ? upper : text;
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
    if (from === undefined) {
      const text = wellFormed(input);
      this.#url = parseUrl(text, undefined);
      if (this.#url === undefined) throw new TypeError('Failed to parse URL from ' + text);
      if (hasCredentials(this.#url)) throw new TypeError('Request cannot be constructed from a URL that includes credentials: ' + text);
    } else {
      this.#url = from.#url;
      this.#method = from.#method;
      const names = ownKeys(from.#options);
      for (let i = 0; i < names.length; i++) this.#options[names[i]] = from.#options[names[i]];
    }
    this.#readOptions(init);
    const headers = init?.headers;
    if (headers === undefined) this.#headers = from === undefined ? new Headers() : copyHeaders(from.#headers);
    else this.#headers = new Headers(headers);
    this.#takeBody(init, from);
    const signal = init?.signal === undefined ? from?.#signal : init.signal;
    if (signal !== undefined && signal !== null && !isAbortSignal(signal)) throw new TypeError('Request: signal is not an AbortSignal');
    this.#signal = followSignal(signal);
  }

  #readOptions(init) {
    if (init === undefined || init === null) return;
    if (!isObject(init)) throw new TypeError('Request: init must be an object');
    if (init.method !== undefined) this.#method = requestMethod(init.method);
    for (let i = 0; i < choiceNames.length; i++) {
      const name = choiceNames[i];
      if (init[name] === undefined) continue;
      const choice = toText(init[name]);
      if (listIndexOf(split(REQUEST_CHOICES[name], ' '), choice) === -1 || choice === 'navigate') throw new TypeError('Request: ' + choice + ' is not an accepted value of ' + name);
      this.#options[name] = choice;
    }
    if (init.referrer !== undefined) this.#options.referrer = toText(init.referrer);
    if (init.integrity !== undefined) this.#options.integrity = toText(init.integrity);
    if (init.keepalive !== undefined) this.#options.keepalive = Boolean(init.keepalive);
  }

  #takeBody(init, from) {
    const given = init?.body;
    const bodiless = this.#method === 'GET' || this.#method === 'HEAD';
    if (bodiless && ((given !== undefined && given !== null) || (given === undefined && from !== undefined && from.#body.source !== null))) {
      throw new TypeError('Request with GET/HEAD method cannot have body.');
    }
    if (given !== undefined) {
      this.#body = extractBody(given);
      if (this.#body.type !== null && getHeader(this.#headers, 'content-type') === null) addHeader(this.#headers, 'content-type', this.#body.type);
    } else if (from !== undefined && from.#body.source !== null) {
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

  static inside() { return { stateOf: (request) => request.#body, headersOf: (request) => request.#headers }; }
}
const { stateOf: requestState, headersOf: requestHeaders } = Request.inside();
delete Request.inside;
addBodyMethods(Request, requestState, requestHeaders);
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
