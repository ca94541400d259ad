import type { EvaluatedModel } from '../resources/evaluations.ts';

/** What the model of reference says to an item. */
export interface ReferenceAnswer {
  /** Absent: it gave none that could be compared. */
  readonly text?: string;
  readonly error?: string;
  readonly costNanoUsd: number;
}

/** Of items that are under way side by side, and of those that are repeated. */
const KEPT_MAX = 64;

/**
 * Answers that others are compared with, one an item. Each is fetched when the first answer to the item is there, and kept
 * while others may want them: a run goes from item to item.
 */
export class ReferenceAnswers {
  readonly model: EvaluatedModel;
  readonly #kept = new Map<number, Promise<ReferenceAnswer>>();
  readonly #texts = new Map<number, string>();

  constructor(model: string) {
    this.model = { model };
  }

  /** `undefined`: it is not there, be it that it is under way, which may fail: a call for it may have to be paid. */
  textOf(item: number): string | undefined {
    return this.#texts.get(item);
  }

  /** @param ask is called for the first answer to the item, which bears its cost */
  async get(item: number, ask: () => Promise<ReferenceAnswer>): Promise<ReferenceAnswer & { readonly isOwn: boolean }> {
    const known = this.#kept.get(item);
    if (known !== undefined) return { ...(await known), isOwn: false };
    const asked = ask();
    this.#kept.set(item, asked);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break;
      this.#kept.delete(oldest);
      this.#texts.delete(oldest);
    }
    try {
      const answer = await asked;
      // What failed may succeed for the next one.
      if (answer.text === undefined) this.#kept.delete(item);
      else if (this.#kept.has(item)) this.#texts.set(item, answer.text);
      return { ...answer, isOwn: true };
    } catch (error) {
      this.#kept.delete(item);
      throw error;
    }
  }
}
