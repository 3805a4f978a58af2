  // --- parts of the language that are there only when they are granted ---------------------------------------------------------------

  // V8 would compile on another thread and come back by a task of its own. Nobody runs those here: a program is over, or waits for
  // the host, when it has nothing more to do. So what gives a promise compiles at once.
  const compileAtOnce = () => {
    const { Instance, Module } = WebAssembly;
    const { customSections } = Module;
    const isModule = (value) => {
      try {
        customSections(value, '');
        return true;
      } catch {
        return false;
      }
    };
    WebAssembly.compile = { async compile(source) { return new Module(source); } }.compile;
    WebAssembly.instantiate = {
      async instantiate(source, imports = undefined) {
        if (isModule(source)) return new Instance(source, imports);
        const module = new Module(source);
        return { module, instance: new Instance(module, imports) };
      },
    }.instantiate;
  };

  // THREAT[T-ENGINE-007]: what is granted leads to what is not: the memory of a module may be shared memory.
  const withoutSharing = () => {
    const memory = WebAssembly.Memory.prototype;
    const { prototype: shared } = SharedArrayBuffer;
    const unshared = (buffer) => {
      if (getPrototypeOf(buffer) === shared) throw new TypeError('the memory is shared, and `SharedArrayBuffer` is not granted');
      return buffer;
    };
    const { get } = getOwnPropertyDescriptor(memory, 'buffer');
    defineProperty(memory, 'buffer', getOwnPropertyDescriptor({ get buffer() { return unshared(apply(get, this, [])); } }, 'buffer'));
    const others = ['toFixedLengthBuffer', 'toResizableBuffer'];
    for (let i = 0; i < others.length; i++) delete memory[others[i]];
  };

  const noData = ['Exception', 'Global', 'Instance', 'Memory', 'Module', 'Table', 'Tag'];
  const sharedBytes = uncurry(getOwnPropertyDescriptor(SharedArrayBuffer.prototype, 'byteLength').get);

  const publishBuiltins = (names) => {
    let isShared = false;
    let isCompiled = false;
    for (let i = 0; i < names.length; i++) {
      if (names[i] === 'SharedArrayBuffer') isShared = true;
      if (names[i] === 'WebAssembly') isCompiled = true;
    }
    if (isShared) {
      delete Atomics.waitAsync; // it comes back by a task as well
      hooks.showAs(SharedArrayBuffer, (buffer) => ({ fields: { byteLength: sharedBytes(buffer) } }));
      defineHidden(globalThis, 'SharedArrayBuffer', SharedArrayBuffer);
      defineHidden(globalThis, 'Atomics', Atomics);
    }
    if (isCompiled) {
      compileAtOnce();
      for (let i = 0; i < noData.length; i++) hooks.refuseClones(WebAssembly[noData[i]].prototype);
      if (!isShared) withoutSharing();
      defineHidden(globalThis, 'WebAssembly', WebAssembly);
    }
  };

