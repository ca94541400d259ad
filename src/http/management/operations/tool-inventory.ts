import { z } from 'zod';
import type { JsonObject } from '../../../lib/json.ts';
import { defineRoute, NO_BODY, NOTHING, type ManagementRoute } from '../route.ts';
import type { DescribedFeature, OperationServices } from './services.ts';

const jsonObject = z.record(z.string(), z.json());

const featureSchema = z
  .strictObject({
    id: z.string(),
    summary: z.string(),
    options: jsonObject.describe('The JSON Schema of its options.'),
  })
  .meta({ id: 'Feature' });

export const listPlugins = defineFeatureList({
  path: '/plugins',
  operationId: 'listPlugins',
  summary: 'List the plugins that requests can name, with their options',
  features: ({ tools }) => tools.plugins(),
});

export const listServerTools = defineFeatureList({
  path: '/server_tools',
  operationId: 'listServerTools',
  summary: 'List the tools that the gateway runs, with their parameters',
  features: ({ tools }) => tools.serverTools(),
});

const mcpServerSchema = z
  .strictObject({
    name: z.string(),
    transport: z.enum(['http', 'stdio']),
    state: z.enum(['ready', 'unavailable']),
    trouble: z.string().nullable().describe('Why it does not answer.'),
    tools: z
      .array(z.strictObject({ name: z.string(), description: z.string(), input_schema: jsonObject }))
      .nullable()
      .describe('Those that are offered. Null: it does not answer.'),
    workspaces: z.array(z.string()).nullable().describe('Ids of those that may use it.'),
    keys: z.array(z.string()).nullable().describe('Hashes of those that may use it. With neither: every key.'),
  })
  .meta({ id: 'McpServer' });

export const listMcpServers = defineRoute({
  method: 'GET',
  path: '/mcp_servers',
  scope: 'management',
  operationId: 'listMcpServers',
  tag: 'Tools',
  summary: 'List the MCP servers that are set up, with their tools',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: {
    200: {
      description: 'Those that are switched on. One that does not answer within 5 s is listed without tools.',
      schema: z.strictObject({ data: z.array(mcpServerSchema) }),
    },
  },
  errors: [],
  async handle({ services }) {
    const servers = await services.operations.tools.mcpServers();
    const data = servers.map(({ name, transport, tools, trouble, workspaces, keys }) => ({
      name,
      transport,
      state: tools === null ? ('unavailable' as const) : ('ready' as const),
      trouble,
      tools:
        tools?.map((tool) => ({
          name: tool.name,
          description: tool.description,
          input_schema: mutable(tool.inputSchema),
        })) ?? null,
      workspaces: workspaces && [...workspaces],
      keys: keys && [...keys],
    }));
    return { status: 200, body: { data } };
  },
});

export const callMcpTool = defineRoute({
  method: 'POST',
  path: '/mcp_servers/{name}/tools/{tool}/call',
  scope: 'management',
  operationId: 'callMcpTool',
  tag: 'Tools',
  summary: 'Call a tool of an MCP server by hand; an audit event says so',
  params: z.strictObject({ name: z.string(), tool: z.string() }),
  query: NOTHING,
  body: z.strictObject({ arguments: jsonObject.optional().describe('As its schema has them.') }).meta({
    id: 'CallMcpToolRequest',
  }),
  responses: {
    200: {
      description: 'What models would get.',
      schema: z.strictObject({
        data: z.strictObject({
          content: z.array(jsonObject),
          structured: z.json(),
          is_error: z.boolean().describe('The tool ran, and says that it failed.'),
          duration_ms: z.number(),
        }),
      }),
    },
  },
  errors: [400, 404, 413, 502],
  async handle({ params, body, services }) {
    const { content, structured, hasFailed, durationMs } = await services.operations.tools.callMcpTool({
      server: params.name,
      tool: params.tool,
      input: body.arguments ?? {},
    });
    return { status: 200, body: { data: { content, structured, is_error: hasFailed, duration_ms: durationMs } } };
  },
});

function defineFeatureList({
  features,
  ...facts
}: Pick<ManagementRoute, 'path' | 'operationId' | 'summary'> & {
  readonly features: (operations: OperationServices) => readonly DescribedFeature[];
}): ManagementRoute {
  return defineRoute({
    ...facts,
    method: 'GET',
    scope: 'any',
    role: 'member',
    tag: 'Tools',
    params: NOTHING,
    query: NOTHING,
    body: NO_BODY,
    responses: { 200: { description: 'All of them.', schema: z.strictObject({ data: z.array(featureSchema) }) } },
    errors: [],
    handle({ services }) {
      return { status: 200, body: { data: features(services.operations).map(serializeFeature) } };
    },
  });
}

function serializeFeature({ id, summary, options }: DescribedFeature): z.output<typeof featureSchema> {
  // As a caller writes them: what has a default may be left out.
  const schema = z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' });
  return { id, summary, options: jsonObject.parse(schema) };
}

function mutable(schema: JsonObject): z.output<typeof jsonObject> {
  return jsonObject.parse(schema);
}
