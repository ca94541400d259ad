import type { KeyLimit, KeyLimits, LimitedKey } from '../accounts/limits/key-limits.ts';
import { usdFromNano } from '../lib/money.ts';
import type { KeyRow } from '../resources/keys.ts';
import { raise, type NewEvent } from './raise.ts';
import type { NotificationDeps } from './deps.ts';

/** Per cent of a limit at which it is reported, from the least. */
const PERCENTS = [80, 100] as const;
/** A balance must rise this far above the mark, in per cent of it, before it is reported again. */
const RISEN_PERCENT = 110;

/** What events say of a key. */
export type WatchedKey = LimitedKey & Pick<KeyRow, 'name' | 'label'>;

export interface MoneyWatchDeps extends Pick<NotificationDeps, 'outbox' | 'clock'> {
  readonly findKey: (hash: string) => Promise<WatchedKey | undefined>;
  readonly limits: KeyLimits;
  /** The name of a workspace; `undefined`: it is gone. */
  readonly workspaceName: (id: string) => Promise<string | undefined>;
  readonly creditsLowNanoUsd: number;
  /** Keys that spent something since yesterday: what is found at a start. */
  readonly spentLately: (limit: number) => Promise<readonly string[]>;
  /** Settles when what was spent before is counted. */
  readonly waitForRecords: () => Promise<void>;
}

/** Keys that are looked at in one turn. */
const KEYS_AT_ONCE_MAX = 200;
/** Keys that wait for a look; what is beyond is found by the next round over all. */
const KEYS_WAITING_MAX = 10_000;

/** Looks at the limits of keys that spent something, and reports each that is reached, once a window. */
export class MoneyWatch {
  readonly #deps: MoneyWatchDeps;
  readonly #waiting = new Set<string>();

  constructor(deps: MoneyWatchDeps) {
    this.#deps = deps;
  }

