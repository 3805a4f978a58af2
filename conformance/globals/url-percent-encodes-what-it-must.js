return new URL("https://x/a b\"<>`{}é?q=a b'\"<>#f g`").href;
//> value: "https://x/a%20b%22%3C%3E%60%7B%7D%C3%A9?q=a%20b%27%22%3C%3E#f%20g%60"
