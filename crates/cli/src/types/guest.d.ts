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
  read(path: string, options?: { offset?: number; length?: number; version?: number }): Promise<Uint8Array>;
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
  /** Whole lines; they are counted from 1. */
  readLines(path: string, options?: { from?: number; lines?: number }): Promise<{ text: string; from: number; lines: number; total: number }>;
  /** `old` has to be there once, to the letter, unless `all` says wherever it is. */
  edit(path: string, old: string, replacement: string, options?: { all?: boolean }): Promise<{ size: number; replaced: number }>;
  /** One after the other, all or none. */
  edit(path: string, edits: { old: string; new: string; replace_all?: boolean }[]): Promise<{ size: number; replaced: number }>;
  copy(from: string, to: string): Promise<void>;
  /** In workspaces; where it leads is relative to the folder that it is in. */
  link(path: string, target: string): Promise<void>;
  /** Paths that fit `*`, `?`, `**`, `[…]` and `{a,b}`. `ignore` passes over what `.gitignore` says. */
  glob(pattern: string, options?: { path?: string; ignore?: boolean; limit?: number }): Promise<string[]>;
  /** Lines that fit a regular expression (in linear time: no look-around), or a text. */
  grep(
    pattern: string,
    options?: { path?: string; literal?: boolean; ignoreCase?: boolean; include?: string | string[]; ignore?: boolean; context?: number; limit?: number },
  ): Promise<{
    matches: { path: string; line: number; text: string; before: string[]; after: string[] }[];
    more: boolean;
    skipped: { path: string; why: string }[];
  }>;
  find(options?: {
    path?: string;
    name?: string;
    kind?: "file" | "folder" | "link";
    atLeast?: number;
    since?: Date | number;
    limit?: number;
  }): Promise<{ entries: { path: string; kind: string; size: number; modified: Date }[]; more: boolean }>;
  tree(path?: string, options?: { depth?: number }): Promise<{ text: string; files: number; folders: number; bytes: number; more: boolean }>;
  /** What leads from one file to the other, or from an earlier version of it to the present one. */
  diff(path: string, other: string | { to?: string; version?: number }): Promise<string>;
  /** In workspaces: the newest change first. */
  history(
    path?: string,
    options?: { limit?: number },
  ): Promise<{ version: number; at: Date; what: string; path: string; kind: string | null; size: number }[]>;
  /** In workspaces: takes the last change back, or all from one on. */
  undo(options?: { version?: number }): Promise<{ version: number; paths: string[] }>;
  [more: string]: any;
};

/** Runs another program. */
declare function invoke<T = any>(name: string, input?: unknown): Promise<T>;

/** Secrets that are granted to be read. */
declare const secrets: { get(name: string): Promise<string> };
