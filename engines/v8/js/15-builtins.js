  // --- parts of the language that are there only when they are granted ---------------------------------------------------------------

  /** What takes the place of a class: objects are made by `make`, and everything else stays as it was. */
  const standIn = (Native, make) => {
    const { name } = Native;
    const Guest = function (first, second) {
      if (new.target === undefined) throw new TypeError(name + " cannot be called without 'new'");
      return make(first, second, new.target);
    };
    const keys = ownKeys(Native);
    for (let i = 0; i < keys.length; i++) defineProperty(Guest, keys[i], getOwnPropertyDescriptor(Native, keys[i]));
    defineHidden(Native.prototype, 'constructor', Guest);
    return Guest;
  };

  // THREAT[T-ENGINE-007]: what is granted leads to what is not, or around a limit: V8 does not count memory that is shared and can grow.
  // A program is one thread. Nobody could share a module's memory with it, and no buffer has to grow in its place.
  const FixedSharedArrayBuffer = standIn(SharedArrayBuffer, (length, options, target) => {
    const grows = typeof options === 'object' && options !== null && options.maxByteLength !== undefined;
    if (grows) throw new TypeError('shared memory cannot grow here');
    return construct(SharedArrayBuffer, [length], target);
  });

  const typedLength = uncurry(getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype), 'length').get);
  const HEADER_BYTES = 8;
  const SECTION_MEMORY = 5;
  const NEVER_SHARED = [0, 1, 4, 5]; // the limits of a memory: with a maximum (1), of 64 bits (4); 2 is shared
  /** Whether a memory that a module declares is shared. One that it imports is made here, and is not. */
  const declaresShared = (bytes) => {
    const end = typedLength(bytes);
    let at = HEADER_BYTES;
    const number = () => {
      let value = 0;
      for (let shift = 1; at < end; shift *= 128) {
        const byte = bytes[at++];
        value += (byte & 127) * shift;
        if (byte < 128) return value;
      }
      return 0;
    };
    while (at < end) {
      const section = bytes[at++];
      const length = number();
      if (section !== SECTION_MEMORY) {
        at += length;
        continue;
      }
      for (let left = number(); left > 0 && at < end; left--) {
        const limits = bytes[at++];
        let isKnown = false;
        for (let i = 0; i < NEVER_SHARED.length; i++) isKnown ||= limits === NEVER_SHARED[i];
        if (!isKnown) return true;
        number();
        if (limits & 1) number();
      }
      return false; // a module has this section once
    }
    return false;
  };

  const publishWebAssembly = () => {
    const { CompileError, Instance, Memory, Module } = WebAssembly;
    const { customSections } = Module;
    const isModule = (value) => {
      try {
        customSections(value, '');
        return true;
      } catch {
        return false;
      }
    };
    // What is looked at is what is compiled, whoever else could write to the source.
    const compiled = (source, options, target) => {
      const bytes = hooks.copyOfBytes(source);
      if (bytes === undefined) throw new TypeError('a module is made from an ArrayBuffer or a view of one');
      if (declaresShared(bytes)) throw new CompileError('a memory of the module is shared: a program is one thread');
      return construct(Module, [bytes, options], target);
    };
    const GuestModule = standIn(Module, compiled);
    const GuestMemory = standIn(Memory, (given, _, target) => {
      if (typeof given !== 'object' || given === null) return construct(Memory, [given], target);
      const told = { __proto__: null };
      const keys = ['address', 'initial', 'minimum', 'maximum', 'shared'];
      for (let i = 0; i < keys.length; i++) {
        const value = given[keys[i]];
        if (value !== undefined) told[keys[i]] = value;
      }
      if (told.shared) throw new TypeError('memory cannot be shared here: a program is one thread');
      return construct(Memory, [told], target);
    });

    // V8 would compile on another thread and come back by a task of its own. Nobody runs those here: a program is over, or waits for
    // the host, when it has nothing more to do. So what gives a promise compiles at once.
    WebAssembly.compile = {
      async compile(source, options = undefined) { return compiled(source, options, GuestModule); },
    }.compile;
    WebAssembly.instantiate = {
      async instantiate(source, imports = undefined, options = undefined) {
        if (isModule(source)) return new Instance(source, imports);
        const module = compiled(source, options, GuestModule);
        return { module, instance: new Instance(module, imports) };
      },
    }.instantiate;

    const noData = ['Exception', 'Global', 'Instance', 'Memory', 'Module', 'Suspending', 'Table', 'Tag'];
    for (let i = 0; i < noData.length; i++) hooks.refuseClones(WebAssembly[noData[i]].prototype);
    defineHidden(WebAssembly, 'Module', GuestModule);
    defineHidden(WebAssembly, 'Memory', GuestMemory);
    defineHidden(globalThis, 'WebAssembly', WebAssembly);
  };

  const sharedBytes = uncurry(getOwnPropertyDescriptor(SharedArrayBuffer.prototype, 'byteLength').get);

  const publishShared = () => {
    delete Atomics.waitAsync; // it comes back by a task as well
    hooks.showAs(SharedArrayBuffer, (buffer) => ({ fields: { byteLength: sharedBytes(buffer) } }));
    defineHidden(globalThis, 'SharedArrayBuffer', FixedSharedArrayBuffer);
    defineHidden(globalThis, 'Atomics', Atomics);
  };

  const publishBuiltins = (names) => {
    for (let i = 0; i < names.length; i++) {
      if (names[i] === 'SharedArrayBuffer') publishShared();
      if (names[i] === 'WebAssembly') publishWebAssembly();
    }
  };

