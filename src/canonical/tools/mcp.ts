import type { Json, JsonObject } from '../../lib/json.ts';
import type { ToolErrorCode } from './server-call.ts';

/** The MCP servers that the operator set up, and what they offer. */
export interface McpServers {
  /** The server of that name. `unknown` and `forbidden` say why this principal gets none. */
  find(name: string, principal: McpPrincipal): McpServer | 'unknown' | 'forbidden';
}

/** The key of the request, and its workspace. */
export interface McpPrincipal {
  readonly workspaceId: string;
  readonly keyHash: string;
}

export interface McpServer {
  readonly name: string;
  /** Bound on one call, ms. */
  readonly callMsMax: number;
  /** The tools that the operator allows, maybe as the server listed them last. @throws McpError */
  tools(signal: AbortSignal): Promise<readonly McpTool[]>;
  /**
   * @param traceHeaders of the call's span, for a server that is to join its trace
   * @throws McpError
   */
  call(
    tool: string,
    input: JsonObject,
    signal: AbortSignal,
    traceHeaders?: () => Readonly<Record<string, string>>,
  ): Promise<McpResult>;
}

/** As the server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, untouched. */
  readonly inputSchema: JsonObject;
}

/** The result of a call. */
export interface McpResult {
  /** Content blocks of the protocol: `text`, `image`, `audio`, `resource`, `resource_link`. */
  readonly content: readonly JsonObject[];
  /** The same as one value, where the tool has such. */
  readonly structured?: Json;
  /** The tool ran, and reports that it failed. */
  readonly failed: boolean;
}

/** Why a server did not serve a call. The message is safe to show to callers and models. */
export class McpError extends Error {
  readonly code: ToolErrorCode;

  constructor(code: ToolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'McpError';
    this.code = code;
  }
}
