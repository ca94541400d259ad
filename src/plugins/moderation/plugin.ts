import { GatewayError } from '../../canonical/gateway-error.ts';
import type { ModerationVerdict } from '../../canonical/moderation.ts';
import type { GenerationRequest } from '../../canonical/request.ts';
import type { Plugin, PluginContext } from '../contract.ts';
import { judgeByRules } from './built-in-rules.ts';
import { askJudge, isAskedOfJudge } from './judge.ts';
import { moderationOptions } from './options.ts';

/** Classifiers read so much at a time. */
const TEXT_CHARS_MAX = 10_000;
/** Of a long conversation the latest texts are judged: the earlier ones have been, when they came. */
const TEXTS_MAX = 32;
/** @source generation.md 8.2 `flagged_input` */
const SHOWN_CHARS_MAX = 100;
const GAP = '...';

/** Refuses requests whose users' messages a classifier finds harmful. @source generation.md 4.7, 8.2 */
export const moderation = {
  id: 'moderation',
  options: moderationOptions,
  async reviseRequest(request, _options, context) {
    const texts = textsOf(request);
    if (texts.length === 0 || isAskedOfJudge(request)) return request;
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

/** Best first. `undefined`: who was to be asked said nothing, and the request passes. @source generation.md 4.7 */
async function judge(texts: readonly string[], context: PluginContext): Promise<Judged | undefined> {
  const { abilities, signal } = context;
  const { endpoint, judge: slug } = abilities.moderation ?? {};
  const engine: Engine = endpoint !== undefined ? 'endpoint' : slug !== undefined ? 'judge' : 'rules';
  try {
    if (endpoint !== undefined) return { engine, verdict: await endpoint(texts, signal) };
    if (slug !== undefined && abilities.generate !== undefined)
      return { engine, verdict: await askJudge(abilities.generate, slug, texts, signal) };
    return { engine: 'rules', verdict: judgeByRules(texts) };
  } catch {
    // Whatever was wrong with it was wrong with the classifier, not with the request.
    context.note({
      type: 'guardrail',
      name: 'moderation',
      summary: 'Passed: the classifier did not answer',
      data: { flagged: false, action: 'passed', engines: [engine], decision: 'unavailable' },
    });
    return undefined;
  }
}

/** What users wrote, the latest last, in pieces that a classifier takes. */
function textsOf({ turns }: GenerationRequest): readonly string[] {
  const pieces = turns
    .filter(({ role }) => role === 'user')
    .flatMap(({ blocks }) => blocks)
    .flatMap((block) => (block.type === 'text' && block.text.trim() !== '' ? [block.text] : []))
    .flatMap(cut);
  return pieces.slice(-TEXTS_MAX);
}

function cut(text: string): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += TEXT_CHARS_MAX)
    pieces.push(text.slice(at, at + TEXT_CHARS_MAX).toWellFormed());
  return pieces;
}

function shorten(text: string): string {
  if (text.length <= SHOWN_CHARS_MAX) return text;
  const half = Math.floor((SHOWN_CHARS_MAX - GAP.length) / 2);
  return `${text.slice(0, half).toWellFormed()}${GAP}${text.slice(-half).toWellFormed()}`;
}
