/** An MCP server as the operator set it up. */
export type McpServerSettings = McpServerRules & (HttpServerSettings | StdioServerSettings);

export interface McpServerRules {
  readonly name: string;
  readonly callMsMax: number;
  /** Its calls carry the trace that they belong to. */
  readonly sendsTraceContext?: true;
  /** Names of tools that are offered, with `*` for any characters. Absent: all. */
  readonly tools?: readonly string[];
  /** Ids of the workspaces, and hashes of the keys, that may use it. With neither: every key. */
  readonly workspaces?: readonly string[];
  readonly keys?: readonly string[];
}

export interface HttpServerSettings {
  readonly transport: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface StdioServerSettings {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The user and the group as which it runs. Absent: those of the gateway, whose environment it can then read. */
  readonly uid?: number;
  readonly gid?: number;
}
