import type { OpaqueBlock, ToolCallBlock } from '../../../canonical/blocks.ts';
import type { Json, JsonObject } from '../../../lib/json.ts';
import { textOf } from '../../json-fields.ts';

/** The messages format's name of it. @spec messages-30 */
const CODE_EXECUTION = 'code_execution';

/** Code that the vendor ran itself: a call that no caller has to run. */
export function codeCall(executableCode: JsonObject, id: string): ToolCallBlock {
  const { code, language } = executableCode;
  return upstreamCall(
    id,
    CODE_EXECUTION,
    JSON.stringify({ code: code ?? '', ...(language !== undefined && { language }) }),
  );
}

/** What the code gave, in the shape that the messages format has for it. @spec messages-30 */
export function codeResult(result: JsonObject, callId: string): OpaqueBlock {
  const { outcome } = result;
  const output = textOf(result['output']) ?? '';
  const failed = outcome !== 'OUTCOME_OK' && outcome !== undefined;
  const content: JsonObject =
    outcome === 'OUTCOME_DEADLINE_EXCEEDED'
      ? { type: 'code_execution_tool_result_error', error_code: 'execution_time_exceeded' }
      : {
          type: 'code_execution_result',
          stdout: failed ? '' : output,
          stderr: failed ? output : '',
          return_code: failed ? 1 : 0,
          content: [],
        };
  return {
    type: 'opaque',
    format: 'messages',
    value: { type: 'code_execution_tool_result', tool_use_id: callId, content },
    ...(output !== '' && { plainText: output }),
  };
}

/** Another tool that the vendor ran, where the request makes it show them: `GOOGLE_SEARCH_WEB` and the like. */
export function toolCall({ toolType, args }: JsonObject, id: string): ToolCallBlock {
  const name = textOf(toolType)?.toLowerCase() ?? 'server_tool';
  return upstreamCall(id, name, JSON.stringify(args ?? {}));
}

/** What such a tool gave: only this format knows. */
export function toolResult(value: JsonObject, words: Json | undefined): OpaqueBlock {
  const stated = words === undefined ? {} : { plainText: JSON.stringify(words) };
  return { type: 'opaque', format: 'gemini', value, ...stated };
}

function upstreamCall(id: string, name: string, input: string): ToolCallBlock {
  return { type: 'tool-call', id, name, input, runBy: 'upstream' };
}
