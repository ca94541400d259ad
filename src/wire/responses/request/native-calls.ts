import { hash } from 'node:crypto';
import type { CallerToolKind, ToolCallBlock } from '../../../canonical/blocks.ts';
import { unreachable } from '../../../lib/assert.ts';
import { parseJson, parseJsonObject, type JsonObject } from '../../../lib/json.ts';
import { legalToolName } from '../../gateway/legal-tool-name.ts';
import { textOf } from '../../json-fields.ts';
import { callItemOf } from '../caller-tools.ts';
import type { ResponsesDialect } from '../dialect.ts';
import { itemIdPrefix } from '../item-ids.ts';
import type { Content } from './content-out.ts';

const DIGEST_CHARS = 24;

/** Whether the upstream knows a kind of tool that callers run as anything but a function. */
export function knowsKind(kind: CallerToolKind, dialect: ResponsesDialect): boolean {
  switch (kind) {
    case 'custom':
      return dialect.customTools === true;
    case 'tool_search':
      return dialect.toolSearchItems === true;
    case 'local_shell':
    case 'shell':
    case 'apply_patch':
      return dialect.openTools === true;
    default:
      return unreachable(kind);
  }
}

/** The kind of item that a call of a history goes back as; `undefined`: a function's. */
export function nativeKindOf(
  { kind, input, name }: ToolCallBlock,
  dialect: ResponsesDialect,
): CallerToolKind | undefined {
  if (kind === undefined || !knowsKind(kind, dialect)) return undefined;
  return callItemOf(kind, { callId: '', name, input }) === undefined ? undefined : kind;
}

/** How a call, or a choice, names its tool: apart from its namespace where the upstream knows such. */
export function encodeName(
  { name, namespaced }: Pick<ToolCallBlock, 'name' | 'namespaced'>,
  { namespaces }: ResponsesDialect,
): { readonly name: string; readonly namespace?: string } {
  return namespaced === undefined || namespaces !== true ? { name: legalToolName(name) } : namespaced;
}

/** A call as the item that its caller sent. @param id of the call, as it is sent */
export function encodeNativeCall(
  kind: CallerToolKind,
  block: ToolCallBlock,
  id: string,
  dialect: ResponsesDialect,
): JsonObject | undefined {
  const { name, namespace } = encodeName(block, dialect);
  const item = callItemOf(kind, { callId: id, name, input: block.input });
  if (item === undefined) return undefined;
  if (kind === 'custom') return { ...item, ...(namespace !== undefined && { namespace }) };
  // The schema of a local shell demands an id, which no other item needs. It is the same in every request.
  const itemId =
    kind === 'local_shell'
      ? { id: `${itemIdPrefix(`${kind}_call`)}_${hash('sha256', id).slice(0, DIGEST_CHARS)}` }
      : {};
  return { ...itemId, ...item, status: 'completed' };
}

/** The output of such a call. @param output as that of a function is sent */
export function encodeNativeOutput(kind: CallerToolKind, id: string, output: Content, failed: boolean): JsonObject {
  const text = typeof output === 'string' ? output : output.flatMap((part) => textOf(part['text']) ?? []).join('\n\n');
  switch (kind) {
    case 'custom':
      return { type: 'custom_tool_call_output', call_id: id, output };
    case 'local_shell':
      return { type: 'local_shell_call_output', id, output: text };
    case 'shell': {
      const chunks = parseJson(text);
      const written = { stdout: text, stderr: '', outcome: { type: 'exit', exit_code: 0 } };
      return { type: 'shell_call_output', call_id: id, output: Array.isArray(chunks) ? chunks : [written] };
    }
    case 'apply_patch':
      return { type: 'apply_patch_call_output', call_id: id, status: failed ? 'failed' : 'completed', output: text };
    case 'tool_search': {
      const { tools } = parseJsonObject(text) ?? {};
      return {
        type: 'tool_search_output',
        call_id: id,
        execution: 'client',
        status: 'completed',
        tools: Array.isArray(tools) ? tools : [],
      };
    }
    default:
      return unreachable(kind);
  }
}
