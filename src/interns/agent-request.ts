import type { ProviderPreferences } from '../canonical/directives.ts';
import type { ServerTool, Settings } from '../canonical/request.ts';
import { parseJsonObject, type JsonObject } from '../lib/json.ts';
import type { InternSettings } from '../resources/interns.ts';
import type { InternRow, InternVersionRow } from '../store/interns/columns.ts';
import { containerOf, isShell } from './container.ts';

/** What an agent calls its model with. */
export interface AgentRequest {
  /** Empty: the default of the workspace or of the gateway. */
  readonly models: readonly string[];
  readonly instructions: string;
  readonly tools: readonly ServerTool[];
  readonly settings?: Settings;
  readonly provider?: ProviderPreferences;
}

/** A request in the form of chat, with what it leaves open taken from the preset that it names. */
export type ReadPreset = (workspaceId: string, body: JsonObject) => Promise<AgentRequest>;

export interface AgentRequestDeps {
  readonly readPreset: ReadPreset;
}

type Drafted = Pick<InternVersionRow, 'instructions' | 'model' | 'settings'>;

/** @throws GatewayError 404 for a preset that is not there, or not in use */
export async function requestOfAgent(
  { readPreset }: AgentRequestDeps,
  { id, workspaceId }: Pick<InternRow, 'id' | 'workspaceId'>,
  { instructions, model, settings }: Drafted,
): Promise<AgentRequest> {
  const request =
    settings.preset === null
      ? { models: model === null ? [] : [model], instructions, tools: serverToolsOf(settings) }
      : await readPreset(workspaceId, {
          preset: settings.preset,
          ...(model !== null && { model }),
          messages: [
            ...(instructions === '' ? [] : [{ role: 'system', content: instructions }]),
            { role: 'user', content: '.' },
          ],
          ...(settings.tools.length > 0 && { tools: settings.tools.map(toolOf) }),
        });
  return { ...request, tools: request.tools.map((tool) => (isShell(tool) ? inOwnContainer(tool, id) : tool)) };
}

function serverToolsOf({ tools }: InternSettings): readonly ServerTool[] {
  return tools.map((tool) => {
    const { type: name, parameters } = toolOf(tool);
    return { type: 'server', name, parameters };
  });
}

function toolOf({ type, parameters }: InternSettings['tools'][number]) {
  return { type, parameters: parseJsonObject(JSON.stringify(parameters ?? {})) ?? {} };
}

/** Whatever the request of the tool says: an agent has one container, and no other one. */
function inOwnContainer(tool: ServerTool, internId: string): ServerTool {
  const environment = { type: 'container_reference', container_id: containerOf(internId) };
  return { ...tool, parameters: { ...tool.parameters, engine: 'service', environment } };
}
