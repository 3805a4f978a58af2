// Response: a data type here. Only a granted egress makes one that comes from a server.

const NULL_BODY_STATUS = freeze({ __proto__: null, 101: true, 103: true, 204: true, 205: true, 304: true });
const REDIRECT_STATUS = freeze({ __proto__: null, 301: true, 302: true, 303: true, 307: true, 308: true });

/** Who has this gets a Response with nothing in it yet. */
const responseMaker = freeze({ __proto__: null });
const responseHead = (status, statusText) => ({ __proto__: null, status, statusText, url: '', redirected: false });

class Response {
  #head; // status, statusText, url, redirected: what a server answered is kept as it came
  #headers; // undefined until someone looks, where they came with an answer
  #body;
  #type = 'default';

  constructor(body = null, init = undefined) {
    if (body === responseMaker) return;
    const given = readResponseInit(init);
    const { status, statusText } = given;
    if (status < 200 || status > 599) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    for (let i = 0; i < statusText.length; i++) {
      const unit = charCodeAt(statusText, i);
      if ((unit < 32 && unit !== 9) || unit === 127) throw new TypeError('Invalid statusText');
    }
    this.#head = responseHead(status, statusText);
    this.#headers = given.headers;
    this.#body = extractBody(body);
    if (this.#body.source === null) return;
    if (NULL_BODY_STATUS[status]) throw new TypeError('Response constructor: Invalid response status code');
    if (this.#body.type !== null && getHeader(this.#headers, 'content-type') === null) addHeader(this.#headers, 'content-type', this.#body.type);
  }

  static error() {
    const response = new Response();
    response.#head = responseHead(0, '');
    response.#type = 'error';
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
    response.#head = responseHead(code, '');
    addHeader(response.#headers, 'location', serializeUrl(target));
    freezeHeaders(response.#headers);
    return response;
  }

  get type() { return this.#type; }
  get url() { return this.#head.url; }
  get redirected() { return this.#head.redirected; }
  get status() { return this.#head.status; }
  get ok() { return this.#head.status >= 200 && this.#head.status <= 299; }
  get statusText() { return this.#head.statusText; }
  get headers() { return this.#fields(); }

  clone() {
    const body = cloneBody(this.#body);
    const copy = new Response(responseMaker);
    copy.#head = this.#head;
    copy.#headers = copyHeaders(this.#fields());
    copy.#body = body;
    copy.#type = this.#type;
    return copy;
  }

  #fields() {
    if (this.#headers === undefined) {
      const made = new Headers();
      const fields = this.#head.headers;
      for (let i = 0; i < fields.length; i++) addHeader(made, toLowerCase(fields[i][0]), fields[i][1]);
      freezeHeaders(made);
      this.#headers = made;
    }
    return this.#headers;
  }

  static inside() {
    return {
      stateOf: (response) => response.#body,
      headersOf: (response) => response.#fields(),
      /** What a server answered. Its headers cannot be changed. */
      fromHost: (reply, source) => {
        const response = new Response(responseMaker);
        response.#head = reply;
        response.#body = newBodyState(source, null);
        response.#type = 'basic';
        return response;
      },
    };
  }
}
const { stateOf: responseState, headersOf: responseHeaders, fromHost: responseFromHost } = Response.inside();
delete Response.inside;
addBodyMethods(Response, responseState, responseHeaders);
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
