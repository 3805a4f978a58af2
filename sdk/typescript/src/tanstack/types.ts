// The shapes of `@tanstack/ai-code-mode`, which is not a dependency. The tests hold them against the real ones.

export interface ToolBinding {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  outputSchema?: Record<string, unknown> | undefined;
  execute: (args: unknown) => Promise<unknown>;
}

export interface IsolateConfig {
  bindings: Record<string, ToolBinding>;
  /** Milliseconds, tool calls included. */
  timeout?: number;
  /** Megabytes. */
  memoryLimit?: number;
}

export interface NormalizedError {
  name: string;
  message: string;
  stack?: string;
  code?: string;
}

export interface ExecutionResult<T = unknown> {
  success: boolean;
  value?: T;
  error?: NormalizedError;
  logs: Array<string>;
}

export interface IsolateContext {
  execute: <T = unknown>(code: string) => Promise<ExecutionResult<T>>;
  dispose: () => Promise<void>;
}

export interface IsolateDriver {
  createContext: (config: IsolateConfig) => Promise<IsolateContext>;
}
