import { invalid } from '../../../canonical/gateway-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json.ts';

const MARK = '@preset/';

/**
 * The preset that a body names, in whichever of the three ways: `model: "@preset/slug"`, `model: "author/slug@preset/slug"`,
 * `preset: "slug"`. The body that goes on has the slug in `preset`, and in `model` what is a model.
 * @returns `undefined` where none is named; what is wrong with such a body is for its format to say
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
