class Bus extends EventTarget { emit(type, detail) { return this.dispatchEvent(Object.assign(new Event(type), { detail })); } }
const bus = new Bus();
let got;
bus.addEventListener("m", event => { got = [event.detail, event.target === bus]; });
bus.emit("m", { a: 1 });
return got;
//> value: [{"a":1},true]
