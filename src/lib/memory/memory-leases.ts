/** Returns memory to a shared budget. */
export interface Closable {
  close(): void;
}

/** Memory that is held until a request is over. A lease that is added later is closed at once. */
export class MemoryLeases implements Closable {
  #held: Closable[] | undefined;
  #isOver = false;

  add(one: Closable): void {
    if (this.#isOver) one.close();
    else (this.#held ??= []).push(one);
  }

  close(): void {
    this.#isOver = true;
    for (const one of this.#held ?? []) one.close();
    this.#held = undefined;
  }
}