  /** A key was charged. */
  note(keyHash: string): void {
    if (this.#waiting.size < KEYS_WAITING_MAX) this.#waiting.add(keyHash);
  }

  /** Notes all keys that spent something lately: after a start, and now and then for what was lost. */
  async noteAll(): Promise<void> {
    for (const hash of await this.#deps.spentLately(KEYS_WAITING_MAX)) this.note(hash);
  }

  /** Looks at some of them. @returns whether there are more */
  async look(): Promise<boolean> {
    const hashes = [...this.#waiting].slice(0, KEYS_AT_ONCE_MAX);
    if (hashes.length === 0) return false;
    // What is charged from here on is noted again.
    for (const hash of hashes) this.#waiting.delete(hash);
    try {
      await this.#deps.waitForRecords();
      await this.#judge(hashes);
    } catch (error) {
      for (const hash of hashes) this.note(hash);
      throw error;
    }
    return this.#waiting.size > 0;
  }

  async #judge(hashes: readonly string[]): Promise<void> {
    const { findKey, limits, outbox } = this.#deps;
    const keys = (await Promise.all(hashes.map((hash) => findKey(hash)))).filter((key) => key !== undefined);
    const found = await limits.of(keys);
    const seen = new Set<string>();
    const events: NewEvent[] = [];
    for (const key of keys)
      for (const limit of found.get(key.hash) ?? []) {
        const name = markOf(limit, 0);
        if (seen.has(name)) continue;
        seen.add(name);
        if (limit.kind === 'account') await this.#judgeBalance(limit, events);
        else events.push(...(await this.#reached(limit, key)));
      }
    // Read first: a key beyond its limit costs no write with each of its requests.
    const stored = await outbox.marked(events.flatMap(({ mark }) => mark ?? []));
    await raise(
      this.#deps,
      events.filter(({ mark = '' }) => !stored.has(mark)),
    );
  }

  /** The highest that was reached; those below it count as reported with it. */
  async #reached(limit: KeyLimit, key: WatchedKey): Promise<readonly NewEvent[]> {
    const { limitNanoUsd, spentNanoUsd } = limit;
    if (limitNanoUsd <= 0) return [];
    const reached = PERCENTS.filter((percent) => spentNanoUsd >= (limitNanoUsd * percent) / 100);
    const highest = reached.at(-1);
    if (highest === undefined) return [];
    const about = await this.#about(limit, key);
    return reached.toReversed().map((percent) => ({
      ...about,
      severity: highest === 100 ? 'critical' : 'warning',
      title: `${about.title} has spent ${highest} % of its ${about.what}`,
      text: `${usd(spentNanoUsd)} of ${usd(limitNanoUsd)} USD are spent${resetText(limit)}`,
      facts: {
        ...about.facts,
        percent: highest,
        spent_usd: usdFromNano(spentNanoUsd),
        limit_usd: usdFromNano(limitNanoUsd),
        resets_at: limit.resetsAtMs === null ? null : new Date(limit.resetsAtMs).toISOString(),
      },
      mark: markOf(limit, percent),
      markUntilMs: limit.resetsAtMs,
      isSilent: percent !== highest,
    }));
  }

  async #about({ kind, subject, reset }: KeyLimit, key: WatchedKey) {
    const window = reset === null ? '' : `${reset} `;
    const [, id = ''] = subject.split(':');
    const { workspaceId } = key;
    if (kind === 'workspace') {
      const name = (await this.#deps.workspaceName(id)) ?? id;
      const title = `The workspace "${name}"`;
      const facts = { workspace_id: id, workspace: name };
      return {
        type: 'workspace.budget',
        subject,
        workspaceId: id,
        title,
        what: `${window}budget`,
        facts,
        link: `/ui/workspaces/${id}`,
      };
    }
    const owner =
      subject === `key:${key.hash}` ? key : subject.startsWith('key:') ? await this.#deps.findKey(id) : undefined;
    const title = owner === undefined ? `The member ${id}` : `The key "${owner.name}" (${owner.label})`;
    const facts =
      owner === undefined ? { member_id: id } : { key_hash: owner.hash, key: owner.name, label: owner.label };
    const link = owner === undefined ? '/ui/guardrails' : `/ui/keys/${owner.hash}`;
    const isGuardrail = kind === 'guardrail';
    const type = isGuardrail ? 'guardrail.budget' : 'key.limit';
    return {
      type,
      subject,
      workspaceId,
      title,
      what: isGuardrail ? `${window}guardrail budget` : `${window}limit`,
      facts,
      link,
    };
  }

  /** The balance of the account. A mark is gone once the balance has risen clearly above it. */
  async #judgeBalance({ leftNanoUsd, subject }: KeyLimit, events: NewEvent[]): Promise<void> {
    const { creditsLowNanoUsd: lowNanoUsd, outbox } = this.#deps;
    const marks = { low: `credits.low ${subject} ${lowNanoUsd}`, negative: `credits.negative ${subject}` };
    const base = { subject, link: '/ui/money', facts: { balance_usd: usdFromNano(leftNanoUsd) } };
    const text = `The balance is ${usd(leftNanoUsd)} USD.`;
    const risen = [
      ...(leftNanoUsd >= (lowNanoUsd * RISEN_PERCENT) / 100 ? [marks.low] : []),
      ...(leftNanoUsd > 0 ? [marks.negative] : []),
    ];
    if (risen.length > 0) await outbox.clearMarks([...(await outbox.marked(risen))]);
    if (leftNanoUsd <= 0)
      events.push({
        ...base,
        type: 'credits.negative',
        severity: 'critical',
        title: 'The credit of the account is used up',
        text: `${text} Requests are refused until credit is granted.`,
        mark: marks.negative,
      });
    if (leftNanoUsd < lowNanoUsd)
      events.push({
        ...base,
        type: 'credits.low',
        severity: 'warning',
        title: `The credit of the account is below ${usd(lowNanoUsd)} USD`,
        text: `${text} Requests are refused once it is used up.`,
        mark: marks.low,
        isSilent: leftNanoUsd <= 0,
      });
  }
}

/** A new window and another limit are marks of their own, so that both are reported again. */
function markOf({ kind, subject, reset, limitNanoUsd, resetsAtMs }: KeyLimit, percent: number): string {
  return `${kind} ${subject} ${reset ?? 'ever'} ${resetsAtMs ?? 0} ${limitNanoUsd} ${percent}`;
}

function usd(nanoUsd: number): string {
  const amount = usdFromNano(nanoUsd);
  return Math.abs(amount) >= 1 ? amount.toFixed(2) : String(Number(amount.toFixed(6)));
}

function resetText({ resetsAtMs }: KeyLimit): string {
  return resetsAtMs === null
    ? '.'
    : `; it starts anew on ${new Date(resetsAtMs).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
}
