import type { GenerationRequest, OpaqueTool } from '../canonical/request.ts';
import type { Candidate } from '../routing/plan.ts';
import type { OfferedTool, OfferedTools } from './offer-server-tools.ts';

/**
 * The request with the endpoint's own tools in the place of those functions that it need not call: it runs them itself.
 * @source generation.md 5.2 item 1: "With `engine` native and a capable endpoint the tool is passed natively instead"
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
  const forced = toolChoice?.type === 'function' ? natives.get(toolChoice.name)?.value['name'] : undefined;
  if (typeof forced !== 'string') return { ...request, tools };
  return { ...request, tools, settings: { ...request.settings, toolChoice: { type: 'function', name: forced } } };
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
  const { upstreamModel: model, vendorTools: runsVendorTools = false } = endpoint;
  const value = tool.nativeTool?.(parameters, { format, model, runsVendorTools });
  return value === undefined ? undefined : { type: 'opaque', format, value };
}
