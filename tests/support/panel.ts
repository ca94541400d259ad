import { objectOf } from './reported.ts';
import { startToolTurns, type Stated, type ToolTurns } from './tool-turns.ts';
import type { GatewayOptions } from './gateway.ts';
import type { Arrived, Script } from './upstream.ts';
import type { Json, JsonObject } from '../../src/lib/json.ts';

/** The called models, by the upstream's own name: `outer` writes the response, `judge` compares, the others are the panel. */
export type Who = 'outer' | 'judge' | 'one' | 'two' | 'three';

/** The response of a model; `turn` counts the earlier requests to that model, from 0. */
export type States = (who: Who, arrived: Arrived, turn: number) => Stated | Script;

const price = '{ prompt: 1, completion: 2 }';

/** Members one and three speak chat, two speaks messages. */
const MODELS = `
  acme/outer: { endpoints: [{ provider: chatty, model: outer, price: ${price} }] }
  acme/judge: { endpoints: [{ provider: chatty, model: judge, price: ${price} }] }
  acme/one: { endpoints: [{ provider: chatty, model: one, price: ${price} }] }
  acme/two: { endpoints: [{ provider: wordy, model: two, price: ${price} }] }
  acme/three: { endpoints: [{ provider: chatty, model: three, price: ${price} }] }
`;

export const PANEL = ['acme/one', 'acme/two', 'acme/three'];

export const ANALYSIS = {
  consensus: ['Both are drinks.'],
  contradictions: [{ topic: 'taste', stances: [{ model: 'acme/one', stance: 'tea' }] }],
  partial_coverage: [{ models: ['acme/two'], point: 'price' }],
  unique_insights: [{ model: 'acme/three', insight: 'Water is free.' }],
  blind_spots: ['Health.'],
};

/** The panel speaks its name, the judge gives its analysis, and the outer model calls the panel and then answers. */
export function states(who: Who, { body }: Arrived): Stated {
  if (who === 'judge') return { text: JSON.stringify(ANALYSIS) };
  if (who !== 'outer') return { text: `${who} says tea.` };
  return hasResult(body) ? { text: 'In the end: tea.' } : { calls: [{ name: 'service_fusion' }] };
}

/** Whether the model has a tool result. */
export function hasResult(body: Record<string, unknown>): boolean {
  return JSON.stringify(body['messages']).includes('"tool');
}

/** All requests to one of them, oldest first. */
export function requestedOf({ chat, messages }: Pick<ToolTurns, 'chat' | 'messages'>, who: Who): readonly Arrived[] {
  return [...chat.arrived, ...messages.arrived].filter(({ body }) => body['model'] === who);
}

/** A gateway in front of a panel, an analyst and a model that may call them. */
export async function startPanel(
  t: { after(close: () => Promise<void>): void },
  emit: States = states,
  { yaml = '', ...options }: GatewayOptions = {},
): Promise<ToolTurns> {
  const counts = new Map<string, number>();
  return startToolTurns(
    t,
    (arrived) => {
      const who = arrived.body['model'] as Who;
      const turn = counts.get(who) ?? 0;
      counts.set(who, turn + 1);
      return emit(who, arrived, turn);
    },
    { ...options, yaml: MODELS + yaml },
  );
}

/** The tool, with this panel and without tools of its own. */
export function fusionTool(parameters: JsonObject = {}): JsonObject {
  return {
    type: 'service:fusion',
    parameters: { analysis_models: PANEL, model: 'acme/judge', tools: [], ...parameters },
  };
}

/** The result as the model that called the panel read it. */
export function resultRead(turns: Pick<ToolTurns, 'chat' | 'messages'>): JsonObject {
  const last = requestedOf(turns, 'outer').at(-1);
  const messages = last?.body['messages'] as readonly Json[];
  const content = objectOf(messages.findLast((message) => objectOf(message)['role'] === 'tool'))['content'];
  // A failed result has a word in front where the format has no mark for it.
  const parts: readonly Json[] = Array.isArray(content) ? content : [{ text: content ?? '' }];
  const text = parts.map((part) => objectOf(part)['text'] as string).join('');
  return objectOf(JSON.parse(text.replace(/^Error: /, '')) as Json);
}
