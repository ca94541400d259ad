import type { GenerationRequest, OpaqueTool, ToolChoice } from '../../canonical/request.ts';
import type { Candidate } from '../../routing/route-plan.ts';
import type { OfferedTool, OfferedTools } from './offer-server-tools.ts';

/**
 * The request with the endpoint's own tools in the place of those functions that it need not call: it runs them itself.
 * @spec tool-5
 */
export function withNativeTools(
  request: GenerationRequest,
  candidate: Candidate,
  offered: OfferedTools,
): GenerationRequest {
  const natives = nativesFor(candidate, offered);
  if (natives.size === 0) return request;
  const tools = request.tools.map((tool) => (tool.type === 'function' ? (natives.get(tool.name) ?? tool) : tool));
  const { toolChoice } = request.settings;
  const native = toolChoice?.type === 'function' ? natives.get(toolChoice.name) : undefined;
  const forced = native && choiceOf(native);
  if (forced === undefined) return { ...request, tools };
  return { ...request, tools, settings: { ...request.settings, toolChoice: forced } };
}

/** Where tools of an endpoint's own have no names, their types stand for them. */
function choiceOf({ format, value: { name, type } }: OpaqueTool): ToolChoice | undefined {
  if (typeof name === 'string') return { type: 'function', name };
  return typeof type === 'string' ? { type: 'opaque', format, value: { type } } : undefined;
}

/** Types of the server tools that the endpoint runs itself. */
export function nativeTypes(candidate: Candidate, offered: OfferedTools): readonly string[] {
  return offered.entries.filter((entry) => nativeOf(entry, candidate) !== undefined).map(({ tool }) => tool.type);
}

function nativesFor(candidate: Candidate, { entries }: OfferedTools): ReadonlyMap<string, OpaqueTool> {
  const natives = new Map<string, OpaqueTool>();
  for (const entry of entries) {
    const native = nativeOf(entry, candidate);
    if (native !== undefined) natives.set(entry.name, native);
  }
  return natives;
}

function nativeOf({ tool, parameters }: OfferedTool, { endpoint, format }: Candidate): OpaqueTool | undefined {
  const { upstreamModel: model, nativeTools: runsNativeTools = false } = endpoint;
  const value = tool.nativeTool?.(parameters, { format, model, runsNativeTools });
  return value === undefined ? undefined : { type: 'opaque', format, value };
}
