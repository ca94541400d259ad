import { GatewayError } from '../canonical/gateway-error.ts';
import type { GenerationRequest } from '../canonical/request.ts';

/**
 * Refuses what is valid but not built: a caller must never think that a wish was granted that was only ignored. Each
 * line goes when its part comes. @throws GatewayError 400 @source decisions.md 24
 */
export function refuseUnbuilt(request: GenerationRequest): void {
  const { directives } = request;
  for (const [index, plugin] of directives.plugins.entries()) {
    if (plugin.enabled) throw notBuilt(`plugins[${index}]`, `the plugin ${JSON.stringify(plugin.id)}`);
  }
  for (const [index, tool] of request.tools.entries()) {
    if (tool.type === 'server') throw notBuilt(`tools[${index}].type`, `the server tool ${JSON.stringify(tool.name)}`);
  }
  const choice = request.settings.toolChoice;
  if (choice?.type === 'opaque' && choice.format === 'chat' && choice.value['type'] !== 'allowed_tools')
    throw notBuilt('tool_choice', `forcing the server tool ${JSON.stringify(choice.value['type'])}`);
  if (directives.transforms !== undefined && directives.transforms.length > 0)
    throw notBuilt('transforms', 'context compression');
}

/** A 400 that names what this version lacks. */
export function notBuilt(path: string, what: string): GatewayError {
  const message = `${what} is valid but not supported by this version of the gateway`;
  return new GatewayError('invalid_request', `${path}: ${message}.`, { issues: [{ path, message }] });
}
