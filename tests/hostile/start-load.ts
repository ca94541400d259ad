import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { z } from 'zod';
import type { Attack, AttackOutcome, Target } from './attacks.ts';

const ENTRY = path.join(import.meta.dirname, 'load-process.ts');

export const attackJobSchema = z.object({
  name: z.string(),
  target: z.object({ url: z.string(), key: z.string(), largeModel: z.string() }),
  limitMs: z.number(),
});

const reportSchema = z.object({
  statuses: z.array(z.tuple([z.number(), z.number()])),
  withoutRetryAfter: z.number(),
});
export type AttackReport = z.output<typeof reportSchema>;

/** The upstreams of a stage, and what attacks its gateway. */
export interface Load {
  /** Of the upstream with large answers: `http://127.0.0.1:PORT/v1`. */
  readonly baseUrl: string;
  /** Of that with bulky ones (bulky-upstream.ts). */
  readonly bulkyUrl: string;
  /** One at a time. */
  attack(attack: Attack, target: Target, limitMs: number): Promise<AttackOutcome>;
  close(): Promise<void>;
}

/** @param launcher a command that starts it: `taskset`, `nice` */
export async function startLoad(launcher: readonly string[]): Promise<Load> {
  const [file, ...args] = [...launcher, process.execPath, ENTRY];
  const child = spawn(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const exited = once(child, 'exit');
  const nextMessage = async (): Promise<unknown> => {
    const gone = exited.then(() => Promise.reject(new Error('The process of the attackers ended.')));
    const [message]: unknown[] = await Promise.race([once(child, 'message'), gone]);
    return message;
  };
  const addresses = z.object({ baseUrl: z.string(), bulkyUrl: z.string() }).parse(await nextMessage());
  return {
    ...addresses,
    async attack({ name }, target, limitMs) {
      const report = nextMessage();
      child.send({ name, target, limitMs });
      const { statuses, withoutRetryAfter } = reportSchema.parse(await report);
      return { statuses: new Map(statuses), withoutRetryAfter };
    },
    async close() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
