// The upstreams of a stage and its attackers: a process of their own, so that their work is neither the gateway's nor the
// well-behaved caller's. Started by start-load.ts.
import type { z } from 'zod';
import { startUpstream } from '../support/upstream.ts';
import { ATTACKS, runAttack } from './attacks.ts';
import { startBulkyUpstream } from './bulky-upstream.ts';
import { attackJobSchema, type AttackReport } from './start-load.ts';

const LARGE_CHARS = 8_388_608;

const largeAnswer = JSON.stringify({
  id: 'large',
  object: 'chat.completion',
  created: 1,
  model: 'large',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'all of it '.repeat(LARGE_CHARS / 10) }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 3, total_tokens: 6 },
});

const upstream = await startUpstream((_arrived, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(largeAnswer);
});
const bulky = await startBulkyUpstream();
process.send?.({ baseUrl: upstream.baseUrl, bulkyUrl: bulky.url });

process.on('message', (message) => {
  void attack(attackJobSchema.parse(message)).then((report) => process.send?.(report));
});
process.once('disconnect', () => process.exit(0));

async function attack({ name, target, limitMs }: z.output<typeof attackJobSchema>): Promise<AttackReport> {
  const found = ATTACKS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no attack ${name}.`);
  const { statuses, withoutRetryAfter } = await runAttack(found, target, AbortSignal.timeout(limitMs));
  return { statuses: [...statuses], withoutRetryAfter };
}
