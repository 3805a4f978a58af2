// Response: a data type here. Only a granted egress makes one that comes from a server.

const NULL_BODY_STATUS = freeze({ __proto__: null, 101: true, 103: true, 204: true, 205: true, 304: true });
const REDIRECT_STATUS = freeze({ __proto__: null, 301: true, 302: true, 303: true, 307: true, 308: true });

class Response {
  #body;
  #headers;
  #status;
  #statusText;
  #type = 'default';
  #url = '';
  #redirected = false;

  constructor(body = null, init = undefined) {
    const given = readResponseInit(init);
    const { status, statusText } = given;
    if (status < 200 || status > 599) throw new RangeError('init["status"] must be in the range of 200 to 599, inclusive.');
    for (let i = 0; i < statusText.length; i++) {
      const unit = charCodeAt(statusText, i);
      if ((unit < 32 && unit !== 9) || unit === 127) throw new TypeError('Invalid statusText');
    }
    this.#status = status;
    this.#statusText = statusText;
    this.#headers = given.headers;
    this.#body = extractBody(body);
    if (this.#body.source === null) return;
    if (NULL_BODY_STATUS[status]) throw new TypeError('Response constructor: Invalid response status code');
    if (this.#body.type !== null && getHeader(this.#headers, 'content-type') === null) addHeader(this.#headers, 'content-type', this.#body.type);
  }

  static error() {
    const response = new Response();
    response.#status = 0;
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
    response.#status = code;
    addHeader(response.#headers, 'location', serializeUrl(target));
    freezeHeaders(response.#headers);
    return response;
  }

  get type() { return this.#type; }
  get url() { return this.#url; }
  get redirected() { return this.#redirected; }
  get status() { return this.#status; }
  get ok() { return this.#status >= 200 && this.#status <= 299; }
  get statusText() { return this.#statusText; }
  get headers() { return this.#headers; }

  clone() {
    const body = cloneBody(this.#body);
    const copy = new Response();
    copy.#body = body;
    copy.#headers = copyHeaders(this.#headers);
    copy.#status = this.#status;
    copy.#statusText = this.#statusText;
    copy.#type = this.#type;
    copy.#url = this.#url;
    copy.#redirected = this.#redirected;
    return copy;
  }

  static inside() {
    return {
      stateOf: (response) => response.#body,
      headersOf: (response) => response.#headers,
      /** What a server answered. Its headers cannot be changed. */
      fromHost: (reply, source) => {
        const response = new Response();
        response.#body = source === null ? noBody() : newBodyState(source, null);
        for (let i = 0; i < reply.headers.length; i++) addHeader(response.#headers, toLowerCase(reply.headers[i][0]), reply.headers[i][1]);
        freezeHeaders(response.#headers);
        response.#status = reply.status;
        response.#statusText = reply.statusText;
        response.#type = 'basic';
        response.#url = reply.url;
        response.#redirected = reply.redirected;
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
