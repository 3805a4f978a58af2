// The fragments keep their own rules: no method of a built-in is looked up at call time, no iteration by protocol.
import { readFileSync } from 'node:fs';
import { source } from './load.mjs';

const METHODS = 'push pop shift unshift slice splice map filter reduce join concat indexOf includes forEach some every find sort reverse split replace replaceAll trim ' +
  'charCodeAt codePointAt startsWith endsWith padStart padEnd repeat toLowerCase toUpperCase match test exec call bind then catch finally subarray toFixed getTime toISOString substring substr at';
const pattern = new RegExp(`[\\w\\])'"\`]\\??\\.(${METHODS.split(' ').join('|')})\\(`, 'g');
const GLOBALS = 'Object Array Reflect JSON Math Number String Symbol Promise Map Set WeakMap Date Error RegExp Proxy';
const statics = new RegExp(`\\b(${GLOBALS.split(' ').join('|')})\\.(?!prototype\\b|for\\b)\\w+\\(`, 'g');

export default function check({ is }) {
  const { names, text } = source();
  is('sources', 'the fragments are in order', [...names].sort().join(), names.join());
  new Function(`return ${text}`);
  for (const name of names) {
    const code = readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')
      .replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
    const found = name.endsWith('00-primordials.js') ? [] : [...(code.match(pattern) ?? []), ...(code.match(statics) ?? []), ...(code.match(/\.\.\.(?!data|values|EN|EN_WORLD|numberLocales)[\w[(]+/g) ?? [])];
    is('sources', `${name} looks up no method of a built-in`, found.join(' '), '');
    const bare = code.replace(/'(?:[^'\\\n]|\\.)*'/g, '').replace(/"(?:[^"\\\n]|\\.)*"/g, '');
    is('sources', `${name} has no template literal`, bare.includes('`'), false);
    is('sources', `${name} ends with a line feed`, code.endsWith('\n'));
  }
}
