return ["https://MÜNCHEN.de/", "https://日本.jp/", "https://xn--mnchen-3ya.de/"].map(u => new URL(u).hostname);
//> value: ["xn--mnchen-3ya.de","xn--wgv71a.jp","xn--mnchen-3ya.de"]
