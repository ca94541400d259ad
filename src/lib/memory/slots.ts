/**
 * Members, each in a slot of its own, in no order. For what comes and goes with each request, in place of a `Set` or `Map`:
 * one of these makes its table anew after so many changes, and V8 lets the old table point to the new one
 * (`OrderedHashTable::Rehash`). An old table that is in the old generation so keeps what the next ones held, requests that
 * ended long ago, alive until the next full collection, and each scavenge copies them.
 */
export class Slots<Member> implements Iterable<Member> {
  readonly #slots: (Member | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** @returns where it is, for `free` */
  add(member: Member): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#slots[slot] = member;
    return slot;
  }

  /** The member leaves its slot, which the next one takes: to be called once for each `add`. */
  free(slot: number): void {
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  *[Symbol.iterator](): Generator<Member> {
    for (const member of this.#slots) if (member !== undefined) yield member;
  }
}
