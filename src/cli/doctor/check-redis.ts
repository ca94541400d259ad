import { inspectRedis } from '../../state/redis/inspect.ts';
import type { Finding } from '../../app/check-provider/finding.ts';

/** Beyond this a look-up costs a request more than it is worth. */
const SLOW_MS = 20;

/** Whether gateways can share their state there. Neither the address nor its password is said. */
export async function checkRedis(url: string | undefined, prefix: string): Promise<Finding> {
  if (url === undefined) return { verdict: 'ok', message: 'redis_url is not set: this gateway shares no state.' };
  try {
    const { version, answerMs, evicts } = await inspectRedis(url, prefix);
    const answered = `Redis ${version} answers in ${answerMs.toFixed(1)} ms`;
    if (evicts)
      return {
        verdict: 'warning',
        message: `${answered}, but throws away keys when its memory is full, reservations of money among them: set maxmemory-policy to noeviction.`,
      };
    if (answerMs > SLOW_MS)
      return { verdict: 'warning', message: `${answered}: every request with a limit waits for it at least once.` };
    return { verdict: 'ok', message: `${answered}.` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { verdict: 'failed', message: `Redis cannot be used (${reason}): check redis_url.` };
  }
}
