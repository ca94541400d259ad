import type { Json, JsonObject } from '../../lib/json.ts';

/** Why a server tool gave no result, as the messages format names it. @spec tool-11 */
export type ToolErrorCode =
  | 'invalid_tool_input'
  | 'unavailable'
  | 'too_many_requests'
  | 'execution_time_exceeded'
  | 'max_uses_exceeded'
  | 'query_too_long'
  | 'url_too_long'
  | 'url_not_allowed'
  | 'url_not_accessible'
  | 'unsupported_content_type';

/** What a function that stands for a tool of an MCP server belongs to. */
export interface McpToolName {
  readonly server: string;
  /** The server's own name of it. Absent: what tools the server has is not known now. */
  readonly tool?: string;
  /** Why it is not. */
  readonly failure?: string;
}

/** A call of a server tool that has run. The response shows it, and the caller may send it back with the next request. */
export interface ServerCall {
  /** The model's own id of the call. */
  readonly id: string;
  /** The id under which the caller sees it. */
  readonly shownId: string;
  /** `service:datetime`. */
  readonly type: string;
  /** The function that the model called: `service_datetime`, `service_advisor__1`. */
  readonly name: string;
  /** Of a tool of an MCP server. */
  readonly mcp?: McpToolName;
  /** The arguments as JSON text, as the model wrote them. */
  readonly input: string;
  readonly result: Json;
  /** Set where the call failed: `result` says more. */
  readonly errorCode?: ToolErrorCode;
  /** Which turn of the model called, from 0. */
  readonly turn: number;
  /** The same turn called functions of the caller's, too: its response ended there. */
  readonly besideCalls: boolean;
}

/** How far a running call is, in the tool's own terms. */
export interface ToolProgress {
  /** `panel.completed`. */
  readonly step: string;
  readonly fields: JsonObject;
}

/** A server tool that ran for an earlier response, decoded from a block that the caller sent back. */
export interface ReplayedServerCall {
  readonly id: string;
  /** Of the block that makes the call. */
  readonly call?: {
    readonly name: string;
    readonly input: string;
    /** Calls of one turn share it. Absent: the order of the blocks decides. */
    readonly turn?: number;
    readonly besideCalls?: boolean;
  };
  /** From the block that holds the result: the text that the model read. */
  readonly result?: { readonly text: string; readonly failed: boolean };
}

/** How the functions of MCP servers begin, and no other function that stands for a server tool. */
export const MCP_FUNCTION_PREFIX = 'mcp_';

/** The type of the entry behind them. */
export const MCP_TYPE = 'service:mcp';

/** Name of the function that the model sees in place of a server tool. @spec tool-4 */
export function functionNameOf(type: string, ordinal = 0): string {
  const name = type.replaceAll(':', '_');
  return ordinal === 0 ? name : `${name}__${ordinal}`;
}
