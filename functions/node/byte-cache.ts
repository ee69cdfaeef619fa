interface Slot<Value> {
  readonly value: Value;
  readonly weight: number;
  used: boolean;
}

/**
 * A map that drops the values that have not been used for longest when all of them together exceed a size. It uses the
 * second-chance algorithm: a value that was used since it was last examined moves to the end of the queue once. So
 * reading is as cheap as with a map.
 */
export class ByteCache<Value> {
  readonly #slots = new Map<string, Slot<Value>>();
  readonly #most: number;
  readonly #weigh: (value: Value) => number;
  #weight = 0;

  /** `most` and what `weigh` returns are in bytes. */
  constructor(most: number, weigh: (value: Value) => number) {
    this.#most = most;
    this.#weigh = weigh;
  }

  get(key: string): Value | undefined {
    const slot = this.#slots.get(key);
    if (slot === undefined) return undefined;
    slot.used = true;
    return slot.value;
  }

  set(key: string, value: Value): void {
    this.delete(key);
    const weight = this.#weigh(value);
    this.#slots.set(key, { value, weight, used: false });
    this.#weight += weight;
    for (const [oldest, slot] of this.#slots) {
      if (this.#weight <= this.#most) return;
      this.delete(oldest);
      if (slot.used) {
        this.#slots.set(oldest, { ...slot, used: false });
        this.#weight += slot.weight;
      }
    }
  }

  delete(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    this.#weight -= slot.weight;
    this.#slots.delete(key);
  }

  /** Drops expired values, from the oldest up to the first that is not expired. */
  sweep(isOver: (value: Value) => boolean): void {
    for (const [oldest, { value }] of this.#slots) {
      if (!isOver(value)) return;
      this.delete(oldest);
    }
  }

  clear(): void {
    this.#slots.clear();
    this.#weight = 0;
  }

  /** What its values weigh now, in bytes. */
  get weight(): number {
    return this.#weight;
  }
}
