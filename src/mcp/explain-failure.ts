import { ProtocolError, ProtocolErrorCode, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { McpError } from '../canonical/tools/mcp.ts';

/** Of what a server says about itself. */
const WORDS_CHARS_MAX = 2_000;
const CAUSES_MAX = 5;

export interface Failure {
  /** For callers and models: no address, no command. */
  readonly error: McpError;
  /** The connection is of no use any more. */
  readonly isLost: boolean;
}

/** What became of a question to a server. @param redact takes out what the server was given to keep to itself */
export function readFailure(error: unknown, server: string, redact: (text: string) => string): Failure {
  const name = `The MCP server "${server}"`;
  const kept = (code: McpError['code'], message: string): Failure => ({
    error: new McpError(code, redact(message), { cause: error }),
    isLost: false,
  });
  if (error instanceof McpError) return { error, isLost: false };
  if (error instanceof ProtocolError) {
    const code = error.code === INVALID_PARAMS ? 'invalid_tool_input' : 'unavailable';
    return kept(code, `${name} answered with an error: ${error.message.slice(0, WORDS_CHARS_MAX)}`);
  }
  if (error instanceof SdkHttpError) return readStatus(error, name, kept);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout)
    return kept('execution_time_exceeded', `${name} gave no response in time.`);
  if (error instanceof SdkError && KEEPS_CONNECTION.has(error.code))
    return kept(
      'unavailable',
      `${name} gave a response that makes no sense: ${error.message.slice(0, WORDS_CHARS_MAX)}`,
    );
  const what = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed ? ENDED : UNREACHABLE;
  return { error: new McpError('unavailable', `${name} ${what}`, { cause: error }), isLost: true };
}

/** An enum of the library, whose codes are plain numbers elsewhere in it. */
const INVALID_PARAMS: number = ProtocolErrorCode.InvalidParams;

const ENDED = 'ended before it had answered.';
const UNREACHABLE = 'cannot be reached.';

const KEEPS_CONNECTION: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.InvalidResult,
  SdkErrorCode.UnsupportedResultType,
  SdkErrorCode.InputRequiredRoundsExceeded,
  SdkErrorCode.ListPaginationExceeded,
  SdkErrorCode.CapabilityNotSupported,
]);

function readStatus(
  { status }: SdkHttpError,
  name: string,
  kept: (code: McpError['code'], message: string) => Failure,
): Failure {
  if (status === 401 || status === 403) return kept('unavailable', `${name} refused the gateway (${status}).`);
  if (status === 429) return kept('too_many_requests', `${name} answers no more calls for now (429).`);
  return kept('unavailable', `${name} answered with status ${status}.`);
}

/** What the library and the HTTP client say where the error behind the error says it better. */
const STATES_LITTLE = /^(?:Version negotiation probe failed|fetch failed)/;

/** The same with all that the operator may want to know: addresses, commands, and the errors behind the error. */
export function explainForOperator(error: unknown): string {
  const stated: string[] = [];
  for (let cause = error, depth = 0; cause instanceof Error && depth < CAUSES_MAX; cause = cause.cause, depth++) {
    const inner = cause instanceof AggregateError ? cause.errors[0] : cause.cause;
    if (cause.message !== '' && !(STATES_LITTLE.test(cause.message) && inner instanceof Error))
      stated.push(cause.message);
    if (cause instanceof AggregateError) stated.push(explainForOperator(inner));
  }
  const words = stated.length === 0 ? String(error) : [...new Set(stated)].join(': ');
  return words.slice(0, WORDS_CHARS_MAX);
}
