import { z } from 'zod';
import { key } from './key.ts';
import { optionalSection, text } from './parts.ts';

const METRICS_MAX = 20;

/** Scores that an ability is the mean of. */
export interface ScoresConfig {
  readonly abilities: {
    readonly intelligence: readonly string[];
    readonly coding: readonly string[];
    readonly agentic: readonly string[];
  };
}

const metrics = (what: string) =>
  key(z.array(text).max(METRICS_MAX), what, {
    usual: 'those of the catalog',
    example: ['local/my-questions@1a2b3c4d'],
  });

export const scoresSection = optionalSection(
  {
    abilities: optionalSection(
      {
        intelligence: metrics('Metrics whose mean is the ability `intelligence` of a model that has all of them.'),
        coding: metrics('The same for `coding`.'),
        agentic: metrics('The same for `agentic`.'),
      },
      'Which scores listings, sort keys and routers go by.',
    ),
  },
  'Scores of models, also of your own benchmark runs: docs/evaluations.md.',
);

/** The section with its defaults. */
export function scoresOf({ abilities }: z.output<typeof scoresSection>): ScoresConfig {
  const { intelligence = [], coding = [], agentic = [] } = abilities;
  return { abilities: { intelligence, coding, agentic } };
}
