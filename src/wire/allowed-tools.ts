import type { FormatId } from '../canonical/extra.ts';
import type { GenerationRequest, Tool } from '../canonical/request.ts';
import { objectsOf, textOf } from './json-fields.ts';

/**
 * A request whose caller of the responses format allows some of its tools. That format is sent the choice itself, which
 * leaves the tools a cached prefix; in others only those that are allowed are offered.
 */
export function offerAllowedTools(request: GenerationRequest, format: FormatId): GenerationRequest {
  const { toolChoice } = request.settings;
  if (format === 'responses' || toolChoice?.type !== 'opaque' || toolChoice.format !== 'responses') return request;
  const { type, mode, tools: listed } = toolChoice.value;
  if (type !== 'allowed_tools') return request;
  const names = new Set(objectsOf(listed).flatMap((entry) => textOf(entry['name']) ?? textOf(entry['type']) ?? []));
  const tools = request.tools.filter((tool) => names.has(nameOf(tool)));
  const choice = mode === 'required' ? 'required' : 'auto';
  return { ...request, tools, settings: { ...request.settings, toolChoice: { type: choice } } };
}

/** What an entry of the list names a tool by. */
function nameOf(tool: Tool): string {
  return tool.type === 'opaque' ? (textOf(tool.value['type']) ?? '') : tool.name;
}
