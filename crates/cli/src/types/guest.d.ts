// What every program has besides the language and the web's common globals. What was not granted is not there when it runs.

/** What the program was started with. */
declare const input: any;

interface KvEntry<T = any> {
  value: T;
  metadata: any;
  version: number;
  expires: number | null;
}

interface KvSpace {
  get<T = any>(key: string): Promise<T | undefined>;
  getMany<T = any>(keys: string[]): Promise<(T | undefined)[]>;
  getWithMetadata<T = any>(key: string): Promise<KvEntry<T> | undefined>;
  put(key: string, value: unknown, options?: { ttl?: number; metadata?: unknown; expect?: number }): Promise<any>;
  delete(key: string, options?: { expect?: number }): Promise<any>;
  list(options?: { prefix?: string; cursor?: string; limit?: number }): Promise<any>;
  [more: string]: any;
}

/** Key spaces, by the names of their grants. */
declare const kv: KvSpace & { [space: string]: KvSpace };

/** Files under the granted folders. */
declare const files: {
  read(path: string, options?: { offset?: number; length?: number }): Promise<Uint8Array>;
  readText(path: string): Promise<string>;
  readJson<T = any>(path: string): Promise<T>;
  write(path: string, content: string | Uint8Array): Promise<any>;
  writeJson(path: string, value: unknown): Promise<any>;
  append(path: string, content: string | Uint8Array): Promise<any>;
  list(path?: string): Promise<any>;
  stat(path: string): Promise<any>;
  exists(path: string): Promise<boolean>;
  remove(path: string, options?: { recursive?: boolean }): Promise<any>;
  makeFolder(path: string): Promise<any>;
  rename(from: string, to: string): Promise<any>;
  [more: string]: any;
};

/** Runs another program. */
declare function invoke<T = any>(name: string, input?: unknown): Promise<T>;

/** Secrets that are granted to be read. */
declare const secrets: { get(name: string): Promise<string> };
