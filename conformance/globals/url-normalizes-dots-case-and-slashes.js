return ["HTTP://EXAMPLE.com/A/./b/../c", "http:\\\\x\\y\\z", "http://x//a//b", "http://x/%7Efoo/%2e%2e/bar", "  http://x/ \n"].map(u => new URL(u).href);
//> value: ["http://example.com/A/c","http://x/y/z","http://x//a//b","http://x/bar","http://x/"]
