//! oracle = false
// Node has some of them.
const names = ["WebSocket", "EventSource", "BroadcastChannel", "MessageChannel", "localStorage", "sessionStorage", "indexedDB", "caches", "document", "window", "importScripts", "Bun", "global", "module", "exports", "__dirname", "__filename", "setImmediate", "alert", "prompt", "print", "std", "os", "scriptArgs", "bjson", "gc", "load"];
return names.filter(name => name in globalThis);
//> value: []
