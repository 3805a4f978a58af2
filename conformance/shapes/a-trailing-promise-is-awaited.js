const later = Promise.resolve({ ok: true });
later;
//> value: {"ok":true}
