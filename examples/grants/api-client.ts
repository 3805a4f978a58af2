// Wraps `fetch` in a function of its own: the places that call it say which requests there are.
const BASE = "https://api.tasks.test/v1";

async function api<T>(path: string, init?: { method: string; body: string }): Promise<T> {
  const response = await fetch(`${BASE}${path}`, { ...init, headers: { "content-type": "application/json" } });
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

interface Task {
  id: number;
  title: string;
}

const created = await api<Task>("/tasks", { method: "POST", body: JSON.stringify({ title: "write tests" }) });
const tasks = await api<Task[]>("/tasks");
const { name } = await api<{ name: string }>("/users/me");
return { created: created.id, open: tasks.length, name };
