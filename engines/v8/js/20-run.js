  // --- what grants give names to: see 90-bindings.js of the prelude ---------------------------------------------------------------------

  const spaceNames = new WeakMap();
  const spaces = new Map();
  const defineGlobal = (name, value) => { defineHidden(globalThis, name, value); };
  const addFixed = (holder, key, value) => {
    defineProperty(holder, key, { __proto__: null, value, writable: false, enumerable: true, configurable: false });
  };
  const publishTools = (names, namespaces, functions) => {
    const tools = create(null);
    for (let i = 0; i < names.length; i++) {
      const made = tool(names[i], names[i]);
      addFixed(tools, names[i], made);
      defineGlobal('external_' + names[i], made);
    }
    for (let i = 0; i < namespaces.length; i++) {
      if (!(namespaces[i] in tools)) addFixed(tools, namespaces[i], hooks.makeNamespace(namespaces[i]));
    }
    for (let i = 0; i < functions.length; i++) {
      const dot = indexOf(functions[i], '.');
      const space = slice(functions[i], 0, dot);
      const own = slice(functions[i], dot + 1);
      const twin = 'external_' + space + '_' + own;
      const made = tools[space] === undefined ? undefined : tools[space][own];
      if (typeof made === 'function' && !(twin in globalThis)) defineGlobal(twin, made);
    }
    if (namespaces.length + functions.length > 0) {
      const about = ['search', 'describe'];
      for (let i = 0; i < about.length; i++) if (!(about[i] in tools)) addFixed(tools, about[i], hooks.aboutTools[about[i]]);
    }
    defineGlobal('tools', freeze(tools));
  };
  const makeSpace = (name) => {
    const space = create(hooks.spaceMethods);
    weakMapSet(spaceNames, space, name);
    return space;
  };
  const publishSpaces = (names) => {
    const kv = names.length === 1 ? makeSpace(names[0]) : create(hooks.spacesMethods);
    for (let i = 0; i < names.length; i++) {
      const space = freeze(makeSpace(names[i]));
      mapSet(spaces, names[i], space);
      if (!(names[i] in kv)) addFixed(kv, names[i], space);
    }
    defineGlobal('kv', freeze(kv));
  };
  const publish = (granted) => {
    for (let i = 0; i < granted.globals.length; i++) defineGlobal(granted.globals[i], hooks.bindings[granted.globals[i]]);
    if (granted.tools.length + granted.namespaces.length + granted.functions.length > 0) {
      publishTools(granted.tools, granted.namespaces, granted.functions);
    }
    if (granted.kv.length > 0) publishSpaces(granted.kv);
    if (granted.builtins.length > 0) publishBuiltins(granted.builtins);
  };

  // --- one run ----------------------------------------------------------------------------------------------------------------------------

  const FORM_BODY = 0;
  const FORM_SCRIPT = 1;
  const FORM_MODULE = 2;
  const END_VALUE = 0;
  const END_UNDEFINED = 1;
  const END_THROWN = 2;
  const END_SYNTAX = 3;
  const END_STALLED = 4;
  const END_STACK = 6;
  const PENDING = 0;
  const FULFILLED = 1;
  const NAME_CHARS_MAX = 256;
  const TEXT_CHARS_MAX = 16 << 10;

  let form = FORM_BODY;
  let run; // the promise of the run in progress
  let completion; // a script's value, known before its jobs are done

  /** Reads a property for a report. The program's own getters may run, and fail; then there is nothing to report. */
  const look = (object, key) => {
    try {
      return object[key];
    } catch {
      return undefined;
    }
  };
  const describe = (thrown) => {
    if (typeof thrown === 'symbol') return thrown.description ?? 'Symbol()';
    if ((typeof thrown !== 'object' || thrown === null) && typeof thrown !== 'function') return String(thrown);
    try {
      return jsonStringify(thrown) ?? 'an object was thrown';
    } catch {
      return 'an object was thrown';
    }
  };
  const short = (text, most) => (typeof text === 'string' ? slice(text, 0, most) : undefined);
  const endFailed = (end, thrown) => {
    let name;
    let message;
    let stack;
    let code;
    let kind = end;
    if ((typeof thrown === 'object' && thrown !== null) || typeof thrown === 'function') {
      name = look(thrown, 'name');
      message = look(thrown, 'message');
      stack = look(thrown, 'stack');
      code = look(thrown, 'code');
      if (end === END_THROWN && isOverflow(thrown, message)) kind = END_STACK;
    }
    if (typeof message !== 'string') message = describe(thrown);
    cell[0] = kind;
    cell[1] = short(name, NAME_CHARS_MAX);
    cell[2] = short(message, TEXT_CHARS_MAX);
    cell[3] = short(stack, TEXT_CHARS_MAX);
    cell[4] = short(code, NAME_CHARS_MAX);
    workerEnd();
  };
  const endValue = (value) => {
    let text;
    try {
      text = jsonStringify(value);
    } catch (error) {
      endFailed(END_THROWN, error);
      return;
    }
    cell[0] = text === undefined ? END_UNDEFINED : END_VALUE;
    cell[1] = text;
    workerEnd();
  };

  /** Runs every ready job, and says what nobody listened to. */
  const runJobs = () => {
    for (;;) {
      workerJobs();
      if (unhandled.length === 0) return;
      reportRejections(); // and showing them may have made new jobs
    }
  };
  const hasEnded = () => form !== FORM_SCRIPT && promiseState(run)[0] !== PENDING;

  /** Says where the run stands now that nothing is ready: true when it is over. */
  const standing = () => {
    const waits = outstanding > 0 || timers.length > 0;
    if (form === FORM_SCRIPT) {
      if (!waits) {
        endValue(completion);
        return true;
      }
    } else {
      const state = promiseState(run);
      if (state[0] === FULFILLED) {
        endValue(form === FORM_MODULE ? undefined : state[1]);
        return true;
      }
      if (state[0] !== PENDING) {
        endFailed(END_THROWN, state[1]);
        return true;
      }
      if (!waits) {
        cell[0] = END_STALLED;
        workerEnd();
        return true;
      }
    }
    timersAsk();
    return false;
  };

  const evaluate = (name, code) => {
    cell[0] = name;
    cell[1] = code;
    cell[2] = form;
    try {
      workerCompile();
    } catch (error) {
      endFailed(END_SYNTAX, error);
      return false;
    }
    try {
      workerRun();
      const made = cell[0];
      cell[0] = undefined;
      if (form === FORM_BODY) run = made();
      else if (form === FORM_SCRIPT) completion = made;
      else run = made;
    } catch (error) {
      endFailed(END_THROWN, error);
      return false;
    }
    return true;
  };
  /** The first step; true when the run is over. */
  const start = () => {
    nowUs = cell[1];
    startedUs = nowUs;
    form = cell[2];
    const name = cell[3];
    const code = cell[4];
    const granted = jsonParse(cell[5]);
    const config = cell[6];
    banned = granted.banned;
    payloadMax = granted.payload_max;
    publish(granted);
    if (config !== undefined) hooks.configure(jsonParse(config));
    if (!evaluate(name, code)) return true;
    runJobs();
    return standing();
  };
  /** Every other step. */
  const turn = () => {
    if (cell[1] > nowUs) nowUs = cell[1];
    for (;;) {
      workerReply();
      const id = cell[0];
      if (id < 0) break;
      const kind = cell[1];
      const first = cell[2];
      const second = cell[3];
      const third = cell[4];
      const call = mapGet(calls, id);
      if (call !== undefined) {
        mapDelete(calls, id);
        outstanding -= 1;
        settle(call, kind, first, second, third);
        runJobs();
      } else if (id === sleepCall) {
        sleepCall = -1;
        try {
          while (timerFire()) {
            runJobs();
            if (hasEnded()) break; // what comes after the end does not happen
          }
        } catch (error) {
          endFailed(END_THROWN, error);
          return true;
        }
      } // else the wake-up of a timer that an earlier one has replaced
      if (hasEnded()) break;
    }
    return standing();
  };

  const hooks = (() => {
    cell[0] = preludeName;
    cell[1] = preludeText;
    cell[2] = FORM_SCRIPT;
    workerCompile();
    workerRun();
    return cell[0](native);
  })();

  delete globalThis.WeakRef; // the prelude looks at it once, for structuredClone

  /** What `import()` gives. Its module is there already, or its source came along. */
  const importModule = async (specifier, importer) => {
    cell[0] = specifier;
    cell[1] = importer;
    workerImport();
    const evaluated = cell[0];
    const namespace = cell[1];
    await evaluated;
    return namespace;
  };

  /** Runs a program that is nobody's. */
  const touch = (code) => {
    jsonParse('{"banned":0,"payload_max":1,"globals":[],"tools":[],"namespaces":[],"functions":[],"kv":[],"builtins":[]}');
    publishTools(['warm'], [], []);
    delete globalThis.external_warm;
    defineGlobal('tools', freeze(create(null)));
    defineGlobal('input', undefined);
    cell[0] = preludeName;
    cell[1] = code;
    cell[2] = FORM_BODY;
    workerCompile();
    workerRun();
    run = cell[0]();
    runJobs();
    hasEnded();
    jsonStringify(promiseState(run)[1]);
    run = undefined;
    cell[0] = undefined;
    cell[1] = undefined;
  };

  /** Does a little of everything once, before there are copies: each of them would have to learn it otherwise. */
  const warmUp = () => {
    touch('const l = [3, 1, 2].map((x) => x * 1.5).sort(); const o = { ...{ a: l }, b: `${l}` }; let n = 0; '
      + 'for (const x of l) n += x; try { null.x; } catch (e) { n += e.stack.length; } '
      + 'return [await 1, n, new Map([[1, o]]).size, new Date(0).toISOString(), "a-b".split("-"), /b+/.test("abb"), new Set(l).size]');
  };

  const main = () => {
    touch('return await 1'); // what any program touches is then a page of this copy's own, before anybody waits for it
    workerReady();
    workerReceive();
    let over = start();
    while (!over) {
      workerWait();
      workerReceive();
      over = turn();
    }
  };
  return [main, onRejection, formatStack, importModule, warmUp];
})
