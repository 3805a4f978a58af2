return String(new URLSearchParams({ q: "a b+c&d=e~é*-._'()!" }));
//> value: "q=a+b%2Bc%26d%3De%7E%C3%A9*-._%27%28%29%21"
