import { OutputFolder } from '../../src/publication/output-folder.ts';

/** Thrown instead of a kill. */
export class Killed extends Error {}

/** An output folder whose writer is killed at a certain step. */
export class KilledFolder extends OutputFolder {
  left: number;
  constructor(root: string, left: number) {
    super(root);
    this.left = left;
  }
  #step(): void {
    if (this.left-- <= 0) throw new Killed();
  }
  override place(temporary: string, file: string): void {
    this.#step();
    super.place(temporary, file);
  }
  override async flush(): Promise<void> {
    this.#step();
    await super.flush();
  }
}
