import { invalid } from '../../canonical/gateway-error.ts';
import type { ServerTool as RequestedTool } from '../../canonical/request.ts';
import { isToolSet, type RegisteredTool } from '../../tools/contract.ts';
import { checkShape } from '../../wire/gateway/validation/check-shape.ts';
import { missingTool } from './missing-tool.ts';

type Parameters = Readonly<Record<string, unknown>>;

/**
 * Server tools that a tool would offer to the model it calls are checked with the request: the caller learns of a
 * fault at once, and not the model that calls.
 * @param path of the parameters
 * @param outside types of the tools that this one is inside of: they are not offered, and so cannot be at fault
 * @throws GatewayError 400 at the member that is wrong
 */
export function checkNestedTools(
  serverTools: ReadonlyMap<string, RegisteredTool>,
  tool: RegisteredTool,
  parameters: Parameters,
  path: string,
  outside: ReadonlySet<string> = new Set(),
): void {
  if (isToolSet(tool)) return;
  const closed = new Set(outside).add(tool.type);
  for (const [at, requested] of (tool.nestedTools?.(parameters) ?? []).entries()) {
    const here = `${path}.tools[${at}]`;
    if (!closed.has(requested.name)) checkOne(serverTools, requested, here, closed);
  }
}

function checkOne(
  serverTools: ReadonlyMap<string, RegisteredTool>,
  { name, parameters }: RequestedTool,
  path: string,
  closed: ReadonlySet<string>,
): void {
  const tool = serverTools.get(name);
  if (tool === undefined) throw missingTool(`${path}.type`, name);
  const here = `${path}.parameters`;
  const read = checkShape(tool.parameters, parameters ?? {}, { root: here });
  if (!isToolSet(tool) && tool.clientFunction?.(read, here) !== undefined)
    throw invalid(`${path}.type`, 'is a tool that the caller runs; it cannot be used inside of another tool');
  checkNestedTools(serverTools, tool, read, here, closed);
}
