import { fileURLToPath } from 'node:url';
import { createRateLimiter } from '../../accounts/limits/rate-limits.ts';
import { countCallsBy } from '../../accounts/limits/management-rate-limit.ts';
import { GatewayError } from '../../canonical/gateway-error.ts';
import { submitGenerationFeedback } from '../../http/management/generations/feedback.ts';
import { getGeneration } from '../../http/management/generations/get.ts';
import { getModel } from '../../http/management/models/get.ts';
import { listModels } from '../../http/management/models/list.ts';
import { listEndpoints } from '../../http/management/endpoints/list.ts';
import { getOwnKey } from '../../http/management/own-key.ts';
import { listProviders } from '../../http/management/providers.ts';
import type { ManagementRoute, ManagementServices } from '../../http/management/route.ts';
import type { McpMountDeps } from '../../http/mcp/mount-mcp.ts';
import { isJsonObject, parseJsonObject, type Json, type JsonObject } from '../../lib/json.ts';
import type { McpAbilities, ReadOperation } from '../../mcp-server/abilities.ts';
import { createDocsSearch } from '../../mcp-server/docs-search.ts';
import { createGatewayMcp } from '../../mcp-server/server.ts';
import type { Principal } from '../../accounts/principal.ts';
import type { Foundation } from '../foundation.ts';
import type { Parts } from '../parts.ts';
import { readVersion } from '../version.ts';
import { createModelCalls } from './model-calls.ts';

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url));
/** Beside the limits of the key itself. */
const CALLS_PER_MINUTE = 60;

const READS: Readonly<Record<ReadOperation, ManagementRoute>> = {
  getModels: listModels,
  getModel,
  listEndpoints,
  listProviders,
  getOwnKey,
  getGeneration,
};

/** The gateway as an MCP server, in the process that serves what is no generation. */
export function openMcpServer(
  { shared, accounts: { authenticate } }: Foundation,
  { formats, generateDeps }: Pick<Parts, 'formats' | 'generateDeps'>,
  services: ManagementServices,
): McpMountDeps {
  const { config, clock, state, log, baseUrl } = shared;
  const limiter = createRateLimiter({
    rateLimitState: state.rateLimitState,
    clock,
    limits: { key: { requestsPerMinute: CALLS_PER_MINUTE }, account: {}, free: {} },
    slotMs: 0,
  });
  const count = countCallsBy(limiter);
  const handler = createGatewayMcp({
    version: readVersion(),
    abilities: {
      ...createModelCalls(config, generateDeps, formats.chat),
      ...readsOf(services),
      searchDocs: createDocsSearch(DOCS),
      onBug: (error) => log.general.error({ err: error }, 'a tool of the MCP server failed'),
    },
    tools: config.mcpServer.tools,
    // Of its own: what a key may request of models does not shrink by looking around.
    countCall: ({ rootKeyHash: _root, keyHash, ...principal }) => count({ ...principal, keyHash: `mcp ${keyHash}` }),
  });
  return {
    handler,
    authenticate,
    allowedOrigins: config.mcpServer.allowedOrigins,
    hosts: config.console.allowedHosts,
    publicUrl: config.server.publicUrl,
    gatewayUrl: () => baseUrl().replace(/\/v1$/, ''),
    log: log.general,
  };
}

function readsOf(services: ManagementServices): Pick<McpAbilities, 'read' | 'feedback'> {
  /** A key sees what it made itself, and no generation of another. */
  const checkOwn = async (id: Json | undefined, { keyHash }: Principal): Promise<void> => {
    await services.waitForRecords();
    const found = typeof id === 'string' ? await services.generations.find(id) : undefined;
    if (found?.keyHash !== keyHash) throw new GatewayError('not_found', 'There is no such generation of this key.');
  };
  const call = async (
    route: ManagementRoute,
    principal: Principal,
    {
      params = {},
      query = {},
      body,
    }: { readonly params?: JsonObject; readonly query?: JsonObject; readonly body?: JsonObject },
  ): Promise<JsonObject> => {
    const context = { principal, viewer: undefined, params, query, body, headers: {}, services };
    const { body: answer } = await route.answer(context);
    const parsed = typeof answer === 'string' ? parseJsonObject(answer) : parseJsonObject(JSON.stringify(answer));
    return isJsonObject(parsed) ? parsed : {};
  };
  return {
    async read(operation, principal, input) {
      if (operation === 'getGeneration') await checkOwn(input.query?.['id'], principal);
      return call(READS[operation], principal, input);
    },
    async feedback(principal, body) {
      await checkOwn(body['generation_id'], principal);
      return call(submitGenerationFeedback, principal, { body });
    },
  };
}
