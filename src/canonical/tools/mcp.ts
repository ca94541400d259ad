import type { Json, JsonObject } from '../../lib/json.ts';
import type { ToolErrorCode } from './server-call.ts';

/** The MCP servers that the operator set up, and what they offer. */
export interface McpServers {
  /** The server of that name. `unknown` and `forbidden` say why this asker gets none. */
  find(name: string, principal: McpPrincipal): McpServer | 'unknown' | 'forbidden';
}

/** Whose request it is. */
export interface McpPrincipal {
  readonly workspaceId: string;
  readonly keyHash: string;
}

export interface McpServer {
  readonly name: string;
  /** Bound on one call, ms. */
  readonly callMsMax: number;
  /** Those that the operator lets through, as far as they are known: maybe as the server last told. @throws McpError */
  tools(signal: AbortSignal): Promise<readonly McpTool[]>;
  /** @throws McpError */
  call(tool: string, input: JsonObject, signal: AbortSignal): Promise<McpResult>;
}

/** As the server describes it. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, untouched. */
  readonly inputSchema: JsonObject;
}

/** What a call came to. */
export interface McpResult {
  /** Blocks in the words of the protocol: `text`, `image`, `audio`, `resource`, `resource_link`. */
  readonly content: readonly JsonObject[];
  /** The same as one value, where the tool has such. */
  readonly structured?: Json;
  /** The tool ran, and says that it failed. */
  readonly failed: boolean;
}

/** Why a server did not do what it was asked: a sentence that is safe to show to callers and models. */
export class McpError extends Error {
  readonly code: ToolErrorCode;

  constructor(code: ToolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'McpError';
    this.code = code;
  }
}
