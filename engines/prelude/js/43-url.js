// URL: the class over the parser.

class URL {
  #url;
  #params = undefined;

  constructor(input, base = undefined) {
    requireArguments(arguments, 1, 'URL');
    this.#url = readUrl(input, base);
    if (this.#url === undefined) throw invalidUrl(input);
  }

  static canParse(input, base = undefined) {
    requireArguments(arguments, 1, 'canParse');
    return readUrl(input, base) !== undefined;
  }
  static parse(input, base = undefined) {
    requireArguments(arguments, 1, 'parse');
    const record = readUrl(input, base);
    return record === undefined ? null : new URL(serializeUrl(record));
  }

  get href() { return serializeUrl(this.#url); }
  set href(value) {
    const record = parseUrl(wellFormed(value), undefined);
    if (record === undefined) throw invalidUrl(value);
    this.#url = record;
    this.#syncParams();
  }
  get origin() { return originOf(this.#url); }

  get protocol() { return this.#url.scheme + ':'; }
  set protocol(value) {
    const url = this.#url;
    const text = removeTabsAndNewlines(wellFormed(value)) + ':';
    const length = schemeLength(text);
    if (length === -1) return;
    const scheme = toLowerCase(slice(text, 0, length));
    if ((SPECIAL_PORTS[scheme] !== undefined) !== isSpecial(url)) return;
    if (scheme === 'file' && (hasCredentials(url) || url.port !== null)) return;
    if (url.scheme === 'file' && (url.host === '' || url.host === null)) return;
    url.scheme = scheme;
    if (url.port === SPECIAL_PORTS[scheme]) url.port = null;
  }

  get username() { return this.#url.username; }
  set username(value) {
    const text = wellFormed(value);
    if (canHaveCredentials(this.#url)) this.#url.username = percentEncode(text, ENCODE_USERINFO);
  }
  get password() { return this.#url.password; }
  set password(value) {
    const text = wellFormed(value);
    if (canHaveCredentials(this.#url)) this.#url.password = percentEncode(text, ENCODE_USERINFO);
  }

  get host() { return serializeHost(this.#url); }
  set host(value) { setHost(this.#url, wellFormed(value), true); }
  get hostname() { return this.#url.host ?? ''; }
  set hostname(value) { setHost(this.#url, wellFormed(value), false); }

  get port() { return this.#url.port === null ? '' : toText(this.#url.port); }
  set port(value) {
    const text = removeTabsAndNewlines(wellFormed(value));
    if (!canHaveCredentials(this.#url)) return;
    if (text === '') this.#url.port = null;
    else setPort(this.#url, leadingDigits(text));
  }

  get pathname() { return serializePath(this.#url); }
  set pathname(value) {
    const url = this.#url;
    const text = removeTabsAndNewlines(wellFormed(value));
    if (hasOpaquePath(url)) return;
    url.path = newList();
    if (isSpecial(url) || text !== '') parsePath(url, isSlash(text[0], isSpecial(url)) ? slice(text, 1) : text);
    else if (url.host === null) push(url.path, '');
  }

  get search() { return this.#url.query === null || this.#url.query === '' ? '' : '?' + this.#url.query; }
  set search(value) {
    const text = removeTabsAndNewlines(wellFormed(value));
    if (text === '') {
      this.#url.query = null;
      stripOpaqueSpaces(this.#url);
    } else this.#url.query = encodeQuery(this.#url, text[0] === '?' ? slice(text, 1) : text);
    this.#syncParams();
  }
  get searchParams() {
    if (this.#params === undefined) {
      this.#params = new URLSearchParams();
      this.#syncParams();
      linkSearchParams(this.#params, (query) => {
        this.#url.query = query === '' ? null : query;
        if (query === '') stripOpaqueSpaces(this.#url);
      });
    }
    return this.#params;
  }

  get hash() { return this.#url.fragment === null || this.#url.fragment === '' ? '' : '#' + this.#url.fragment; }
  set hash(value) {
    const text = removeTabsAndNewlines(wellFormed(value));
    if (text === '') {
      this.#url.fragment = null;
      stripOpaqueSpaces(this.#url);
    } else this.#url.fragment = percentEncode(text[0] === '#' ? slice(text, 1) : text, ENCODE_FRAGMENT);
  }

  toString() { return serializeUrl(this.#url); }
  toJSON() { return serializeUrl(this.#url); }

  #syncParams() { if (this.#params !== undefined) replaceSearchPairs(this.#params, this.#url.query ?? ''); }

  static inside() { return { recordOf: (value) => value.#url }; }
}
const { recordOf: urlRecord } = URL.inside();
delete URL.inside;
publish(URL);
showAs(URL, (url) => {
  const record = urlRecord(url);
  return { fields: { href: serializeUrl(record), origin: originOf(record), protocol: record.scheme + ':', username: record.username,
    password: record.password, host: serializeHost(record), hostname: record.host ?? '', port: record.port === null ? '' : toText(record.port),
    pathname: serializePath(record), search: record.query ? '?' + record.query : '', searchParams: new URLSearchParams(record.query ?? ''),
    hash: record.fragment ? '#' + record.fragment : '' } };
});

/** The record of a guest's URL text (or URL object) against its base; undefined when either is no URL. */
function readUrl(input, base) {
  const text = wellFormed(input);
  if (base === undefined) return parseUrl(text, undefined);
  const against = parseUrl(wellFormed(base), undefined);
  return against === undefined ? undefined : parseUrl(text, against);
}

function invalidUrl(input) {
  const error = new TypeError('Invalid URL');
  defineVisible(error, 'code', 'ERR_INVALID_URL');
  defineVisible(error, 'input', toText(input));
  return error;
}

const canHaveCredentials = (url) => url.host !== null && url.host !== '' && url.scheme !== 'file';

function leadingDigits(text) {
  let end = 0;
  while (end < text.length && isDigit(charCodeAt(text, end))) end += 1;
  return slice(text, 0, end);
}

/** What `host` and `hostname` set. Nothing changes when the new host is not one. */
function setHost(url, given, withPort) {
  if (hasOpaquePath(url)) return;
  const special = isSpecial(url);
  const text = removeTabsAndNewlines(given);
  let end = 0;
  while (end < text.length && !isSlash(text[end], special) && text[end] !== '?' && text[end] !== '#') end += 1;
  const whole = slice(text, 0, end);
  if (url.scheme === 'file') {
    const host = whole === '' ? '' : parseHost(whole, true);
    if (host !== undefined) url.host = host === 'localhost' ? '' : host;
    return;
  }
  const colon = portColon(whole);
  if (colon !== -1 && !withPort) return;
  const name = colon === -1 ? whole : slice(whole, 0, colon);
  if (name === '' && (special || colon !== -1 || hasCredentials(url) || url.port !== null)) return;
  const host = name === '' ? '' : parseHost(name, special);
  if (host === undefined) return;
  url.host = host;
  if (colon !== -1) setPort(url, leadingDigits(slice(whole, colon + 1)));
}

/** Spaces at the end of an opaque path would be lost when what follows them goes. */
function stripOpaqueSpaces(url) {
  if (!hasOpaquePath(url) || url.query !== null || url.fragment !== null) return;
  let end = url.path.length;
  while (end > 0 && url.path[end - 1] === ' ') end -= 1;
  url.path = slice(url.path, 0, end);
}
