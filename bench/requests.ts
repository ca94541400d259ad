import type { ClientFormatId } from '../src/canonical/extra.ts';

export type BodySize = 'small' | 'large';

export const BODY_LABELS: Readonly<Record<BodySize, string>> = { small: '250 B', large: '50 KB' };
const SMALL_BYTES = 250;
const LARGE_TURNS = 60;
const LARGE_TOOLS = 12;
const LARGE_BYTES = 50 * 1024;
const PROSE =
  'The gateway takes a request, finds the endpoints that can serve it, and hands the answer back as it arrives. "Quotes", a tab\t and a line\n keep an encoder busy. ';

export interface CallOptions {
  readonly format: ClientFormatId;
  readonly host: string;
  readonly port: number;
  readonly key: string;
  readonly model: string;
  readonly size: BodySize;
  readonly streams: boolean;
  /** Further ones. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type BodyOptions = Pick<CallOptions, 'format' | 'model' | 'size' | 'streams'>;

const PATHS: Readonly<Record<ClientFormatId, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

/** A whole HTTP/1.1 request as a caller's SDK would send it. */
export function writeRequest(options: CallOptions): string {
  const body = JSON.stringify(writeBody(options));
  const lines = [
    `POST ${PATHS[options.format]} HTTP/1.1`,
    `host: ${options.host}:${options.port}`,
    'user-agent: bench/1.0',
    'accept: application/json',
    ...(options.format === 'messages'
      ? [`x-api-key: ${options.key}`, 'anthropic-version: 2023-06-01']
      : [`authorization: Bearer ${options.key}`]),
    ...Object.entries(options.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

export function writeBody(options: BodyOptions): object {
  if (options.size === 'large') return writeLargeBody(options);
  const body = (text: string): object => writeSmallBody(options, text);
  const room = SMALL_BYTES - JSON.stringify(body('')).length;
  return body('How does a proxy add less than half a millisecond? '.repeat(5).slice(0, Math.max(1, room)));
}

function writeSmallBody({ format, model, streams: stream }: BodyOptions, text: string): object {
  const common = { model, temperature: 0.7, stream };
  const user = { role: 'user', content: text };
  if (format === 'responses') return { ...common, max_output_tokens: 512, instructions: 'Be brief.', input: text };
  if (format === 'messages') return { ...common, max_tokens: 512, system: 'Be brief.', messages: [user] };
  return { ...common, max_tokens: 512, messages: [{ role: 'system', content: 'Be brief.' }, user] };
}

/** A conversation with tools, as an agent sends it at its sixtieth turn. */
function writeLargeBody(options: BodyOptions): object {
  const tools = Array.from({ length: LARGE_TOOLS }, (_, index) => writeTool(options.format, index));
  const body = (text: string): object => ({
    model: options.model,
    [options.format === 'responses' ? 'input' : 'messages']: Array.from({ length: LARGE_TURNS }, (_, index) => ({
      role: index % 2 === (LARGE_TURNS - 1) % 2 ? 'user' : 'assistant',
      content: `${index} ${text}`,
    })),
    tools,
    [options.format === 'responses' ? 'max_output_tokens' : 'max_tokens']: 512,
    stream: options.streams,
  });
  const perTurn = Math.floor((LARGE_BYTES - JSON.stringify(body('')).length) / LARGE_TURNS);
  // JSON escapes make the prose a little longer than its characters: measured rather than guessed.
  const growth = JSON.stringify(PROSE).length / PROSE.length;
  return body(PROSE.repeat(Math.ceil(perTurn / PROSE.length)).slice(0, Math.floor(perTurn / growth)));
}

function writeTool(format: ClientFormatId, index: number): object {
  const name = `search_records_${index}`;
  const description = `Searches the records of table ${index} by text, date and state, newest first.`;
  const schema = {
    type: 'object',
    properties: {
      query: { type: 'string', description: 'Words to look for.' },
      state: { type: 'string', enum: ['open', 'closed', 'any'] },
      limit: { type: 'integer', minimum: 1, maximum: 100 },
      since: { type: 'string', description: 'ISO 8601 date.' },
    },
    required: ['query'],
    additionalProperties: false,
  };
  if (format === 'responses') return { type: 'function', name, description, parameters: schema };
  return format === 'chat'
    ? { type: 'function', function: { name, description, parameters: schema } }
    : { name, description, input_schema: schema };
}
