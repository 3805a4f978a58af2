// The shapes of `@cloudflare/codemode`, which is not a dependency. The tests hold them against the real ones.

export interface ExecuteResult {
  result: unknown;
  error?: string;
  logs?: string[];
}

export type ProviderFunction = (...args: unknown[]) => Promise<unknown>;

export interface ResolvedProvider {
  name: string;
  fns: Record<string, ProviderFunction>;
  /** Runs in the sandbox after the namespace was made. */
  prelude?: string;
}

export interface ConnectorBinding {
  name: string;
  binding: { callTool(method: string, args: unknown): Promise<unknown> };
}

export interface ExecuteOptions {
  connectors?: ConnectorBinding[];
}

export interface Executor {
  execute(
    code: string,
    providersOrFns: ResolvedProvider[] | Record<string, ProviderFunction>,
    options?: ExecuteOptions,
  ): Promise<ExecuteResult>;
}
