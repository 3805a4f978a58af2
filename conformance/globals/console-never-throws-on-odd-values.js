const { proxy, revoke } = Proxy.revocable({}, {});
revoke();
console.error(proxy);
console.log({ toString() { throw 1; } }, { get a() { throw 2; } });
return "went on";
//> value: "went on"
//> stdout: "{ toString: [Function: toString] } { a: [Getter] }"
