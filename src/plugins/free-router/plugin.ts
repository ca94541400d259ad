import { z } from 'zod';
import type { LeftOut } from '../../canonical/model-choice.ts';
import { nobodyLeft, withSuffixes } from '../../choosing/no-models.ts';
import { drawLeftOut } from '../../choosing/task-field.ts';
import { assert } from '../../lib/assert.ts';
import type { Plugin } from '../contract.ts';

const ID = 'free-router';
/** The first answers, the others stand in for it. */
const CHOSEN_MAX = 3;

/** A model that costs nothing and can do what the request asks for, by chance. @source generation.md 3.8 `service/free` */
export const freeRouter = {
  id: ID,
  options: z.object({}),
  slugs: ['service/free'],
  chooseModels(request, slug, _options, context) {
    const { choice } = context.abilities;
    assert(choice !== undefined, 'whoever chooses models is given what to choose by');
    const { models, leftOut } = choice.field(request);
    const free = models.filter(({ isFree }) => isFree).map((model) => model.slug);
    const priced = models.filter(({ isFree }) => !isFree);
    const out: LeftOut[] = [...leftOut, ...priced.map((model) => ({ slug: model.slug, reason: 'not_free' }))];
    if (free.length === 0) return Promise.reject(nobodyLeft(slug, out));
    const chosen = drawSome(free, () => choice.random());
    choice.decided({
      router: ID,
      strategy: 'free',
      chosen,
      details: () => ({ candidates: [...free], left_out: drawLeftOut(out) }),
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

function drawSome(slugs: readonly string[], random: () => number): readonly string[] {
  const left = [...slugs];
  const drawn: string[] = [];
  while (drawn.length < CHOSEN_MAX && left.length > 0)
    drawn.push(...left.splice(Math.floor(random() * left.length), 1));
  return drawn;
}
