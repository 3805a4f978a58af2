const t = new EventTarget();
t.addEventListener("x", event => event.preventDefault());
return [t.dispatchEvent(new Event("x", { cancelable: true })), t.dispatchEvent(new Event("x"))];
//> value: [false,true]
