import type { GenerationRequest, OpaqueTool, Tool, ToolChoice } from '../../canonical/request.ts';
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
  const leftOut = new Set(
    offered.entries.filter(({ name, onlyNative }) => onlyNative === true && !natives.has(name)).map(({ name }) => name),
  );
  if (natives.size + leftOut.size === 0) return request;
  const tools = request.tools.flatMap((tool): readonly Tool[] =>
    tool.type !== 'function' ? [tool] : leftOut.has(tool.name) ? [] : [natives.get(tool.name) ?? tool],
  );
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

/** Settings of the vendor's own search that no other has. */
const VENDORS_SETTINGS = ['external_web_access', 'search_content_types', 'index_gated_web_access'] as const;

function nativeOf({ tool, parameters, vendors }: OfferedTool, { endpoint, format }: Candidate): OpaqueTool | undefined {
  const { upstreamModel: model, nativeTools: runsNativeTools = false } = endpoint;
  const value = tool.nativeTool?.(parameters, { format, model, runsNativeTools });
  if (value === undefined) return undefined;
  const isVendors = vendors !== undefined && format === 'responses' && endpoint.openTools === true;
  const own = isVendors ? VENDORS_SETTINGS.filter((member) => (vendors[member] ?? null) !== null) : [];
  const settings = Object.fromEntries(own.map((member) => [member, vendors?.[member]]));
  return { type: 'opaque', format, value: { ...value, ...settings } };
}
