import { parseArgs } from 'node:util';

export const SUITES = [
  'whole',
  'stream',
  'pairs',
  'paced',
  'codecs',
  'routing',
  'routers',
  'plugins',
  'guardrails',
  'documents',
  'fusion',
  'accounts',
  'viewers',
  'hostile',
  'path',
  'media',
] as const;
export type Suite = (typeof SUITES)[number];

export const PROFILES = ['whole', 'stream', 'translated'] as const;
export type Profile = (typeof PROFILES)[number];

export interface Options {
  readonly quick: boolean;
  readonly suites: readonly Suite[];
  readonly rounds: number;
  readonly json: boolean;
  /** Measures the baselines alone. */
  readonly baselinesOnly: boolean;
  /** Measures another gateway beside it. */
  readonly peers: boolean;
  readonly profile?: Profile;
}

const USAGE = `usage: npm run bench -- [--quick] [--only whole|stream|pairs|paced|codecs|routing|routers|plugins|guardrails|documents|fusion|accounts|viewers|hostile|path|media] [--rounds N] [--json] [--baselines] [--peers]
       npm run bench -- --profile whole|stream|translated`;

/** @throws Error with the fault and the usage. */
export function readOptions(args: readonly string[]): Options {
  try {
    return parseOptions(args);
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error });
  }
}

function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      rounds: { type: 'string' },
      json: { type: 'boolean', default: false },
      baselines: { type: 'boolean', default: false },
      peers: { type: 'boolean', default: false },
      profile: { type: 'string' },
    },
  });
  const only = choose('--only', values.only, SUITES);
  const profile = choose('--profile', values.profile, PROFILES);
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 50) throw new Error('--rounds is a number from 1 to 50');
  return {
    quick: values.quick,
    suites: only === undefined ? SUITES : [only],
    rounds,
    json: values.json,
    baselinesOnly: values.baselines,
    peers: values.peers,
    ...(profile !== undefined && { profile }),
  };
}

function choose<Choice extends string>(
  flag: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((candidate) => candidate === value);
  if (value !== undefined && choice === undefined) throw new Error(`${flag} is one of ${choices.join(', ')}`);
  return choice;
}
