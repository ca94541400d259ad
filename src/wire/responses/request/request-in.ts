import type { z } from 'zod';
import type { Directives, PluginRequest } from '../../../canonical/directives.ts';
import type { Warning } from '../../../canonical/extra.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import type { GenerationRequest, ResponseOptions, Turn } from '../../../canonical/request.ts';
import { hasLongNumbers, isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';
import { asExtra, restOf } from '../../extra.ts';
import type { ClientFormat } from '../../format.ts';
import { deprecationWarnings } from '../../gateway/deprecated.ts';
import { GATEWAY_FIELDS, decodeDirectives } from '../../gateway/directives.ts';
import type { HeaderDirectives } from '../../gateway/headers.ts';
import { keepNumbers, type PassthroughFields } from '../../gateway/keep-numbers.ts';
import { checkShape } from '../../gateway/validation/check-shape.ts';
import { compileSoon } from '../../gateway/validation/fast-schema.ts';
import { asCompaction } from '../compaction.ts';
import { openBounded, type Containers } from '../containers.ts';
import { withAutomaticCache } from './cache-control.ts';
import { decodeContent } from './content-in.ts';
import { echoOf } from './echo.ts';
import { decodeInclude } from './include-in.ts';
import { configurationIn, listDeclaredTools, listInput, type InputList } from './input-list.ts';
import { decodeItems } from './items-in.ts';
import type { Warn } from './read-fields.ts';
import { openSummary, reasoningOpener } from './reasoning-in.ts';
import { REQUEST_MEMBERS, responsesRequestSchema, type ResponsesRequest } from './request-schema.ts';
import { decodeSettings } from './settings-in.ts';
import { serversOf } from './server-tools-in.ts';
import { decodeTools, type ToolEntry } from './tools-in.ts';

const OWN_MEMBERS: ReadonlySet<string> = new Set([...REQUEST_MEMBERS, ...GATEWAY_FIELDS]);
/** Members whose numbers are only written out again, beside those that the gateway does not know. */
const PASSTHROUGH_MEMBERS: ReadonlySet<string> = new Set([
  'input',
  'tools',
  'tool_choice',
  'text',
  'response_format',
  'prediction',
  'prompt_cache_options',
  'image_config',
  'web_search_options',
  'context_management',
  'reasoning',
  'seed',
]);
const PASSTHROUGH_FIELDS: PassthroughFields = {
  passesThrough: (member) => PASSTHROUGH_MEMBERS.has(member) || !OWN_MEMBERS.has(member),
  numberIn: { reasoning: 'max_tokens' },
};
/** Of the vendor's alone, and understood by no other format. */
const VENDORS_MEMBERS = ['truncation', 'context_management', 'prompt_cache_retention'] as const;
const COMPRESSION = 'context-compression';
const WARNINGS_MAX = 50;

const schemas = new WeakMap<z.ZodType<PluginRequest>, ReturnType<typeof responsesRequestSchema>>();

/** One for the whole process: it takes long to compile. */
function schemaWith(plugin: z.ZodType<PluginRequest>): ReturnType<typeof responsesRequestSchema> {
  const known = schemas.get(plugin);
  if (known !== undefined) return known;
  const schema = responsesRequestSchema({ plugin });
  schemas.set(plugin, schema);
  compileSoon(schema);
  return schema;
}

export interface ResponsesDecoderOptions {
  readonly plugin: z.ZodType<PluginRequest>;
  readonly containers: Containers;
  /** A request with a key of the prompt cache gets a moving breakpoint, unless it has one of its own. */
  readonly autoCache?: boolean;
  /** What shortens a history where the endpoint could by itself. Default `own`: the gateway. */
  readonly compaction?: 'native' | 'own';
}

/** @throws GatewayError 400 with `issues`: see `ClientFormat.decodeRequest` */
export function createResponsesRequestDecoder({
  plugin,
  containers,
  autoCache = false,
  compaction,
}: ResponsesDecoderOptions): ClientFormat['decodeRequest'] {
  const schema = schemaWith(plugin);
  return (body, text, headers, context): GenerationRequest => {
    refuseUnsupported(body);
    const checked = checkShape(schema, withoutNulls(body), { text });
    const exact = hasLongNumbers(text) ? keepNumbers(checked, text, PASSTHROUGH_FIELDS) : checked;
    const warnings: Warning[] = [...deprecationWarnings(exact)];
    const warn: Warn = (code, path, message) => {
      if (warnings.length < WARNINGS_MAX) warnings.push({ code, path, message });
    };
    const input = listInput(exact.input, context);
    const parsed = reconfigure(schema, exact, input);
    const decoded = decodeTools([...entriesOf(parsed), ...listDeclaredTools(input.items)], warn);
    const include = decodeInclude(parsed.include ?? [], warn);
    const settings = decodeSettings(parsed, decoded, include);
    const sealed = openBounded(containers);
    const items = decodeItems(input.items, {
      openReasoning: reasoningOpener(sealed, context?.accountId),
      openSummary: (encrypted, path) => openSummary(encrypted, path, sealed, context?.accountId),
      names: decoded.names,
      servers: serversOf(decoded.tools),
      warn,
    });
    const request: GenerationRequest = {
      format: 'responses',
      delivery: parsed.stream === true ? 'stream' : 'whole',
      turns: [...decodeInstructions(parsed), ...items],
      tools: decoded.tools,
      settings,
      directives: decodeOwnDirectives(parsed, headers),
      response: decodeOptions(parsed, headers, input, include),
      ...asExtra('responses', decodeRest(parsed)),
      warnings,
    };
    const cached = autoCache ? withAutomaticCache(request) : request;
    return input.compacts === undefined ? cached : asCompaction(cached, compaction);
  };
}

/** What the gateway does not keep, and bodies of another endpoint. */
function refuseUnsupported(body: Json): void {
  if (!isJsonObject(body)) return;
  const { conversation, prompt, input, messages } = body;
  if (conversation !== undefined && conversation !== null)
    throw invalid('conversation', 'conversations are not kept here: use previous_response_id, or send all items');
  if (prompt !== undefined && prompt !== null)
    throw invalid('prompt', 'stored prompts are not known here: use a preset');
  if ((input === undefined || input === null) && Array.isArray(messages))
    throw invalid('input', 'is missing; bodies with messages go to /chat/completions or /messages', 'invalid_prompt');
}

/** A member that is null is absent. */
function withoutNulls(body: Json): Json {
  if (!isJsonObject(body) || !Object.values(body).includes(null)) return body;
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** A conversation may change the settings on its way: what it says last counts. */
function reconfigure(
  schema: ReturnType<typeof responsesRequestSchema>,
  parsed: ResponsesRequest,
  { items }: InputList,
): ResponsesRequest {
  const changes = configurationIn(items);
  return Object.keys(changes).length === 0 ? parsed : checkShape(schema, { ...parsed, ...changes });
}

function entriesOf({ tools = [] }: ResponsesRequest): readonly ToolEntry[] {
  return tools.map((value, at) => ({ value, path: `tools[${at}]` }));
}

/** One text before all others. A list of items, as a response repeats it, counts by its texts. */
function decodeInstructions({ instructions }: ResponsesRequest): readonly Turn[] {
  const text = typeof instructions === 'string' ? instructions : textsOf(instructions ?? []).join('\n\n');
  if (text === '') return [];
  const source = { path: 'instructions', blocks: ['instructions'] };
  return [{ role: 'system', blocks: [{ type: 'text', text }], plain: true, source }];
}

function textsOf(items: readonly Json[]): readonly string[] {
  return items.flatMap((item, at): readonly string[] => {
    if (typeof item === 'string') return [item];
    const path = `instructions[${at}]`;
    if (!isJsonObject(item)) throw invalid(path, 'must be an object', 'invalid_prompt');
    const { blocks } = decodeContent(item['content'], `${path}.content`);
    return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  });
}

function decodeOwnDirectives(parsed: ResponsesRequest, headers: HeaderDirectives): Directives {
  const directives = decodeDirectives(parsed, headers, {
    model: parsed.model,
    user: parsed.safety_identifier ?? parsed.user,
    metadata: parsed.metadata,
  });
  // A key of the prompt cache names the session better than the client does.
  const sessionId =
    directives.sessionId ?? (parsed.prompt_cache_key === undefined ? headers.clientSessionId : undefined);
  return {
    ...directives,
    ...(sessionId !== undefined && { sessionId }),
    plugins: truncate(directives.plugins, parsed.truncation),
  };
}

/** An entry of the caller's own counts before `truncation`. */
function truncate(
  plugins: readonly PluginRequest[],
  truncation: ResponsesRequest['truncation'],
): readonly PluginRequest[] {
  if (truncation === undefined || plugins.some(({ id }) => id === COMPRESSION)) return plugins;
  return [...plugins, { id: COMPRESSION, enabled: truncation === 'auto', options: {}, yieldsToNative: true }];
}

function decodeOptions(
  parsed: ResponsesRequest,
  { streamErrors, streamEvents }: HeaderDirectives,
  input: InputList,
  include: ReadonlySet<string>,
): ResponseOptions {
  const { store, background, previous_response_id: previous } = parsed;
  return {
    echo: echoOf(parsed),
    include,
    ...(streamErrors !== undefined && { failsInStream: streamErrors === 'in-band' }),
    ...(streamEvents === 'extended' && { extendedEvents: true }),
    ...(store !== undefined && { store }),
    ...(background === true && { background }),
    ...(previous !== undefined && { previousResponseId: previous }),
    items: input.own,
    ...(input.compacts && { compacts: input.compacts }),
  };
}

/** Members that only upstreams of this format know: unknown ones, and the vendor's. */
function decodeRest(parsed: ResponsesRequest): JsonObject | undefined {
  const rest: Record<string, Json | undefined> = { ...restOf(parsed, OWN_MEMBERS) };
  for (const member of VENDORS_MEMBERS) {
    const value: unknown = parsed[member];
    if (typeof value === 'string' || Array.isArray(value)) rest[member] = value;
  }
  const inner = restOf(parsed.text, new Set(['format', 'verbosity']));
  if (inner !== undefined) rest['text'] = inner;
  return Object.keys(rest).length === 0 ? undefined : rest;
}
