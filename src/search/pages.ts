import type { WebPageOutcome } from '../canonical/tools/web-page.ts';
import type { SearchEngineId } from '../canonical/tools/web-search.ts';
import type { ByteBudget } from '../lib/memory/byte-budget.ts';
import { truncateAtWord } from '../lib/text/truncate.ts';
import type { HttpClient } from '../lib/net/http-client.ts';
import { isJsonObject } from '../lib/json.ts';
import { askEngine, settingsNow } from './ask-engine.ts';
import type { EngineSettings } from './contract.ts';
import { ENGINES } from './engines.ts';

/** Pages that a vendor reads, and not the gateway. */
export interface EnginePages {
  has(engine: SearchEngineId): boolean;
  /** Nano-USD. */
  feeOf(engine: SearchEngineId): number;
  /** @param charsMax how much of the text is wanted. Never rejects. */
  read(engine: SearchEngineId, url: string, charsMax: number, signal: AbortSignal): Promise<WebPageOutcome>;
}

export interface EnginePagesDeps {
  readonly http: HttpClient;
  readonly engines: ReadonlyMap<SearchEngineId, EngineSettings>;
  /** Of all that is fetched. */
  readonly memory?: ByteBudget | undefined;
  readonly nowMs: () => number;
}

/** @spec web-22 */
export function createEnginePages({ http, engines, memory, nowMs }: EnginePagesDeps): EnginePages {
  return {
    has: (engine) => engines.has(engine) && ENGINES[engine].page !== undefined,
    feeOf: (engine) => ENGINES[engine].page?.feeNanoUsd ?? 0,
    async read(id, url, charsMax, signal) {
      const engine = ENGINES[id];
      const known = engines.get(id);
      const { page } = engine;
      if (known === undefined || page === undefined)
        return { status: 'failed', reason: 'unavailable', message: `${id} is not set up on this gateway.` };
      const settings = await settingsNow(engine, known);
      if ('missing' in settings) return { status: 'failed', reason: 'unavailable', message: settings.missing };
      const call = page.call(url, charsMax, settings);
      const answer = await askEngine({ http, engine, settings, call, memory, signal });
      if (answer.status === 'failed') return answer;
      const found = isJsonObject(answer.body) ? page.read(answer.body) : undefined;
      if (found === undefined)
        return { status: 'failed', reason: 'unavailable', message: `${id} answered with something else.` };
      if ('reason' in found) return { status: 'failed', ...found };
      return {
        status: 'completed',
        ...found,
        content: truncateAtWord(found.content, charsMax),
        isCut: found.content.length > charsMax,
        retrievedAt: new Date(nowMs()).toISOString(),
        feeNanoUsd: page.feeNanoUsd,
      };
    },
  };
}
