import { GatewayError } from '../../canonical/gateway-error.ts';
import type { ModerationVerdict } from '../../canonical/tools/moderation.ts';
import type { Plugin, PluginContext } from '../contract.ts';
import { judgeByRules } from './built-in-rules.ts';
import { askJudge } from './judge.ts';
import { splitIntoCalls, userTexts, type CallBounds } from './judged-texts.ts';
import { moderationOptions } from './options.ts';

/** The context of a judge may be small. Rules look by themselves, one piece after the other. */
const BOUNDS = {
  endpoint: { piecesMax: 32, charsMax: 320_000, callsMax: 8 },
  judge: { piecesMax: 64, charsMax: 40_000, callsMax: 8 },
  rules: { piecesMax: 4_000, charsMax: 10_000_000, callsMax: 1 },
} as const satisfies Readonly<Record<Engine, CallBounds>>;
/** @spec plugin-28 */
const SHOWN_CHARS_MAX = 100;
const GAP = '...';

/** Refuses requests whose users' messages a classifier finds harmful. @spec plugin-28 */
export const moderation = {
  id: 'moderation',
  summary: 'Refuses requests that a moderation endpoint or a judge model flags.',
  options: moderationOptions,
  async transformRequest(request, _options, context) {
    const texts = userTexts(request);
    if (texts.length === 0 || context.isJudge === true) return request;
    const judged = await judge(texts, context);
    if (judged === undefined || !judged.verdict.flagged) return request;
    const { engine, verdict } = judged;
    const { categories, model, providerName } = verdict;
    context.note({
      type: 'guardrail',
      name: 'moderation',
      summary: `Blocked: flagged by ${engine === 'rules' ? 'a few built-in rules' : model}`,
      data: { flagged: true, action: 'blocked', categories: [...categories], engines: [engine] },
    });
    throw new GatewayError('permission_denied', 'The request was flagged by moderation.', {
      metadata: {
        reasons: [...categories],
        flagged_input: shorten(texts.join('\n')),
        provider_name: providerName,
        model_slug: model,
      },
    });
  },
} satisfies Plugin<typeof moderationOptions>;

type Engine = 'endpoint' | 'judge' | 'rules';

interface Judged {
  readonly engine: Engine;
  readonly verdict: ModerationVerdict;
}

type Ask = (pieces: readonly string[]) => Promise<ModerationVerdict>;

/**
 * `undefined`: the classifier did not respond, and the request passes.
 * @throws GatewayError 403 where it must not
 * @spec plugin-29
 */
async function judge(texts: readonly string[], context: PluginContext): Promise<Judged | undefined> {
  const { engine, ask } = judgeOf(context);
  const calls = splitIntoCalls(texts, BOUNDS[engine]);
  const stated = await Promise.allSettled(calls.map((pieces) => ask(pieces)));
  const verdicts = stated.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const flags = verdicts.filter(({ flagged }) => flagged);
  const [first = verdicts[0]] = flags;
  // One that found something is enough; that nothing is found all must say.
  if (first !== undefined && (flags.length > 0 || verdicts.length === calls.length))
    return { engine, verdict: { ...first, categories: [...new Set(flags.flatMap(({ categories }) => categories))] } };
  const isBlocked = context.abilities.moderation?.onError === 'block';
  context.note({
    type: 'guardrail',
    name: 'moderation',
    summary: `${isBlocked ? 'Blocked' : 'Passed'}: the classifier did not answer`,
    data: { flagged: false, action: isBlocked ? 'blocked' : 'passed', engines: [engine], decision: 'unavailable' },
  });
  if (!isBlocked) return undefined;
  throw new GatewayError('permission_denied', 'The request was blocked: moderation gave no verdict on it.', {
    metadata: { reasons: [], decision: 'unavailable' },
  });
}

/** Best first. */
function judgeOf({ abilities, signal }: PluginContext): { readonly engine: Engine; readonly ask: Ask } {
  const { decide, moderation: { endpoint, judge: named } = {} } = abilities;
  if (endpoint !== undefined) return { engine: 'endpoint', ask: (pieces) => endpoint(pieces, signal) };
  if (named !== undefined && decide !== undefined)
    return { engine: 'judge', ask: (pieces) => askJudge(decide, named, pieces, signal) };
  return { engine: 'rules', ask: judgeByRules };
}

function shorten(text: string): string {
  if (text.length <= SHOWN_CHARS_MAX) return text;
  const half = Math.floor((SHOWN_CHARS_MAX - GAP.length) / 2);
  return `${text.slice(0, half).toWellFormed()}${GAP}${text.slice(-half).toWellFormed()}`;
}
