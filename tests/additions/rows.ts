import type { Addition, Insert } from './addition.ts';
import { formatOfPage } from './page-format.ts';

/** The line of a registry comes with its import. */
function registered(path: string, from: string, name: string, before: string, text = `${name}, `): readonly Insert[] {
  return [
    { path, before: '', text: `import { ${name} } from '${from}';\n` },
    { path, before, text },
  ];
}

export const ADDITIONS: readonly Addition[] = [
  {
    row: 'a provider with quirks',
    creates: {
      'src/providers/example/adapter.ts': `
import type { ProviderAdapter } from '../contract.ts';
export const exampleAdapter: ProviderAdapter = {
  id: 'example',
  name: 'Example',
  baseUrl: 'https://api.example.test/v1',
  apiKeyVariable: 'EXAMPLE_API_KEY',
  formats: [{ format: 'chat' }],
  dialect: () => ({}),
  authorize: ({ settings }) => (settings.apiKey === undefined ? {} : { 'x-example-key': settings.apiKey }),
};
`,
    },
    inserts: registered(
      'src/providers/index.ts',
      './example/adapter.ts',
      'exampleAdapter',
      '  sandbox: sandboxAdapter,',
      '  example: exampleAdapter,\n',
    ),
  },
  formatOfPage(),
  {
    row: 'a plugin',
    creates: {
      'src/plugins/example/plugin.ts': `
import { z } from 'zod';
import type { Plugin } from '../contract.ts';
const options = z.object({ loud: z.boolean().optional() });
export const example: Plugin<typeof options> = {
  id: 'example',
  summary: 'Raises the temperature where a request wants it.',
  options,
  transformRequest: (request, { loud = false }) =>
    Promise.resolve(loud ? { ...request, settings: { ...request.settings, temperature: 2 } } : request),
};
`,
    },
    inserts: registered(
      'src/plugins/index.ts',
      './example/plugin.ts',
      'example',
      "  'context-compression':",
      '  example,\n',
    ),
  },
  {
    row: 'a server tool',
    creates: {
      'src/tools/example/tool.ts': `
import { z } from 'zod';
import type { ServerTool } from '../contract.ts';
const nothing = z.strictObject({});
export const example: ServerTool<typeof nothing, typeof nothing> = {
  type: 'service:example',
  summary: 'Gives an example.',
  parameters: nothing,
  describe: () => ({ description: 'Gives an example.', arguments: nothing }),
  open: () => ({ run: () => Promise.resolve({ result: { example: 'one' } }) }),
};
`,
    },
    inserts: [
      ...registered('src/tools/index.ts', './example/tool.ts', 'example', '    datetime,\n', '    example,\n'),
      { path: 'src/wire/chat/request/tool-schema.ts', before: "  'service:datetime',", text: "  'service:example',\n" },
    ],
  },
  {
    row: 'a built-in content filter',
    creates: {
      'src/content-filters/sensitive-data/plates.ts': `
import type { Span } from '../contract.ts';
export function findPlates(text: string): readonly Span[] {
  return [...text.matchAll(/EX-[0-9]{4}/g)].map(({ index, 0: { length } }) => ({ start: index, end: index + length }));
}
`,
    },
    inserts: [
      ...registered(
        'src/content-filters/sensitive-data/filter.ts',
        './plates.ts',
        'findPlates',
        "  phone: matcherOf('phone'",
        "  plate: matcherOf('plate', findPlates, 7, hasDigit),\n",
      ),
      { path: 'src/canonical/guardrail-rules.ts', before: "  'credit-card',", text: "  'plate',\n" },
      {
        path: 'src/canonical/guardrail-rules.ts',
        before: "  'credit-card': '[CREDIT_CARD]',",
        text: "  plate: '[PLATE]',\n",
      },
    ],
  },
  {
    row: 'a management route',
    creates: {
      'src/http/management/example/get.ts': `
import { z } from 'zod';
import { defineRoute, NO_BODY, NOTHING } from '../route.ts';
export const getExample = defineRoute({
  method: 'GET',
  path: '/example',
  scope: 'management',
  operationId: 'getExample',
  tag: 'Credits',
  summary: 'Tell an example',
  params: NOTHING,
  query: NOTHING,
  body: NO_BODY,
  responses: { 200: { description: 'It.', schema: z.strictObject({ data: z.string().meta({ id: 'Example' }) }) } },
  errors: [],
  handle: () => Promise.resolve({ status: 200 as const, body: { data: 'one' } }),
});
`,
    },
    inserts: registered(
      'src/http/routes.ts',
      './management/example/get.ts',
      'getExample',
      '  grantCredits,\n',
      '  getExample,\n',
    ),
  },
  {
    row: 'a table or a column',
    creates: {
      'src/store/migrations/9999-examples.ts': `
import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
export async function up(schema: SchemaModule): Promise<void> {
  const table = schema.createTable('examples').addColumn('id', COLUMN_TYPE.text, (column) => column.primaryKey());
  await table.addColumn('count', COLUMN_TYPE.integer).execute();
}
`,
    },
    inserts: [
      {
        path: 'src/store/engine/migrate.ts',
        before: '',
        text: "import { up as up9999 } from '../migrations/9999-examples.ts';\n",
      },
      {
        path: 'src/store/engine/migrate.ts',
        before: '];\n\n/**\n * Brings the schema up to date',
        text: "  { name: '9999-examples', up: up9999 },\n",
      },
      {
        path: 'src/store/tables.ts',
        before: '  readonly schema_migrations: SchemaMigrationsTable;',
        text: '  readonly examples: { readonly id: string; readonly count: number };\n',
      },
    ],
  },
  {
    row: 'a setting of a resource',
    creates: {
      'src/store/migrations/9999-key-notes.ts': `
import type { SchemaModule } from 'kysely';
import { COLUMN_TYPE } from '../portable.ts';
export async function up(schema: SchemaModule): Promise<void> {
  await schema.alterTable('keys').addColumn('notes', COLUMN_TYPE.text).execute();
}
`,
    },
    inserts: [
      {
        path: 'src/store/engine/migrate.ts',
        before: '',
        text: "import { up as up9999KeyNotes } from '../migrations/9999-key-notes.ts';\n",
      },
      {
        path: 'src/store/engine/migrate.ts',
        before: '];\n\n/**\n * Brings the schema up to date',
        text: "  { name: '9999-key-notes', up: up9999KeyNotes },\n",
      },
      {
        path: 'src/resources/keys.ts',
        before: '  ...spendShape,\n',
        text: '  notes: member(nullable(text), { initial: null, set: z.string().max(100).nullable() }),\n',
      },
    ],
  },
  {
    row: 'a CLI command',
    creates: {
      'src/cli/example.ts': `
import type { Io } from './command.ts';
export function runExample(args: readonly string[], io: Io): Promise<number> {
  io.stdout.write(\`an example: \${args.join(' ')}\\n\`);
  return Promise.resolve(0);
}
`,
    },
    inserts: [
      {
        path: 'src/cli/help.ts',
        before: 'export const REPORT_HELP',
        text: "export const EXAMPLE_HELP = 'Usage: model-gateway example\\n';\n\n",
      },
      { path: 'src/cli/main.ts', before: '\n  REPORT_HELP,', text: '\n  EXAMPLE_HELP,' },
      {
        path: 'src/cli/main.ts',
        before: '  report: {\n',
        text: `  example: {
    summary: 'tell an example',
    help: EXAMPLE_HELP,
    run: async (args, io) => (await import('./example.ts')).runExample(args, io),
  },
`,
      },
    ],
  },
  {
    row: 'a key of the configuration',
    creates: {},
    inserts: [
      {
        path: 'src/config/schema.ts',
        before: '      private_destinations: key(',
        text: "      example_destinations: key(z.boolean(), 'An example.', OFF),\n",
      },
      {
        path: 'src/config/config.ts',
        before: '    readonly privateDestinations',
        text: '    readonly exampleDestinations: boolean;\n',
      },
      {
        path: 'src/config/file-config.ts',
        before: '    privateDestinations:',
        text: '    exampleDestinations: entry.example_destinations ?? false,\n',
      },
      {
        path: 'src/config/render.ts',
        before: '    private_destinations:',
        text: '    example_destinations: observability.exampleDestinations,\n',
      },
    ],
  },
  {
    row: 'a kind of destination',
    creates: {
      'src/telemetry/destinations/example/destination.ts': `
import { z } from 'zod';
import { urlMember } from '../config-members.ts';
import type { DestinationType } from '../contract.ts';
const schema = z.strictObject({ url: urlMember });
export const example: DestinationType = {
  type: 'example',
  label: 'Example',
  schema,
  secrets: [],
  open(config) {
    const { url } = schema.parse(config);
    const post = (ids: readonly string[]) => ({ url, method: 'POST', headers: {}, body: '{}', ids }) as const;
    return {
      url,
      calls: (batch) => [post(batch.map(({ id }) => id))],
      judge: () => ({ kind: 'taken' }),
      test: () => [{ call: post([]), judge: () => undefined }],
    };
  },
};
`,
    },
    inserts: registered(
      'src/telemetry/destinations/registry.ts',
      './example/destination.ts',
      'example',
      '  webhook,\n]',
    ),
  },
  {
    row: 'a metric',
    creates: {},
    inserts: [
      {
        path: 'src/telemetry/metrics.ts',
        before: "    sharedState: new Gauge({\n      name: 'gateway_shared_state_up'",
        text: "    examples: new Counter({ name: 'gateway_examples_total', help: 'Examples.', registers }),\n",
      },
    ],
  },
];
