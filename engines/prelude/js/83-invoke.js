// invoke and secrets: other programs, and what the guest may know of secrets. The host says which there are.

const PROGRAM_NAME_MAX = 64;
const SECRET_NAME_MAX = 128;
/** A name that the host can look up at all. Anything else cannot be granted, whatever the grants are. */
const hostName = (name, what, most, isUnit) => {
  if (typeof name !== 'string') throw new TypeError('The name of a ' + what + ' must be a string');
  let ok = name !== '' && name.length <= most && name !== '__proto__';
  for (let i = 0; ok && i < name.length; i++) ok = isUnit(charCodeAt(name, i), i);
  if (!ok) throw new TypeError(inspect(name) + ' cannot be the name of a ' + what);
  return name;
};
const isNameUnit = (unit, i) => isAlpha(unit) || unit === 95 || unit === 36 || (i > 0 && isDigit(unit));
const isSecretUnit = (unit) => isAlpha(unit) || isDigit(unit) || unit === 46 || unit === 95 || unit === 45;

const invokeGlobal = {
  async invoke(name, input) {
    return await nativeAsk({ __proto__: null, kind: 'invoke', name: hostName(name, 'program', PROGRAM_NAME_MAX, isNameUnit), args: input });
  },
}.invoke;

const secrets = freeze({
  __proto__: null,
  async get(name) { return await nativeAsk({ __proto__: null, kind: 'reveal', name: hostName(name, 'secret', SECRET_NAME_MAX, isSecretUnit) }); },
});
