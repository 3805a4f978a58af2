// DOMException: the error class of the web platform, with its names and their legacy codes.

const DOM_CODES = [
  ['IndexSizeError', 'INDEX_SIZE_ERR', 1], [undefined, 'DOMSTRING_SIZE_ERR', 2], ['HierarchyRequestError', 'HIERARCHY_REQUEST_ERR', 3],
  ['WrongDocumentError', 'WRONG_DOCUMENT_ERR', 4], ['InvalidCharacterError', 'INVALID_CHARACTER_ERR', 5],
  [undefined, 'NO_DATA_ALLOWED_ERR', 6], ['NoModificationAllowedError', 'NO_MODIFICATION_ALLOWED_ERR', 7],
  ['NotFoundError', 'NOT_FOUND_ERR', 8], ['NotSupportedError', 'NOT_SUPPORTED_ERR', 9],
  ['InUseAttributeError', 'INUSE_ATTRIBUTE_ERR', 10], ['InvalidStateError', 'INVALID_STATE_ERR', 11], ['SyntaxError', 'SYNTAX_ERR', 12],
  ['InvalidModificationError', 'INVALID_MODIFICATION_ERR', 13], ['NamespaceError', 'NAMESPACE_ERR', 14],
  ['InvalidAccessError', 'INVALID_ACCESS_ERR', 15], [undefined, 'VALIDATION_ERR', 16], ['TypeMismatchError', 'TYPE_MISMATCH_ERR', 17],
  ['SecurityError', 'SECURITY_ERR', 18], ['NetworkError', 'NETWORK_ERR', 19], ['AbortError', 'ABORT_ERR', 20],
  ['URLMismatchError', 'URL_MISMATCH_ERR', 21], ['QuotaExceededError', 'QUOTA_EXCEEDED_ERR', 22], ['TimeoutError', 'TIMEOUT_ERR', 23],
  ['InvalidNodeTypeError', 'INVALID_NODE_TYPE_ERR', 24], ['DataCloneError', 'DATA_CLONE_ERR', 25],
];
const domCodeOfName = { __proto__: null };
for (let i = 0; i < DOM_CODES.length; i++) if (DOM_CODES[i][0] !== undefined) domCodeOfName[DOM_CODES[i][0]] = DOM_CODES[i][2];

class DOMException extends Error {
  #name;

  constructor(message = '', options = 'Error') {
    super(toText(message));
    const named = isObject(options);
    const name = named ? options.name : options;
    this.#name = name === undefined ? 'Error' : toText(name);
    if (named && 'cause' in options) defineHidden(this, 'cause', options.cause);
    nameStack(this, this.#name, toText(message));
  }

  // A field does not exist yet while `super` runs, and V8 asks for the name then.
  get name() { return #name in this ? this.#name : 'Error'; }
  get code() { return domCodeOfName[this.#name] ?? 0; }
}
for (let i = 0; i < DOM_CODES.length; i++) {
  const constant = { __proto__: null, value: DOM_CODES[i][2], writable: false, enumerable: true, configurable: false };
  defineProperty(DOMException, DOM_CODES[i][1], constant);
  defineProperty(DOMException.prototype, DOM_CODES[i][1], constant);
}
defineProperty(DOMException, 'length', { __proto__: null, value: 0, writable: false, enumerable: false, configurable: true });
publish(DOMException);

/** V8 wrote the first line of the stack before the name was known. QuickJS has no such line. */
function nameStack(error, name, message) {
  const descriptor = getOwnPropertyDescriptor(error, 'stack');
  const stack = descriptor === undefined ? undefined : readQuietly(error, 'stack');
  if (typeof stack !== 'string' || stack === '' || startsWith(stack, '    at ')) return;
  const frames = indexOf(stack, '\n    at ');
  defineHidden(error, 'stack', '' + name + (message === '' ? '' : ': ' + message) + (frames === -1 ? '' : slice(stack, frames)));
}
