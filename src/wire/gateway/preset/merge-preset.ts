import type { ClientFormatId } from '../../../canonical/extra.ts';
import { CACHE_MEMBERS } from './preset-config.ts';
import { spellConfig } from './preset-spellings.ts';
import { invalid } from '../../../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

/** Spellings of one setting: where a request uses one of them, the preset's others do not count. */
const SPELLINGS: readonly (readonly string[])[] = [
  ['max_tokens', 'max_completion_tokens', 'max_output_tokens'],
  ['text', 'response_format'],
  ['reasoning', 'reasoning_effort', 'include_reasoning'],
  ['models', 'fallbacks'],
  ['provider', 'route'],
  ['plugins', 'transforms'],
];

/**
 * A request with what it leaves open taken from a preset. Shallow: a member of the request replaces the preset's whole,
 * and only tools are united.
 * @param body of a request in this format, its reference to the preset resolved
 * @returns also the members of the preset that the format cannot express
 * @spec preset-8, preset-9
 */
export function mergePreset(
  format: ClientFormatId,
  body: JsonObject,
  preset: JsonObject,
): { readonly body: JsonObject; readonly dropped: readonly string[] } {
  const { config, dropped } = spellConfig(format, preset);
  const open: Record<string, Json | undefined> = { ...config };
  for (const member of CACHE_MEMBERS) delete open[member];
  for (const spellings of SPELLINGS)
    if (spellings.some((member) => body[member] !== undefined)) for (const member of spellings) delete open[member];
  const { tools } = open;
  const requested = body['tools'];
  const united =
    Array.isArray(tools) && (requested === undefined || requested === null || Array.isArray(requested))
      ? uniteTools(tools, requested ?? [])
      : undefined;
  return { body: { ...open, ...body, ...(united !== undefined && { tools: united }) }, dropped };
}

/** A tool of the request takes the place of the preset's of the same identity; new ones follow. */
function uniteTools(preset: readonly Json[], requested: readonly Json[]): readonly Json[] {
  const named = new Map(requested.map((tool) => [identityOf(tool), tool]));
  const known = new Set(preset.map(identityOf));
  return [
    ...preset.map((tool) => named.get(identityOf(tool)) ?? tool),
    ...requested.filter((tool) => !known.has(identityOf(tool))),
  ];
}

/** Server tools that may stand there more than once, and the parameter that distinguishes them. */
const NAMED_SERVER_TOOLS: ReadonlyMap<unknown, string> = new Map([
  ['service:advisor', 'name'],
  ['service:subagent', 'name'],
  ['service:mcp', 'server'],
]);

/** What makes two tools the same one. @spec preset-9 */
function identityOf(tool: Json): string {
  if (!isJsonObject(tool)) return JSON.stringify(tool);
  const { type, function: called, name, parameters } = tool;
  if (isJsonObject(called)) return JSON.stringify(['function', called['name']]);
  // A function of the messages format, or of the responses format.
  if (type === undefined || type === null || type === 'custom' || type === 'function')
    return JSON.stringify(['function', name]);
  const member = NAMED_SERVER_TOOLS.get(type);
  const own = member !== undefined && isJsonObject(parameters) ? parameters[member] : undefined;
  return JSON.stringify(own === undefined ? [type] : [type, own]);
}

const MARK = '@preset/';

/**
 * The preset that a body names, in whichever of the three ways: `model: "@preset/slug"`, `model: "author/slug@preset/slug"`,
 * `preset: "slug"`. The body that goes on has the slug in `preset`, and in `model` what is a model.
 * @returns `undefined` where none is named; the body's format reports what is wrong with such a body
 * @throws GatewayError 400 when `preset` and `model` name different ones
 * @spec preset-6
 */
export function findPreset(body: Json): { readonly slug: string; readonly body: JsonObject } | undefined {
  if (!isJsonObject(body)) return undefined;
  const { preset, model } = body;
  const named = typeof preset === 'string' && preset !== '' ? preset : undefined;
  const at = typeof model === 'string' ? model.indexOf(MARK) : -1;
  if (typeof model !== 'string' || at < 0) return named === undefined ? undefined : { slug: named, body };
  const slug = model.slice(at + MARK.length);
  if (named !== undefined && named !== slug) throw invalid('preset', 'is another preset than the one that model names');
  const { model: _model, ...rest } = body;
  return { slug, body: { ...rest, preset: slug, ...(at > 0 && { model: model.slice(0, at) }) } };
}
