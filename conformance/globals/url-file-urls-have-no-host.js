return ["file:///etc/hosts", "file://localhost/x", "file:/C:/a/../b"].map(u => { const p = new URL(u); return [p.href, p.host, p.origin]; });
//> value: [["file:///etc/hosts","","null"],["file:///x","","null"],["file:///C:/b","","null"]]
