import type { Principal } from '../accounts/principal.ts';
import type { JsonObject } from '../lib/json.ts';

/** What tools can do, each as the caller's key: its limits, its guardrails and its ledger apply. */
export interface McpAbilities {
  /**
   * Calls a read of the management API, by its operation.
   * @throws GatewayError
   */
  readonly read: (
    operation: ReadOperation,
    principal: Principal,
    input: { readonly params?: JsonObject; readonly query?: JsonObject },
  ) => Promise<JsonObject>;
  /** Sends a request of the chat format. @throws GatewayError */
  readonly chat: (principal: Principal, body: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  /** Makes pictures. @throws GatewayError */
  readonly makeImage: (principal: Principal, body: JsonObject, signal: AbortSignal) => Promise<JsonObject>;
  /** @throws GatewayError */
  readonly feedback: (principal: Principal, body: JsonObject) => Promise<JsonObject>;
  /** Absent: the documentation is not installed. */
  readonly searchDocs: ((query: string, limit: number) => readonly FoundPage[]) | undefined;
  /** A tool failed in a way that the caller cannot mend. */
  readonly onBug: (error: unknown) => void;
}

export type ReadOperation =
  | 'getModels'
  | 'getModel'
  | 'listEndpoints'
  | 'listProviders'
  | 'getOwnKey'
  | 'getGeneration';

export interface FoundPage {
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}
