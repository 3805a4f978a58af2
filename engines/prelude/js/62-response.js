// Response: a data type here. Only a granted egress makes one that comes from a server.

const NULL_BODY_STATUS = freeze({ __proto__: null, 101: true, 103: true, 204: true, 205: true, 304: true });
const REDIRECT_STATUS = freeze({ __proto__: null, 301: true, 302: true, 303: true, 307: true, 308: true });

/** Who has this gets a Response with nothing in it yet. */
const responseMaker = freeze({ __proto__: null });
const responseHead = (statusText, type) => ({ __proto__: null, statusText, type, url: '', redirected: false, headers: undefined });
/** The head of what a server answered, out of the host's reply. */
const hostHead = ({ statusText, url, redirected, headers }) => ({ __proto__: null, statusText, type: 'basic', url, redirected, headers });

class Response {
  #status;
  #head; // what else is known of it: what a server answered is kept as the text it came as until someone looks
  #headers; // undefined until someone looks, where they came with an answer
  #body; // its state; undefined while the whole body is in `#whole`, or was taken from there
  #whole; // bytes that nobody has looked at yet; null when they were read

  constructor(body = null, init = undefined) {
    if (body === responseMaker) return;
    const given = readResponseInit(init);
    const { status, statusText } = given;
    if (status < 200 || status > 599) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    for (let i = 0; i < statusText.length; i++) {
      const unit = charCodeAt(statusText, i);
      if ((unit < 32 && unit !== 9) || unit === 127) throw new TypeError('Invalid statusText');
    }
    this.#status = status;
    this.#head = responseHead(statusText, 'default');
    this.#headers = given.headers;
    this.#body = extractBody(body);
    if (this.#body.source === null) return;
    if (NULL_BODY_STATUS[status]) throw new TypeError('Response constructor: Invalid response status code');
    if (this.#body.type !== null && getHeader(this.#headers, 'content-type') === null) addHeader(this.#headers, 'content-type', this.#body.type);
  }

  static error() {
    const response = new Response();
    response.#status = 0;
    response.#head = responseHead('', 'error');
    freezeHeaders(response.#headers);
    return response;
  }
  static json(data, init = undefined) {
    requireArguments(arguments, 1, 'Response.json');
    const text = jsonStringify(data);
    if (text === undefined) throw new TypeError('The data is not JSON serializable');
    const given = readResponseInit(init);
    if (getHeader(given.headers, 'content-type') === null) addHeader(given.headers, 'content-type', 'application/json');
    return new Response(text, given);
  }
  static redirect(url, status = 302) {
    requireArguments(arguments, 1, 'Response.redirect');
    const target = parseUrl(wellFormed(url), undefined);
    if (target === undefined) throw new TypeError('Failed to parse URL from ' + url);
    const code = toUint16(status);
    if (!REDIRECT_STATUS[code]) throw new RangeError('Invalid status code ' + status);
    const response = new Response();
    response.#status = code;
    addHeader(response.#headers, 'location', serializeUrl(target));
    freezeHeaders(response.#headers);
    return response;
  }

  get type() { return this.#look().type; }
  get url() { return this.#look().url; }
  get redirected() { return this.#look().redirected; }
  get status() { return this.#status; }
  get ok() { return this.#status >= 200 && this.#status <= 299; }
  get statusText() { return this.#look().statusText; }
  get headers() { return this.#fields(); }

  clone() {
    const body = cloneBody(this.#state());
    const copy = new Response(responseMaker);
    copy.#status = this.#status;
    copy.#head = this.#look();
    copy.#headers = copyHeaders(this.#fields());
    copy.#body = body;
    return copy;
  }

  #look() {
    if (typeof this.#head === 'string') this.#head = hostHead(jsonParse(this.#head));
    return this.#head;
  }
  #fields() {
    if (this.#headers === undefined) {
      const made = new Headers();
      const { headers } = this.#look();
      for (let i = 0; i < headers.length; i++) addHeader(made, toLowerCase(headers[i][0]), headers[i][1]);
      freezeHeaders(made);
      this.#headers = made;
    }
    return this.#headers;
  }
  #state() {
    if (this.#body === undefined) {
      const whole = this.#whole;
      this.#whole = undefined;
      this.#body = newBodyState(bytesSource(whole ?? NO_BYTES), null);
      if (whole === null) this.#body.used = true;
    }
    return this.#body;
  }

  static inside() {
    return {
      stateOf: (response) => response.#state(),
      headersOf: (response) => response.#fields(),
      wholeOf: (response) => {
        const whole = response.#whole;
        if (whole === undefined || whole === null) return undefined;
        response.#whole = null;
        return whole;
      },
      /** What a server answered. Its headers cannot be changed. `source` is null where there is no body. */
      fromHost: (status, head, source) => {
        const response = new Response(responseMaker);
        response.#status = status;
        response.#head = head;
        response.#body = newBodyState(source, null);
        return response;
      },
      /** The same, with a body that is all here. */
      withWhole: (status, head, whole) => {
        const response = new Response(responseMaker);
        response.#status = status;
        response.#head = head;
        response.#whole = whole;
        return response;
      },
    };
  }
}
const { stateOf: responseState, headersOf: responseHeaders, wholeOf: responseWhole, fromHost: responseFromHost, withWhole: responseWithWhole } = Response.inside();
delete Response.inside;
addBodyMethods(Response, responseState, responseHeaders, responseWhole);
defineProperty(Response, 'length', { __proto__: null, value: 0, writable: false, enumerable: false, configurable: true });
publish(Response);
showAs(Response, (response) => ({ fields: { status: response.status, statusText: response.statusText, headers: response.headers,
  body: response.body, bodyUsed: response.bodyUsed, ok: response.ok, redirected: response.redirected, type: response.type, url: response.url } }));

/** Each member is read once, in the order of their names, as WebIDL says. */
function readResponseInit(init) {
  if (init !== undefined && init !== null && !isObject(init)) throw new TypeError('Response: init must be an object');
  const headers = new Headers(init?.headers);
  const status = init?.status;
  const code = status === undefined ? 200 : toUint16(status);
  const statusText = init?.statusText;
  return { __proto__: null, headers, status: code, statusText: statusText === undefined ? '' : byteString(statusText, 'Response statusText') };
}

function toUint16(value) {
  const number = trunc(+value);
  return isFinite(number) ? ((number % 65536) + 65536) % 65536 : 0;
}
