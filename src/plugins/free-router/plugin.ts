import { z } from 'zod';
import type { LeftOut } from '../../canonical/model-choice.ts';
import { noModelLeft, withSuffixes } from '../../model-selection/candidates/no-models.ts';
import { formatLeftOut } from '../../model-selection/candidates/task-candidates.ts';
import { assert } from '../../lib/assert.ts';
import type { Plugin } from '../contract.ts';

const ID = 'free-router';
/** The first answers, the others stand in for it. */
const CHOSEN_MAX = 3;

/** A random free model that supports the request. @spec router-35 */
export const freeRouter = {
  id: ID,
  summary: 'Chooses a model that costs nothing.',
  options: z.object({}),
  slugs: ['service/free'],
  chooseModels(request, slug, _options, context) {
    const { choice } = context.abilities;
    assert(choice !== undefined, 'a router gets a model choice in its context');
    const { models, leftOut } = choice.candidatePool(request);
    const free = models.filter(({ isFree }) => isFree).map((model) => model.slug);
    const priced = models.filter(({ isFree }) => !isFree);
    const out: LeftOut[] = [...leftOut, ...priced.map((model) => ({ slug: model.slug, reason: 'not_free' }))];
    if (free.length === 0) return Promise.reject(noModelLeft(slug, out));
    const chosen = sampleSome(free, () => choice.random());
    choice.decided({
      router: ID,
      strategy: 'free',
      chosen,
      details: () => ({ candidates: [...free], left_out: formatLeftOut(out) }),
    });
    context.note({
      type: 'plugin',
      name: ID,
      summary: `Chose ${chosen[0]} of ${free.length} free models`,
      data: { chosen: [...chosen], candidates: free.length },
    });
    return Promise.resolve(withSuffixes(slug, chosen));
  },
} satisfies Plugin;

function sampleSome(slugs: readonly string[], random: () => number): readonly string[] {
  const left = [...slugs];
  const sampled: string[] = [];
  while (sampled.length < CHOSEN_MAX && left.length > 0)
    sampled.push(...left.splice(Math.floor(random() * left.length), 1));
  return sampled;
}
