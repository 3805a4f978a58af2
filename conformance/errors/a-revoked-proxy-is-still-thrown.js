const { proxy, revoke } = Proxy.revocable(new Error("x"), {});
revoke();
throw proxy;
//> error: thrown
