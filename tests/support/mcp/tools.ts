import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

/** A red dot. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

/** A schema with keywords that a careless reader would lose. */
export const ODD_SCHEMA = {
  type: 'object',
  properties: {
    tree: { $ref: '#/$defs/tree' },
    when: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }], default: null },
    'x-y': { type: 'integer', exclusiveMinimum: 0, multipleOf: 2, examples: [2, 4] },
  },
  required: ['tree'],
  patternProperties: { '^meta_': { type: 'string' } },
  additionalProperties: false,
  $defs: { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } } } },
} as const;

/** What outlives one instance of a server, of which some transports make one for each request. */
export interface World {
  /** What happened, in order: names of calls, and `cancelled`. */
  readonly note: (what: string) => void;
  /** Whether the tool `later` is there. */
  hasGrown: boolean;
  /** Tells clients that it is, where the server itself cannot. */
  readonly onGrown?: () => void;
}

/** A typical server on the official library. */
export function createTestServer(world: World): McpServer {
  const server = new McpServer(
    { name: 'test-server', version: '1.2.3' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] });
  server.registerTool(
    'add',
    {
      description: 'Adds two numbers.',
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => {
      world.note('add');
      const sum = { sum: a + b };
      return { ...text(JSON.stringify(sum)), structuredContent: sum };
    },
  );
  server.registerTool(
    'echo',
    { description: 'Says it again.', inputSchema: z.object({ words: z.string() }) },
    ({ words }, context) => {
      const { traceparent, tracestate } = context.mcpReq._meta ?? {};
      if (traceparent !== undefined) world.note(`trace ${JSON.stringify([traceparent, tracestate ?? null])}`);
      return text(words);
    },
  );
  server.registerTool('fail', { description: 'Fails.' }, () => ({ ...text('There is no such city.'), isError: true }));
  server.registerTool('contact', { description: 'Whom to write to.' }, () => text('Ann is ann@example.com.'));
  server.registerTool('picture', { description: 'Draws a dot.' }, () => ({
    content: [
      { type: 'text', text: 'A dot.' },
      { type: 'image', data: PICTURE, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'file:///notes.txt', mimeType: 'text/plain', text: 'Notes.' } },
      { type: 'resource_link', uri: 'file:///more.txt', name: 'more' },
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
    ],
  }));
  server.registerTool('wait', { description: 'Never answers.' }, async (context) => {
    world.note('wait');
    const { signal } = context.mcpReq;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    world.note('cancelled');
    return text('too late');
  });
  server.registerTool('crash', { description: 'Ends the server.' }, () => {
    world.note('crash');
    process.exit(3);
  });
  server.registerTool('environment', { description: 'Names its variables.' }, () =>
    text(Object.keys(process.env).join(' ')),
  );
  server.registerTool('odd.name', { description: 'Odd.', inputSchema: fromJsonSchema(ODD_SCHEMA) }, (input) =>
    text(JSON.stringify(input)),
  );
  const addLater = (): void => {
    server.registerTool('later', { description: 'Came later.' }, () => text('Here I am.'));
  };
  server.registerTool('grow', { description: 'Has one tool more from now on.' }, () => {
    world.hasGrown = true;
    if (world.onGrown === undefined) addLater();
    else world.onGrown();
    return text('Grown.');
  });
  if (world.hasGrown) addLater();
  return server;
}
