/**
 * Runs inside the sandbox before a program, and gives it what a foreign interface promises: a `console` in that
 * interface's format, tools under other names, namespaces of tools. It travels as data and is compiled on its own there, so no
 * text of a program can reach into it. Intrinsics are taken before the program can change them.
 */
export const GUEST_HELPER = `(function (setup) {
  "use strict";
  delete globalThis.isolith$;
  var ErrorClass = Error, text = String, stringify = JSON.stringify, parse = JSON.parse, call = tools[setup.dispatch];
  var isView = ArrayBuffer.isView, Bytes = Uint8Array, Buffer = ArrayBuffer, encode = btoa, decode = atob, code = String.fromCharCode;
  var hasOwn = Function.prototype.call.bind(Object.prototype.hasOwnProperty), at = Function.prototype.call.bind(String.prototype.charCodeAt);
  var make = Function, spread = Reflect.apply;

  function show(value) {
    if (typeof value === "string") return value;
    try {
      if (setup.json && typeof value === "object" && value !== null && !(value instanceof ErrorClass)) {
        var json = stringify(value);
        if (json !== undefined) return json;
      }
    } catch (ignored) {}
    try { return text(value); } catch (ignored) { return "[unprintable]"; }
  }

  if (setup.prefixes) {
    var write = console.log, entries = 0, units = 0, full = false;
    var method = function (prefix) {
      return function () {
        if (full) return;
        var line = prefix;
        for (var i = 0; i < arguments.length; i++) line += (i === 0 ? "" : " ") + show(arguments[i]);
        entries += 1;
        units += line.length;
        if (entries > setup.entriesMax || units > setup.unitsMax) { full = true; line = setup.truncated; }
        write(line);
      };
    };
    for (var name in setup.prefixes) console[name] = method(setup.prefixes[name]);
  }

  for (var global in setup.globals) globalThis[global] = tools[setup.globals[global]];

  function outgoing(key, value) {
    var view = isView(value), whole = !view && value instanceof Buffer;
    if (!view && !whole) return value;
    var bytes = view ? new Bytes(value.buffer, value.byteOffset, value.byteLength) : new Bytes(value), binary = "";
    for (var i = 0; i < bytes.length; i++) binary += code(bytes[i]);
    return { __codemode_binary_v1__: encode(binary), buffer: whole };
  }
  function incoming(key, value) {
    if (typeof value !== "object" || value === null || !hasOwn(value, "__codemode_binary_v1__")) return value;
    var binary = decode(value.__codemode_binary_v1__), bytes = new Bytes(binary.length);
    for (var i = 0; i < binary.length; i++) bytes[i] = at(binary, i);
    return value.buffer ? bytes.buffer : bytes;
  }
  function namespace(index) {
    return new Proxy({}, {
      get: function (target, name) {
        if (hasOwn(target, name)) return target[name];
        if (typeof name !== "string" || name === "then") return undefined;
        return async function () {
          var sent = [];
          for (var i = 0; i < arguments.length; i++) sent[i] = arguments[i];
          var answer = await call([index, name, stringify(sent, outgoing)]);
          return answer === undefined ? undefined : parse(answer, incoming);
        };
      },
    });
  }
  for (var i = 0; setup.namespaces && i < setup.namespaces.length; i++) globalThis[setup.namespaces[i].name] = namespace(i);
  for (i = 0; setup.namespaces && i < setup.namespaces.length; i++) {
    if (setup.namespaces[i].prelude) spread(make(setup.namespaces[i].prelude), undefined, []);
  }
})`;
