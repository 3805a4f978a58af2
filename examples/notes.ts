// Keeps notes in a key space, and writes them to a file.
interface Note { text: string; at: string }

const notes: Note[] = (await kv.notes.get("all")) ?? [];
notes.push({ text: "checked the mail", at: new Date().toISOString() });
await kv.notes.put("all", notes);
await files.write("out/notes.md", notes.map((note) => `- ${note.text}`).join("\n"));
return notes.length;
